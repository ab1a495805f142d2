/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast as scatter and ring, with parts that are repeated.
 *                    Cost = (ceil(lg p) + p - 1) a + 2 (p-1)/p n b       for p parts of equal size
 *
 * As `scatter-allgather`, with two differences: parts have ceil(n / p) bytes, so that the last ones
 * may be short or empty, and every part goes around the whole ring, also to nodes that have it.
 */
#include "coll/build.h"

static uint64_t begin_of(const coll_build_t *b, int part)
{
    uint64_t each = (b->bytes + (uint64_t)b->p - 1) / (uint64_t)b->p, at = each * (uint64_t)part;

    return at < b->bytes ? at : b->bytes;
}

static void move_parts(coll_build_t *b, int from, int to, int first, int end)
{
    uint64_t begin = begin_of(b, first);
    int root = b->q->root;

    coll_move(b, coll_place((from + root) % b->p, XY_BUFFER_RECEIVE, begin),
              coll_place((to + root) % b->p, XY_BUFFER_RECEIVE, begin),
              begin_of(b, end < b->p ? end : b->p) - begin, 0);
}

/* Add the binomial scatter and the whole ring to the graph. */
static void build(coll_build_t *b)
{
    int p = b->p;

    for (int step = 1 << coll_log2_ceil(p) >> 1; step >= 1; step /= 2)
        for (int v = step; v < p; v += 2 * step)
            move_parts(b, v - step, v, v, v + step);
    for (int round = 0; round < p - 1; round++)
        for (int v = 0; v < p; v++) {
            int left = (v + p - 1) % p, part = (left + p - round) % p;

            move_parts(b, left, v, part, part + 1);
        }
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    int p = q->procs;
    double n = coll_vector_bytes(q);

    return (coll_log2_ceil(p) + p - 1) * l->alpha + 2.0 * (p - 1) / p * n * l->beta;
}

const xy_coll_algorithm_t coll_bcast_scatter_ring = {
    .name = "scatter-ring",
    .collectives = 1u << XY_COLL_BCAST,
    .formula = "(ceil(lg p) + p - 1) a + 2 (p-1)/p n b",
    .describe = "a tree scatters parts, a ring carries every part to every rank",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
