/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter, linear.                               Cost = (p-1) (a + n b)
 *
 * Each rank takes its block straight from the root. p = 4, root 1:
 *   1->2 1->3 1->0
 *
 * No block is copied twice: in shared memory best as soon as blocks are long.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double own = coll_cost_block(q, q->root) * l->copy, sum = 0.0;

    for (int v = 1; v < q->procs; v++) {
        double bytes = coll_cost_block(q, q->root + v);

        sum += bytes > 0.0 ? coll_message(l, bytes) : 0.0;
    }
    return sum > own ? sum : own;
}

static void build(coll_build_t *b)
{
    int root = b->q->root;

    for (int v = 0; v < b->p; v++) {
        int rank = (root + v) % b->p;

        if (v > 0 || !coll_is_in_place(b, root))
            coll_move(b, coll_sent(b, root, rank), coll_place(rank, XY_BUFFER_RECEIVE, 0),
                      coll_block(b, rank), v > 0 ? 1 : 0);
    }
}

const xy_coll_algorithm_t coll_scatter_linear = {
    .name = "linear",
    .collectives = 1u << XY_COLL_SCATTER | 1u << XY_COLL_SCATTERV,
    .formula = "(p-1) (a + n b)",
    .describe = "the root sends every block; no block is copied twice",
    .cost = cost,
    .build = build,
};
