/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce, pipelined chain.                       Cost = (p - 2 + k) (a + n/k (b + g))
 *
 * Node v + 1 hands its sum to node v, in k pieces, where rank (v + root) mod p is node v. A request
 * gives the size of a piece; else the vector is not cut. p = 3: 2->1, 1->0
 *
 * Sums are of consecutive nodes: unless the root is rank 0 the operation must commute.
 */
#include "coll/build.h"

static bool applicable(const xy_coll_request_t *q)
{
    return q->is_commutative || q->root == 0;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    uint64_t piece = coll_piece(q, q->count) / q->element;
    uint64_t pieces = (q->count + piece - 1) / piece;
    double last;

    if (q->procs == 1 || pieces == 0)
        return coll_vector_bytes(q) * l->copy;
    last = coll_reduced(l, (double)((q->count - (pieces - 1) * piece) * q->element));
    if (pieces == 1)
        return (q->procs - 1) * last;
    return (q->procs - 3.0 + (double)pieces) * coll_reduced(l, (double)(piece * q->element)) + last;
}

static xy_spot_t sum(const coll_build_t *b, int v, uint64_t at)
{
    int root = b->q->root, rank = (v + root) % b->p;

    if (v == b->p - 1)
        return coll_shift(coll_input(b, rank), at);
    return coll_place(rank, v == 0 ? XY_BUFFER_RECEIVE : COLL_TEMPORARY, at);
}

static void build(coll_build_t *b)
{
    uint64_t piece = coll_piece(b->q, b->q->count);

    if (b->p == 1)
        coll_move(b, coll_input(b, 0), coll_place(0, XY_BUFFER_RECEIVE, 0), b->bytes, 0);
    for (uint64_t at = 0; at < b->bytes; at += piece)
        for (int v = b->p - 2; v >= 0; v--)
            coll_combine(b, sum(b, v + 1, at),
                         coll_shift(coll_input(b, (v + b->q->root) % b->p), at), sum(b, v, at),
                         b->bytes - at < piece ? b->bytes - at : piece, false, 0);
}

const xy_coll_algorithm_t coll_reduce_chain = {
    .name = "chain",
    .collectives = 1u << XY_COLL_REDUCE,
    .formula = "(p - 2 + k) (a + n/k (b + g)), k pieces of the segment, else 1",
    .describe = "from rank to rank; a pipeline when it is given a segment",
    .needs = "an operation that commutes, or rank 0 as the root",
    .is_foreign = true,
    .applicable = applicable,
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
