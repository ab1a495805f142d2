/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce, k-nomial tree.                         Cost = rounds (a + n (b + g))
 *
 * Up the tree of bcast_knomial.c; a node takes the sums of small subtrees first. p = 10, radix 4:
 *   3->0 2->0 1->0 7->4 6->4 5->4 9->8, 8->0 4->0
 *
 * Of those of one level the last comes first: the operation must commute.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_tree_up(q, l, coll_child_knomial, true);
}

static void build(coll_build_t *b)
{
    coll_phase_tree_up(b, coll_child_knomial, coll_level_knomial, true);
}

const xy_coll_algorithm_t coll_reduce_knomial = {
    .name = "knomial",
    .collectives = 1u << XY_COLL_REDUCE,
    .formula = "rounds (a + n (b + g)), up to (m-1) logm(p) of them; m = 4",
    .describe = "a flat tree: m - 1 children on each of logm(p) levels",
    .needs = "an operation that commutes",
    .has_levels = true,
    .is_foreign = true,
    .applicable = coll_commutes,
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
