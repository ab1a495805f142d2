/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce, in-order binary tree.                  Cost = rounds (a + n (b + g)), a + n b more unless
 *                                                the root is the last rank
 *
 * The top of a range of s ranks is its last; below it are the tops of the first s/2 ranks and of
 * those in between. So a top adds up consecutive ranks, in order: first those next to it, then, on
 * the left, the others. The last rank has the result and passes it to the root. p = 4, root 0:
 *   2->3, 0->1, 1->3, 3->0
 */
#include "coll/build.h"

/* Rounds until the top of `ranks` ranks has their sum. */
static int rounds_of(int ranks)
{
    int far = ranks / 2, near = ranks - far - 1, t, ready;

    if (ranks <= 1)
        return 0;
    t = near > 0 ? rounds_of(near) + 1 : 0;
    ready = rounds_of(far);
    return (ready > t ? ready : t) + 1;
}

static bool is_detour(const xy_coll_request_t *q)
{
    return q->root != q->procs - 1;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q);

    if (q->procs == 1)
        return n * l->copy;
    return rounds_of(q->procs) * coll_reduced(l, n) + (is_detour(q) ? coll_message(l, n) : 0.0);
}

static xy_spot_t place_of(const coll_build_t *b, int rank)
{
    return coll_place(
        rank, rank == b->q->root && !is_detour(b->q) ? XY_BUFFER_RECEIVE : COLL_TEMPORARY, 0);
}

/* The sum of the ranks [first, first + ranks) at their top; where it is. */
static xy_spot_t add_up(coll_build_t *b, int first, int ranks)
{
    int top = first + ranks - 1, far = ranks / 2;
    xy_spot_t own = coll_input(b, top), sum = place_of(b, top);

    if (ranks > 2) {
        coll_combine(b, add_up(b, first + far, ranks - far - 1), own, sum, b->bytes, true, 0);
        own = sum;
    }
    if (ranks == 1)
        return own;
    coll_combine(b, add_up(b, first, far), own, sum, b->bytes, true, 0);
    return sum;
}

static void build(coll_build_t *b)
{
    xy_spot_t sum = add_up(b, 0, b->p);

    coll_move(b, sum, coll_place(b->q->root, XY_BUFFER_RECEIVE, 0), b->bytes, 0);
}

const xy_coll_algorithm_t coll_reduce_in_order_binary = {
    .name = "in-order-binary",
    .collectives = 1u << XY_COLL_REDUCE,
    .formula = "rounds (a + n (b + g)), about 2 lg p of them; root not p-1: + a + n b",
    .describe = "a tree of two children to a node that keeps the order of ranks",
    .is_foreign = true,
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
