/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgather, ring.                               Cost = n c + (p-1) (a + n b)
 *
 * Each rank hands on to its right neighbour the block that it got last. p = 3:
 *   round 0: 0-A->1 1-B->2 2-C->0     round 1: 0-C->1 1-A->2 2-B->0
 *
 * A request may give the size of a piece: a block then comes in several messages.
 */
#include "coll/build.h"

/* Messages of a block. */
static uint64_t pieces_of(const xy_coll_request_t *q, uint64_t bytes)
{
    uint64_t piece = q->segment == 0 || q->segment == XY_COLL_WHOLE ? bytes : q->segment;

    return piece > 0 ? (bytes + piece - 1) / piece : 1;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double most = coll_cost_largest(q), pieces = (double)pieces_of(q, (uint64_t)most);

    return most * l->copy + (q->procs - 1) * (pieces * l->alpha + most * l->beta);
}

static void pass(coll_build_t *b, xy_spot_t from, xy_spot_t to, uint64_t bytes)
{
    uint64_t pieces = pieces_of(b->q, bytes), piece = pieces > 1 ? b->q->segment : bytes;

    for (uint64_t at = 0; at < bytes; at += piece)
        coll_move(b, coll_shift(from, at), coll_shift(to, at),
                  bytes - at < piece ? bytes - at : piece, 0);
}

/* Add the p - 1 rounds of the ring to the graph. */
static void build(coll_build_t *b)
{
    int p = b->p;

    for (int r = 0; r < p; r++)
        coll_move(b, coll_input(b, r), coll_received(b, r, r), coll_block(b, r), 0);
    for (int round = 0; round < p - 1; round++)
        for (int r = 0; r < p; r++) {
            int left = (r + p - 1) % p, block = (left + p - round) % p;

            pass(b, round == 0 ? coll_input(b, left) : coll_received(b, left, block),
                 coll_received(b, r, block), coll_block(b, block));
        }
}

const xy_coll_algorithm_t coll_allgather_ring = {
    .name = "ring",
    .collectives = 1u << XY_COLL_ALLGATHER | 1u << XY_COLL_ALLGATHERV,
    .formula = "n c + (p-1) (a + n b)",
    .describe = "every block passes all ranks in a ring; best for long blocks",
    .cost = cost,
    .build = build,
};
