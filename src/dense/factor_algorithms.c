/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithms of LU and Cholesky: where the blocks are, and whether panels are factored ahead.
 *
 * columns: each rank has whole block columns, in turn. Its owner factors a panel alone, without a
 * message, and broadcasts it by a tree before any rank continues. The block row of Cholesky is the
 * transposed panel, without a message.
 *
 *   Cost = panels n^2 block / 2, one after the other + n/block lg p messages + n^2/2 lg p elements
 *          + 2/3 n^3 / p; Cholesky 1/3 n^3 / p
 *
 * grid: blocks on a grid of r rows and c columns. A panel is shared by r ranks, which find the
 * pivot of each column together; rows that change places are exchanged in the grid columns. With
 * Cholesky they need the diagonal block, and the transposed panel is broadcast in the grid columns,
 * r parts in each.
 *
 *   Cost = panels n^2 block / 2r + 2 n lg r messages for pivots + n/block (lg r + lg c + r)
 * messages
 *          + n^2/2 (lg c / r + lg r / c) elements + 2/3 n^3 / rc
 *   Cholesky: no pivots, n/block ((1 + r) lg r + lg c) messages, 1/3 n^3 / rc
 *
 * -ahead: the owner of the next panel, or its grid column, updates and factors it first, and panels
 * go from neighbour to neighbour while the others compute.
 *
 *   rank 0: P0 | U0        | P3 ...       Cost = as without, with most panels and messages hidden
 *   rank 1:     u0 P1 | U0 | ...          where updates take longer; the first panel needs p - 1
 *   rank 2:         u1 P2 | U1 ...        messages to the last rank
 */
#include "dense/factor.h"

#define RUN(name, kind, grid, ahead)                                                               \
    static int name(const dense_t *p)                                                              \
    {                                                                                              \
        return factor_run(p, &(kind), (factor_variant_t){.is_grid = (grid), .is_ahead = (ahead)}); \
    }

RUN(lu_columns, factor_lu, false, false)
RUN(lu_columns_ahead, factor_lu, false, true)
RUN(lu_grid, factor_lu, true, false)
RUN(lu_grid_ahead, factor_lu, true, true)
RUN(cholesky_columns, factor_cholesky, false, false)
RUN(cholesky_columns_ahead, factor_cholesky, false, true)
RUN(cholesky_grid, factor_cholesky, true, false)
RUN(cholesky_grid_ahead, factor_cholesky, true, true)

const dense_algorithm_t *const factor_lu_algorithms[] = {
    &(const dense_algorithm_t){.name = "columns", .least = 1, .run = lu_columns},
    &(const dense_algorithm_t){.name = "columns-ahead", .least = 1, .run = lu_columns_ahead},
    &(const dense_algorithm_t){.name = "grid", .least = 4, .run = lu_grid},
    &(const dense_algorithm_t){.name = "grid-ahead", .least = 4, .run = lu_grid_ahead},
};

const dense_algorithm_t *const factor_cholesky_algorithms[] = {
    &(const dense_algorithm_t){.name = "columns", .least = 1, .run = cholesky_columns},
    &(const dense_algorithm_t){.name = "columns-ahead", .least = 1, .run = cholesky_columns_ahead},
    &(const dense_algorithm_t){.name = "grid", .least = 4, .run = cholesky_grid},
    &(const dense_algorithm_t){.name = "grid-ahead", .least = 4, .run = cholesky_grid_ahead},
};
