/* SPDX-License-Identifier: BSD-3-Clause */
/* For the unit tests of this component: tables of numbers from tests/data/cost, noise, skipping. */
#ifndef XY_TESTING_COST_H
#define XY_TESTING_COST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cost/lapack.h"
#include "testing/base.h"

#ifndef XYLEM_SOURCE_DIR
#define XYLEM_SOURCE_DIR "." /* the build says where it is */
#endif

enum { TESTING_ROWS = 32, TESTING_COLUMNS = 10 };

typedef struct {
    size_t rows, columns;
    char word[TESTING_ROWS][32]; /* the word in front where it is no number */
    double at[TESTING_ROWS][TESTING_COLUMNS];
} testing_table_t;

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
    return xy_random_unit(state);
}

static inline bool testing_has_lapacke(void)
{
    testing_listen();
    return cost_lapack_load() == XY_OK;
}

#endif
