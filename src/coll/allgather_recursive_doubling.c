/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgather, recursive doubling.                 Cost = n c + lg p a + (p-1) n b
 *
 * Partners at distance 1, 2, 4, ... give each other all they have. p = 4:
 *   round 0: 0<->1 2<->3 (one block)     round 1: 0<->2 1<->3 (two blocks)
 *
 * For powers of two. Blocks that are not neighbours in a receive buffer come in several messages.
 */
#include "coll/build.h"

static bool applicable(const xy_coll_request_t *q)
{
    return (q->procs & (q->procs - 1)) == 0;
}

/* With blocks that the caller placed, as many messages as blocks. */
static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    int messages = q->receive_offsets != NULL ? q->procs - 1 : coll_log2_ceil(q->procs);
    double sum = coll_cost_largest(q) * l->copy + messages * l->alpha;

    for (int step = 1; step < q->procs; step *= 2) {
        double most = 0.0;

        for (int first = 0; first < q->procs; first += step) {
            double bytes = 0.0;

            for (int i = 0; i < step; i++)
                bytes += coll_cost_block(q, first + i);
            most = bytes > most ? bytes : most;
        }
        sum += most * l->beta;
    }
    return sum;
}

static void build(coll_build_t *b)
{
    for (int r = 0; r < b->p; r++)
        coll_move(b, coll_input(b, r), coll_received(b, r, r), coll_block(b, r), 0);
    for (int step = 1; step < b->p; step *= 2)
        for (int r = 0; r < b->p; r++) {
            int partner = r ^ step;

            coll_move_blocks(b, partner, r, partner & ~(step - 1), step);
        }
}

const xy_coll_algorithm_t coll_allgather_recursive_doubling = {
    .name = "recursive-doubling",
    .collectives = 1u << XY_COLL_ALLGATHER | 1u << XY_COLL_ALLGATHERV,
    .formula = "n c + lg p a + (p-1) n b",
    .describe = "partners exchange all their blocks, log2(p) rounds",
    .needs = "a power of two of ranks",
    .applicable = applicable,
    .cost = cost,
    .build = build,
};
