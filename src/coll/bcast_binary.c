/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast, binary tree.                        Cost = rounds (a + n b)
 *
 * Every node has two children, see coll_tree.c; rank (v + root) mod p is node v. p = 6:
 *   0->1 0->2, 1->3 1->5 2->4
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_tree(q, l, coll_child_binary);
}

static void build(coll_build_t *b)
{
    coll_phase_tree(b, b->q->root, coll_child_binary, NULL);
}

const xy_coll_algorithm_t coll_bcast_binary = {
    .name = "binary",
    .collectives = 1u << XY_COLL_BCAST,
    .formula = "rounds (a + n b), about 2 lg p of them",
    .describe = "a tree of two children to a node",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
