/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LU, grid-ahead: a grid as that of grid; the grid column of the next panel updates and factors it
 * first, and panels go from neighbour to neighbour in the rows of the grid.
 *
 * Cost = as grid, with panels and their messages hidden where updates take longer
 */
#include "dense/factor.h"

static int run(const dense_t *p)
{
    return factor_run(p, &factor_lu, (factor_variant_t){.is_grid = true, .is_ahead = true});
}

const dense_algorithm_t dense_lu_grid_ahead = {.name = "grid-ahead", .least = 4, .run = run};
