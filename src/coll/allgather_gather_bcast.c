/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgather as a linear gather to rank 0, then a broadcast.
 *                                                Cost = n c + (p-1) (a + n b) + bcast, or
 *                                                less
 *
 * The broadcast is chosen by the rules of the library of the request, as that of one element that
 * has the bytes of all blocks; where it has none, by its cost. Blocks that the caller placed are
 * put into a row first and into their places in the end, for a copy of all each time.
 */
#include "coll/build.h"
#include "coll/list.h"

static bool is_placed(const xy_coll_request_t *q)
{
    return q->receive_offsets != NULL;
}

static xy_spot_t row(const coll_build_t *b, int rank, const void *arg)
{
    (void)arg;
    return coll_place(rank, is_placed(b->q) ? COLL_TEMPORARY : XY_BUFFER_RECEIVE, 0);
}

static xy_coll_request_t gather_of(const xy_coll_request_t *q)
{
    bool has_counts = q->collective == XY_COLL_ALLGATHERV;
    xy_coll_request_t g = coll_stage_request(q, has_counts ? XY_COLL_GATHERV : XY_COLL_GATHER,
                                             has_counts ? 0 : q->count, q->element);

    g.counts = has_counts ? q->counts : NULL;
    return g;
}

static xy_coll_request_t bcast_of(const xy_coll_request_t *q)
{
    uint64_t bytes = 0;

    for (int i = 0; i < q->procs; i++)
        bytes += (q->collective == XY_COLL_ALLGATHERV ? q->counts[i] : q->count) * q->element;
    return coll_stage_request(q, XY_COLL_BCAST, bytes > 0 ? 1 : 0, bytes > 0 ? bytes : 1);
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    xy_coll_request_t gather = gather_of(q), bcast = bcast_of(q);

    return coll_cost_composed(q, l, &coll_allgather_gather_bcast, &gather, &bcast);
}

static void build(coll_build_t *b)
{
    coll_stage_t gather = {.q = gather_of(b->q), .send = coll_stage_input, .receive = row};
    coll_stage_t bcast = {.q = bcast_of(b->q), .receive = row};

    coll_stage(b, &gather, &coll_gather_linear);
    coll_stage(b, &bcast, NULL);
    for (int r = 0; r < b->p && is_placed(b->q); r++)
        coll_move_to_blocks(b, row(b, r, NULL), r, coll_received, 0, b->p, 0);
}

const xy_coll_algorithm_t coll_allgather_gather_bcast = {
    .name = "gather-then-bcast",
    .collectives = 1u << XY_COLL_ALLGATHER | 1u << XY_COLL_ALLGATHERV,
    .formula = "counted; at most n c + (p-1) (a + n b) + bcast of p n, as chosen",
    .describe = "rank 0 receives every block, then a broadcast of all by its own rules",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
