/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce, binary tree.                           Cost = rounds (a + n (b + g))
 *
 * Up the binary tree of coll_tree.c, where rank (v + root) mod p is node v; a node takes the sum of
 * its nearer child first. p = 6: 3->1 5->1 4->2, 1->0 2->0
 *
 * Sums are not of consecutive ranks: the operation must commute.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_tree_up(q, l, coll_child_binary, false);
}

static void build(coll_build_t *b)
{
    coll_phase_tree_up(b, coll_child_binary, NULL, false);
}

const xy_coll_algorithm_t coll_reduce_binary = {
    .name = "binary",
    .collectives = 1u << XY_COLL_REDUCE,
    .formula = "rounds (a + n (b + g)), about 2 lg p of them",
    .describe = "a tree of two children to a node",
    .needs = "an operation that commutes",
    .is_foreign = true,
    .applicable = coll_commutes,
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
