/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce, binary tree.                           Cost = rounds (a + n (b + g))
 *
 * Up the binary tree of tree.c, where rank (v + root) mod p is node v; a node takes the sum of its
 * nearer child first. p = 6: 3->1 5->1 4->2, 1->0 2->0
 *
 * Sums are not of consecutive ranks: the operation must commute.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q);

    if (q->procs == 1)
        return n * l->copy;
    return coll_tree_rounds_up(coll_child_binary, q->procs, 0) * coll_reduced(l, n);
}

/* What node v has when it has heard of `children` of its children. */
static xy_spot_t sum(const coll_build_t *b, int v, int children)
{
    int rank = (v + b->q->root) % b->p;

    if (children == 0)
        return coll_input(b, rank);
    return coll_place(rank, v == 0 ? XY_BUFFER_RECEIVE : COLL_TEMPORARY, 0);
}

static void build(coll_build_t *b)
{
    if (b->p == 1)
        coll_move(b, coll_input(b, 0), coll_place(0, XY_BUFFER_RECEIVE, 0), b->bytes, 0);
    for (int v = b->p - 1; v >= 0; v--)
        for (int i = 0, c; (c = coll_child_binary(b->p, v, i)) >= 0; i++)
            coll_combine(b, sum(b, c, coll_child_binary(b->p, c, 0) >= 0), sum(b, v, i),
                         sum(b, v, i + 1), b->bytes, false, 0);
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
