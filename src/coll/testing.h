/* SPDX-License-Identifier: BSD-3-Clause */
/* For unit tests only: what was said, and the numbers of ranks that are tried. */
#ifndef XY_COLL_TESTING_H
#define XY_COLL_TESTING_H

#include <stdio.h>
#include <stdlib.h>

#include "coll/coll.h"

static char testing_said[1024];
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

/* 1 .. 33, 64, 100; 0 at the end. */
static inline int testing_procs(int i)
{
    return i < 33 ? i + 1 : i == 33 ? 64 : i == 34 ? 100 : 0;
}

/* The rows of a matrix of procs x procs at `cells`; the caller frees. */
static inline const uint64_t **testing_rows(const uint64_t *cells, int procs)
{
    const uint64_t **rows = calloc((size_t)procs, sizeof(*rows));

    for (int i = 0; i < procs; i++)
        rows[i] = cells + (size_t)i * (size_t)procs;
    return rows;
}

#endif
