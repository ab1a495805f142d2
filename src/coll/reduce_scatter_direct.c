/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter, direct.                        Cost = 2 ceil(lg p) a + n ((p-1) (b + g) + b)
 *
 * All ranks synchronize, and each reduces its block over all ranks, in blocks that stay in cache,
 * straight from their buffers. Ranks are taken in order: the operation need not commute.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return 2 * coll_cost_meet(q, l) +
           coll_cost_largest(q) * ((q->procs - 1) * (l->beta + l->gamma) + l->beta);
}

/* Add the reduction of each rank's block between two barriers to the graph. */
static void build(coll_build_t *b)
{
    uint64_t n =
        (uint64_t)xy_direct_block_elements((uint64_t)coll_cost_largest(b->q), b->q->element, b->p,
                                           coll_direct_is_spread(b->q)) *
        b->q->element;

    coll_direct_meet(b);
    for (int r = 0; r < b->p; r++) {
        uint64_t bytes = coll_block(b, r);

        coll_direct_mark(b, r);
        for (uint64_t at = 0; at < bytes; at += n) {
            uint64_t part = bytes - at < n ? bytes - at : n;

            coll_direct_piece(b);
            coll_direct_copy(b, r, coll_direct_reduce(b, r, b->start[r] + at, part),
                             coll_place(r, XY_BUFFER_RECEIVE, at), part);
        }
    }
    coll_direct_meet(b);
}

const xy_coll_algorithm_t coll_reduce_scatter_direct = {
    .name = "direct",
    .collectives = 1u << XY_COLL_REDUCE_SCATTER | 1u << XY_COLL_REDUCE_SCATTER_BLOCK,
    .formula = "2 ceil(lg p) a + n (p b + (p-1) g)",
    .describe = "every rank reduces its block over all buffers",
    .is_direct = true,
    .cost = cost,
    .build = build,
};
