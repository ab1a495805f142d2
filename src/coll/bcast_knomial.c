/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast, k-nomial tree.                      Cost = rounds (a + n b)
 *
 * The parent of node v is v without its lowest digit to base 4 (or another radix of the request);
 * the largest subtrees are served first, see coll_tree.c. p = 10: 0->4 0->8 0->1 0->2 0->3, 4->5
 * 4->6 4->7 8->9
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_tree(q, l, coll_child_knomial);
}

static void build(coll_build_t *b)
{
    coll_phase_tree(b, b->q->root, coll_child_knomial, coll_level_knomial);
}

const xy_coll_algorithm_t coll_bcast_knomial = {
    .name = "knomial",
    .collectives = 1u << XY_COLL_BCAST,
    .formula = "rounds (a + n b), up to (m-1) logm(p) of them; m = 4",
    .describe = "a flat tree: m - 1 children on each of logm(p) levels",
    .has_levels = true,
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
