/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LU, grid: blocks on a grid of r rows and c columns. A panel is shared by r ranks, which find the
 * pivot of each column together; rows that change places are exchanged in the grid columns.
 *
 * Cost = panels n^2 block / 2r + 2 n lg r messages for pivots + n/block (lg r + lg c + r) messages
 *        + n^2/2 (lg c / r + lg r / c) elements + 2/3 n^3 / rc
 */
#include "dense/factor.h"

static int run(const dense_t *p)
{
    return factor_run(p, &factor_lu, (factor_variant_t){.is_grid = true, .is_ahead = false});
}

const dense_algorithm_t dense_lu_grid = {.name = "grid", .least = 4, .run = run};
