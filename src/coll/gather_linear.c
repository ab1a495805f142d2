/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather, linear.                                Cost = n c + (p-1) (a + n b)
 *
 * The root takes the block of each rank straight from where it lies. p = 4, root 1:
 *   1<-2 1<-3 1<-0
 *
 * No block is copied twice: in shared memory best as soon as blocks are long.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double own = coll_cost_block(q, q->root), sum = own * l->copy;

    for (int v = 1; v < q->procs; v++) {
        double bytes = coll_cost_block(q, q->root + v);

        sum += bytes > 0.0 ? coll_message(l, bytes) : 0.0;
    }
    return sum;
}

static void build(coll_build_t *b)
{
    int root = b->q->root;

    for (int v = 0; v < b->p; v++) {
        int rank = (root + v) % b->p;

        coll_move(b, coll_input(b, rank), coll_received(b, root, rank), coll_block(b, rank),
                  v > 0 ? 1 : 0);
    }
}

const xy_coll_algorithm_t coll_gather_linear = {
    .name = "linear",
    .collectives = 1u << XY_COLL_GATHER | 1u << XY_COLL_GATHERV,
    .formula = "n c + (p-1) (a + n b)",
    .describe = "the root receives every block; no block is copied twice",
    .cost = cost,
    .build = build,
};
