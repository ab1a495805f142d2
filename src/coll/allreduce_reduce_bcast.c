/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduce as reduce and broadcast.             Cost = ceil(lg p) * (2 a + n (2 b + g))
 *
 * Up one binomial tree to rank 0 and down the same tree. p = 4:
 *   up: 1->0 3->2, 2->0     down: 0->2, 0->1 2->3
 *
 * Rarely the fastest, but a tree on both ways: split-tree can cut it.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q);

    if (q->procs == 1)
        return n * l->copy;
    return coll_log2_ceil(q->procs) * (coll_reduced(l, n) + coll_message(l, n));
}

static void build(coll_build_t *b)
{
    coll_phase_reduce(b, 0, coll_place(0, XY_BUFFER_RECEIVE, 0));
    coll_phase_bcast(b, 0);
}

const xy_coll_algorithm_t coll_allreduce_reduce_bcast = {
    .name = "reduce-bcast",
    .collectives = 1u << XY_COLL_ALLREDUCE,
    .formula = "ceil(lg p) (2a + n (2b + g))",
    .describe = "reduce up a binomial tree, broadcast down; can be split",
    .has_levels = true,
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};

/*
 * Allreduce as reduce and broadcast, by two trees.
 *                                                Cost = ceil(lg p) * (2 a + n (2 b + g))
 *
 * As `reduce-bcast`, but the way down is the binomial tree from the highest bit, see coll_tree.c. p
 * = 4: up: 1->0 3->2, 2->0     down: 0->1, 0->2 1->3
 */
static void build_high(coll_build_t *b)
{
    coll_phase_reduce(b, 0, coll_place(0, XY_BUFFER_RECEIVE, 0));
    coll_phase_tree(b, 0, coll_child_high, NULL);
}

const xy_coll_algorithm_t coll_allreduce_reduce_bcast_high = {
    .name = "reduce-bcast-high",
    .collectives = 1u << XY_COLL_ALLREDUCE,
    .formula = "ceil(lg p) (2a + n (2b + g))",
    .describe = "up the binomial tree of the lowest bit, down that of the highest",
    .is_foreign = true,
    .cost = cost,
    .build = build_high,
    .keeps_input = coll_always,
};
