/* SPDX-License-Identifier: BSD-3-Clause */
/* For unit tests of this room only: what was said, tables of numbers from tests/data/cost, noise,
 * skipping. */
#ifndef XY_COST_TESTING_H
#define XY_COST_TESTING_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cost/lapack.h"

#ifndef XYLEM_SOURCE_DIR
#define XYLEM_SOURCE_DIR "." /* the build says where it is */
#endif

enum { TESTING_ROWS = 32, TESTING_COLUMNS = 10 };

typedef struct {
    size_t rows, columns;
    char word[TESTING_ROWS][32]; /* what stands in front where it is no number */
    double at[TESTING_ROWS][TESTING_COLUMNS];
} testing_table_t;

static char testing_said[4096];
static int testing_said_count;

static inline void testing_on_message(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status;
    snprintf(testing_said, sizeof(testing_said), "%s", message);
    testing_said_count++;
}

/* Messages go to testing_said from now on; forget earlier ones. */
static inline void testing_listen(void)
{
    testing_said[0] = '\0';
    testing_said_count = 0;
    xy_error_handler_set(testing_on_message, NULL);
}

/* The next of a repeatable series (xorshift64*); *state must not be 0. */
static inline uint64_t testing_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Comments and the line of column names are skipped. */
static inline testing_table_t testing_read_table(const char *name)
{
    testing_table_t table = {0};
    char path[512], line[512];
    FILE *file;
    int skip = 1;

    snprintf(path, sizeof(path), "%s/tests/data/cost/%s", XYLEM_SOURCE_DIR, name);
    file = fopen(path, "r");
    if (file == NULL) {
        fprintf(stderr, "no %s\n", path);
        exit(1);
    }
    while (fgets(line, sizeof(line), file) != NULL && table.rows < TESTING_ROWS) {
        size_t column = 0;

        if (line[0] == '#' || skip-- > 0)
            continue;
        for (char *p = strtok(line, ",\n"); p != NULL && column < TESTING_COLUMNS;
             p = strtok(NULL, ",\n"), column++) {
            if (column == 0)
                snprintf(table.word[table.rows], sizeof(table.word[0]), "%.31s", p);
            table.at[table.rows][column] = strtod(p, NULL);
        }
        table.columns = column;
        table.rows++;
    }
    fclose(file);
    return table;
}

/* Uniform in [-1, 1]. */
static inline double testing_noise(uint64_t *state)
{
    return (double)(testing_random(state) >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static inline bool testing_has_lapacke(void)
{
    testing_listen();
    return cost_lapack_load() == XY_OK;
}

#endif
