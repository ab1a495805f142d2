/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduce, ring.                               Cost = 2 (p-1) a + (p-1)/p n (2 b + g)
 *
 * The vector is cut into p parts. Part i starts at rank i and goes once around the ring, each rank
 * adding its own; then the results go around a second time. p = 3:
 *   add:   0-A->1 1-B->2 2-C->0    1-A->2 2-B->0 0-C->1     (now 2 has A, 0 has B, 1 has C)
 *   share: 2-A->0 0-B->1 1-C->2    0-A->1 1-B->2 2-C->0
 *
 * Each rank begins with another rank's part: the operation must commute.
 */
#include "coll/build.h"

static bool applicable(const xy_coll_request_t *q)
{
    return q->is_commutative && q->count >= (uint64_t)q->procs;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q);
    int p = q->procs;

    if (p == 1)
        return n * l->copy;
    return (p - 1) * (coll_reduced(l, n / p) + coll_message(l, n / p));
}

/* Add both turns around the ring to the graph: p - 1 rounds of additions and p - 1 of copies. */
static void build(coll_build_t *b)
{
    int p = b->p;

    if (p == 1)
        coll_move(b, coll_input(b, 0), coll_place(0, XY_BUFFER_RECEIVE, 0), b->bytes, 0);
    for (int round = 0; round < 2 * (p - 1); round++)
        for (int r = 0; r < p; r++) {
            int left = (r + p - 1) % p, part = (left + 2 * p - round) % p;
            uint64_t begin = coll_part_begin(b->q, p, part);
            uint64_t bytes = coll_part_begin(b->q, p, part + 1) - begin;
            xy_spot_t from = coll_place(left, XY_BUFFER_RECEIVE, begin);
            xy_spot_t to = coll_place(r, XY_BUFFER_RECEIVE, begin);

            if (round == 0)
                from = coll_shift(coll_input(b, left), begin);
            if (round < p - 1)
                coll_combine(b, from, coll_shift(coll_input(b, r), begin), to, bytes, true, 0);
            else
                coll_move(b, from, to, bytes, 0);
        }
}

const xy_coll_algorithm_t coll_allreduce_ring = {
    .name = "ring",
    .collectives = 1u << XY_COLL_ALLREDUCE,
    .formula = "2 (p-1) a + (p-1)/p n (2b + g)",
    .describe = "reduce-scatter in a ring, then allgather in a ring; long vectors, any p",
    .needs = "an operation that commutes and at least one element per rank",
    .applicable = applicable,
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
