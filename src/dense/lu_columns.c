/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LU, columns: each rank has whole block columns, in turn. Its owner factors a panel alone, without
 * a message, and broadcasts it by a tree, before any rank continues.
 *
 * Cost = panels n^2 block / 2, one after the other + n/block lg p messages + n^2/2 lg p elements
 *        + 2/3 n^3 / p
 */
#include "dense/factor.h"

static int run(const dense_t *p)
{
    return factor_run(p, &factor_lu, (factor_variant_t){.is_grid = false, .is_ahead = false});
}

const dense_algorithm_t dense_lu_columns = {.name = "columns", .least = 1, .run = run};
