/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cholesky, grid: blocks on a grid of r rows and c columns. A panel is shared by r ranks, which
 * need its diagonal block; the transposed panel is broadcast in the grid columns, r parts in each.
 *
 * Cost = panels n^2 block / 2r + n/block ((1 + r) lg r + lg c) messages
 *        + n^2/2 (lg c / r + lg r / c) elements + 1/3 n^3 / rc
 */
#include "dense/factor.h"

static int run(const dense_t *p)
{
    return factor_run(p, &factor_cholesky, (factor_variant_t){.is_grid = true, .is_ahead = false});
}

const dense_algorithm_t dense_cholesky_grid = {.name = "grid", .least = 4, .run = run};
