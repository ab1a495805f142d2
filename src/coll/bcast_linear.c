/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast, linear.                             Cost = (p-1) (a + n b)
 *
 * The root sends the vector to each rank, in the order of ranks. p = 4, root 1: 1->0 1->2 1->3
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return (q->procs - 1) * coll_message(l, coll_vector_bytes(q));
}

static void build(coll_build_t *b)
{
    for (int r = 0; r < b->p; r++)
        if (r != b->q->root)
            coll_move(b, coll_place(b->q->root, XY_BUFFER_RECEIVE, 0),
                      coll_place(r, XY_BUFFER_RECEIVE, 0), b->bytes, 0);
}

const xy_coll_algorithm_t coll_bcast_linear = {
    .name = "linear",
    .collectives = 1u << XY_COLL_BCAST,
    .formula = "(p-1) (a + n b)",
    .describe = "the root sends to every rank",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
