/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP. The scan reads a program as one thread runs it: the work of a team of threads in a
 * parallel region is costed as that of one. A warning is printed once.
 */
#include <ctype.h>
#include <string.h>

#include "program/scan_internal.h"

enum { SOURCE_MAX = 1 << 26 };

/* The next word behind spaces: is it this one? Then *s_p is behind it. */
static bool skip_word(const char **s_p, const char *word)
{
    const char *s = *s_p + strspn(*s_p, " \t");
    size_t length = strlen(word);

    if (strncmp(s, word, length) != 0 ||
        (isalpha((unsigned char)word[0]) && isalnum((unsigned char)s[length])))
        return false;
    *s_p = s + length;
    return true;
}

/* Does the line let several threads run what follows? */
static bool is_parallel(const char *line)
{
    static const char *const words[] = {"parallel", "target", "teams"};
    size_t length = strcspn(line, "\n");

    if (!skip_word(&line, "#") || !skip_word(&line, "pragma") || !skip_word(&line, "omp"))
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const char *found = strstr(line, words[i]);

        if (found != NULL && (size_t)(found - line) < length)
            return true;
    }
    return false;
}

/* How many such lines the text has; the number of the first. */
static int count_regions(const char *text, long *first_p)
{
    int count = 0;
    long number = 1;

    for (const char *line = text; line != NULL; number++) {
        if (is_parallel(line) && count++ == 0)
            *first_p = number;
        line = strchr(line, '\n');
        if (line != NULL)
            line++;
    }
    return count;
}

void scan_openmp_find(xy_scan_t *scan)
{
    for (size_t i = 0; i < scan->files.count; i++) {
        const scan_file_t *f = &XY_VEC_AT(&scan->files, scan_file_t, i);
        char *text = NULL;
        long first = 0;
        xy_status_t st;
        int count;

        if (f->is_system)
            continue;
        st = xy_file_read_text(f->path, SOURCE_MAX, &text);
        if (st != XY_OK)
            scan_leave(scan, st);
        count = count_regions(text, &first);
        xy_free(text);
        if (count > 0)
            xy_warn("%s:%ld: OpenMP: the loops of %s are costed as if one thread ran them; give a "
                    "loop the time of the team with --cost FILE:LINE=TIME",
                    f->path, first, count > 1 ? "parallel regions" : "a parallel region");
    }
}
