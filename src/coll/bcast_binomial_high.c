/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast, binomial tree from the highest bit. Cost = ceil(lg p) (a + n b)
 *
 * The parent of node v is v without its highest bit, and near children come first, so that the
 * first messages go to near ranks; `binomial` has the same shape with the lowest bit. p = 6:
 *   round 1: 0->1     round 2: 0->2 1->3     round 3: 0->4 1->5
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_tree(q, l, coll_child_high);
}

static void build(coll_build_t *b)
{
    coll_phase_tree(b, b->q->root, coll_child_high, NULL);
}

const xy_coll_algorithm_t coll_bcast_binomial_high = {
    .name = "binomial-high",
    .collectives = 1u << XY_COLL_BCAST,
    .formula = "ceil(lg p) (a + n b)",
    .describe = "the binomial tree whose first messages go to the nearest ranks",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
