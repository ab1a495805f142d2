/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of --check=LIST. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mpi/check/check.h"

mpi_checks_t mpi_checks;

/* A class of checks: all of them, unless some are named. Or what changes how they are made. */
typedef struct {
    const char *name;
    size_t offset; /* of a bool in mpi_checks_t */
    bool is_class;
} word_t;

static const word_t words[] = {{"leaks", offsetof(mpi_checks_t, leaks), true},
                               {"sends", offsetof(mpi_checks_t, sends), true},
                               {"buffers", offsetof(mpi_checks_t, buffers), true},
                               {"wildcards", offsetof(mpi_checks_t, wildcards), true},
                               {"windows", offsetof(mpi_checks_t, windows), true},
                               {"errors", offsetof(mpi_checks_t, errors), true},
                               {"shuffle", offsetof(mpi_checks_t, shuffles), false},
                               {"go-on", offsetof(mpi_checks_t, goes_on), false},
                               {"strict", offsetof(mpi_checks_t, is_strict), false}};
enum { WORDS = sizeof(words) / sizeof(words[0]) };

static void set_classes(mpi_checks_t *checks, bool is_set)
{
    for (int i = 0; i < WORDS; i++)
        if (words[i].is_class)
            *(bool *)((char *)checks + words[i].offset) = is_set;
}

static const word_t *find_word(const char *name, size_t length)
{
    for (int i = 0; i < WORDS; i++)
        if (strlen(words[i].name) == length && strncmp(words[i].name, name, length) == 0)
            return &words[i];
    return NULL;
}

static void refuse(const char *name, int length, char *why)
{
    int used = snprintf(why, XMPI_CHECK_WHY, "there is no '%.*s'; there are", length, name);

    for (int i = 0; i < WORDS && used < XMPI_CHECK_WHY; i++)
        used += snprintf(why + used, (size_t)(XMPI_CHECK_WHY - used), "%s %s", i > 0 ? "," : "",
                         words[i].name);
}

/* "shuffle:SEED". False: it is not a number. */
static bool parse_seed(const char *text, size_t length, mpi_checks_t *checks)
{
    char digits[32];
    long seed;

    snprintf(digits, sizeof(digits), "%.*s", (int)length, text);
    if (length >= sizeof(digits) || !xy_parse_long(digits, &seed) || seed < 0)
        return false;
    checks->seed = (uint64_t)seed;
    checks->has_seed = true;
    return true;
}

bool mpi_checks_parse(const char *list, mpi_checks_t *checks, char why[XMPI_CHECK_WHY])
{
    bool names_some = false;

    *checks = (mpi_checks_t){.is_on = true, .seed = (uint64_t)getpid()};
    set_classes(checks, true);
    while (*list != '\0') {
        size_t length = strcspn(list, ","), name = strcspn(list, ",:");
        const word_t *word = find_word(list, name);

        if (word != NULL && name < length &&
            (word->offset != offsetof(mpi_checks_t, shuffles) ||
             !parse_seed(list + name + 1, length - name - 1, checks)))
            word = NULL;
        if (word == NULL) {
            refuse(list, length < 64 ? (int)length : 64, why);
            return false;
        }
        if (word->is_class && !names_some)
            set_classes(checks, false);
        names_some |= word->is_class;
        *(bool *)((char *)checks + word->offset) = true;
        list += length;
        list += *list == ',';
    }
    return true;
}
