/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Earlier answers of simulations: lines "KEY SECONDS ERROR WHERE". The key is a hash of all that an
 * answer depends on: the words of the command, the contents of files among them, and the salt. What
 * has changed has another key; the file begins anew when it has grown.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapt/adapt_internal.h"

enum { GROWN = 1 << 20, FILE_MAX = 256 << 20 };

/* FNV-1a, mixed at the end. */
static uint64_t add(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t add_file(uint64_t hash, const char *path)
{
    struct stat s;
    char *data;
    size_t size;

    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode) || s.st_size > FILE_MAX ||
        access(path, R_OK) != 0 || xy_file_read(path, FILE_MAX, &data, &size) != XY_OK)
        return hash;
    hash = add(hash, data, size);
    xy_free(data);
    return hash;
}

/* "--costs=FILE" names a file, too. */
static uint64_t add_word(uint64_t hash, const char *word)
{
    const char *equal = word[0] == '-' ? strchr(word, '=') : NULL;

    hash = add(hash, word, strlen(word) + 1);
    return add_file(hash, equal != NULL ? equal + 1 : word);
}

uint64_t adapt_cache_key(const char *salt, const char *verb, int argc, char **argv)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    hash = add(hash, salt, strlen(salt) + 1);
    hash = add(hash, verb, strlen(verb) + 1);
    for (int i = 0; i < argc; i++)
        hash = add_word(hash, argv[i]);
    return xy_hash_u64(hash);
}

/* Reads a stored simulation "SECONDS ERROR WHERE"; returns false if it is malformed. */
static bool parse(const char *line, xy_simulated_t *s)
{
    char *end;

    s->seconds = strtod(line, &end);
    if (end == line || *end != ' ')
        return false;
    line = end + 1;
    s->error = strtod(line, &end);
    if (end == line || *end != ' ' || !(s->seconds > 0) || isinf(s->seconds) || !isfinite(s->error))
        return false;
    snprintf(s->where, sizeof(s->where), "%.*s", (int)strcspn(end + 1, "\n"), end + 1);
    return true;
}

bool adapt_cache_find(const char *path, uint64_t key, xy_simulated_t *simulated_p)
{
    char line[XY_ADAPT_WHERE + 128], want[32];
    FILE *file = fopen(path, "re");
    bool is_found = false;
    xy_simulated_t s;

    if (file == NULL)
        return false;
    snprintf(want, sizeof(want), "%016" PRIx64 " ", key);
    flock(fileno(file), LOCK_SH);
    while (fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, want, 17) == 0 && strchr(line, '\n') != NULL && parse(line + 17, &s)) {
            *simulated_p = s;
            is_found = true;
        }
    fclose(file);
    return is_found;
}

void adapt_cache_add(const char *path, uint64_t key, const xy_simulated_t *s)
{
    char a[32], b[32];
    struct stat st;
    int file;
    char *line = xy_sprintf("%016" PRIx64 " %s %s %s\n", key, xy_format_double(s->seconds, a),
                            xy_format_double(s->error, b), s->where);

    if (line == NULL)
        return;
    file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0) {
        flock(file, LOCK_EX);
        if (fstat(file, &st) == 0 && (st.st_size < GROWN || ftruncate(file, 0) == 0) &&
            write(file, line, strlen(line)) < 0)
            (void)0; /* not kept */
        close(file);
    }
    xy_free(line);
}
