/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barrier, linear.                               Cost = 2 (p-1) a
 *
 * All ranks signal rank 0, which then signals all. p = 3: 1->0 2->0, 0->1 0->2
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return 2 * (q->procs - 1) * l->alpha;
}

static void build(coll_build_t *b)
{
    for (int r = 1; r < b->p; r++)
        coll_tell_next(b, r, 0);
    for (int r = 1; r < b->p; r++)
        coll_tell_next(b, 0, r);
}

const xy_coll_algorithm_t coll_barrier_linear = {
    .name = "linear",
    .collectives = 1u << XY_COLL_BARRIER,
    .formula = "2 (p-1) a",
    .describe = "all signal rank 0, rank 0 signals all",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
