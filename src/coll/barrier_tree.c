/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barrier, tree.                                 Cost = 2 ceil(lg p) a
 *
 * Up the binomial tree to rank 0 and down again, see phase.c. p = 4: 1->0 3->2, 2->0; 0->2, 0->1
 * 2->3
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return 2 * coll_log2_ceil(q->procs) * l->alpha;
}

static void build(coll_build_t *b)
{
    int step = 1;

    for (; step < b->p; step *= 2)
        for (int v = step; v < b->p; v += 2 * step)
            coll_tell_next(b, v, v - step);
    for (step /= 2; step >= 1; step /= 2)
        for (int v = step; v < b->p; v += 2 * step)
            coll_tell_next(b, v - step, v);
}

const xy_coll_algorithm_t coll_barrier_tree = {
    .name = "tree",
    .collectives = 1u << XY_COLL_BARRIER,
    .formula = "2 ceil(lg p) a",
    .describe = "up a binomial tree and down again",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
