/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgather, ring.                               Cost = n c + (p-1) (a + n b)
 *
 * Each rank hands on to its right neighbour the block that it got last. p = 3:
 *   round 0: 0-A->1 1-B->2 2-C->0     round 1: 0-C->1 1-A->2 2-B->0
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double most = coll_cost_largest(q);

    return most * l->copy + (q->procs - 1) * coll_message(l, most);
}

static void build(coll_build_t *b)
{
    int p = b->p;

    for (int r = 0; r < p; r++)
        coll_move(b, coll_input(b, r), coll_received(b, r, r), coll_block(b, r), 0);
    for (int round = 0; round < p - 1; round++)
        for (int r = 0; r < p; r++) {
            int left = (r + p - 1) % p, block = (left + p - round) % p;

            coll_move(b, round == 0 ? coll_input(b, left) : coll_received(b, left, block),
                      coll_received(b, r, block), coll_block(b, block), 0);
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
