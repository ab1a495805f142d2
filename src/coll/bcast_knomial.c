/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast, k-nomial tree of radix 4.           Cost = rounds (a + n b)
 *
 * The parent of node v is v without its lowest digit to base 4; the largest subtrees are served
 * first, see tree.c. p = 10: 0->4 0->8 0->1 0->2 0->3, 4->5 4->6 4->7 8->9
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_tree_rounds_down(coll_child_knomial, q->procs, 0) *
           coll_message(l, coll_vector_bytes(q));
}

static void build(coll_build_t *b)
{
    coll_phase_tree(b, b->q->root, coll_child_knomial);
}

const xy_coll_algorithm_t coll_bcast_knomial = {
    .name = "knomial",
    .collectives = 1u << XY_COLL_BCAST,
    .formula = "rounds (a + n b), up to 3 log4(p) of them",
    .describe = "a flat tree: 3 children on each of log4(p) levels",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
