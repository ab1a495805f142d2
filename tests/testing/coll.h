/* SPDX-License-Identifier: BSD-3-Clause */
/* For the unit tests of this component: the numbers of ranks that are tried. */
#ifndef XY_TESTING_COLL_H
#define XY_TESTING_COLL_H

#include <stdio.h>
#include <stdlib.h>

#include "coll/coll.h"
#include "testing/base.h"

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
