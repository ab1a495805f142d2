/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce, binomial tree.                         Cost = ceil(lg p) * (a + n (b + g))
 *
 * Ranks are rotated so that the root is node 0; node v adds its children's sums to its own and is
 * read by v without its lowest bit. p = 6:
 *   level 1: 1->0 3->2 5->4     level 2: 2->0     level 3: 4->0
 *
 * A node's sum is that of consecutive nodes. When the operation does not commute, ranks are not
 * rotated: rank 0 gets the result and passes it to the root, for a + n b more.
 */
#include "coll/build.h"

static bool is_detour(const xy_coll_request_t *q)
{
    return !q->is_commutative && q->root != 0;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q);

    if (q->procs == 1)
        return n * l->copy;
    return coll_log2_ceil(q->procs) * coll_reduced(l, n) +
           (is_detour(q) ? coll_message(l, n) : 0.0);
}

static void build(coll_build_t *b)
{
    int root = b->q->root;
    xy_spot_t result = coll_place(root, XY_BUFFER_RECEIVE, 0);
    xy_spot_t detour = coll_place(0, COLL_TEMPORARY, 0);

    if (!is_detour(b->q)) {
        coll_phase_reduce(b, root, result);
        return;
    }
    coll_phase_reduce(b, 0, detour);
    coll_move(b, detour, result, b->bytes, coll_log2_ceil(b->p) + 1);
}

const xy_coll_algorithm_t coll_reduce_binomial = {
    .name = "binomial",
    .collectives = 1u << XY_COLL_REDUCE,
    .formula = "ceil(lg p) (a + n (b + g))",
    .describe = "one tree, log2(p) rounds; best for short messages",
    .has_levels = true,
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
