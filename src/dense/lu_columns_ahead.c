/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LU, columns-ahead: whole block columns; the owner of the next panel updates and factors it first,
 * and panels go from neighbour to neighbour while the others compute.
 *
 *   rank 0: P0 | U0        | P3 ...       Cost = as columns, with most panels and messages hidden
 *   rank 1:     u0 P1 | U0 | ...          where updates take longer; the first panel needs p - 1
 *   rank 2:         u1 P2 | U1 ...        messages to the last rank
 */
#include "dense/factor.h"

static int run(const dense_t *p)
{
    return factor_run(p, &factor_lu, (factor_variant_t){.is_grid = false, .is_ahead = true});
}

const dense_algorithm_t dense_lu_columns_ahead = {.name = "columns-ahead", .least = 1, .run = run};
