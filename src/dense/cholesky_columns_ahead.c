/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cholesky, columns-ahead: whole block columns; the owner of the next panel updates and factors it
 * first, and panels go from neighbour to neighbour while the others compute.
 *
 * Cost = as columns, with most panels and messages hidden where updates take longer; the first
 * panel needs p - 1 messages to the last rank
 */
#include "dense/factor.h"

static int run(const dense_t *p)
{
    return factor_run(p, &factor_cholesky, (factor_variant_t){.is_grid = false, .is_ahead = true});
}

const dense_algorithm_t dense_cholesky_columns_ahead = {
    .name = "columns-ahead", .least = 1, .run = run};
