/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduce, direct.                             Cost = 2 ceil(lg p) a + n/p ((p-1) (b + g) + p b)
 *
 * As reduce_direct.c, but a block is written to the buffers of all ranks. A short vector is left by
 * every rank before the barrier, and each reduces what was left: n c + ceil(lg p) a + n ((p-1) (b +
 * g) + 2 b), and no rank waits for another again.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q), reduce = (q->procs - 1) * (l->beta + l->gamma);

    if (coll_direct_is_small(q))
        return n * l->copy + coll_cost_meet(q, l) + n * (reduce + 2 * l->beta);
    return 2 * coll_cost_meet(q, l) + coll_cost_slice(q) * (reduce + q->procs * l->beta);
}

static void piece(coll_build_t *b, int actor, uint64_t begin, uint64_t bytes)
{
    xy_spot_t block = coll_direct_reduce(b, actor, begin, bytes);

    for (int r = 0; r < b->p; r++)
        coll_direct_copy(b, actor, block, coll_place(r, XY_BUFFER_RECEIVE, begin), bytes);
}

/* Each group puts the result together, and its ranks take it. */
static void build_grouped(coll_build_t *b)
{
    coll_direct_leave_groups(b);
    coll_direct_meet(b);
    for (int r = 0; r < b->p; r++) {
        int first = coll_direct_first(b, b->q->groups[r]);
        xy_spot_t result = coll_place(first, COLL_TEMPORARY + 1, 0);

        coll_direct_piece(b);
        if (r == first)
            coll_direct_combine_groups(b, r, result);
        coll_direct_copy(b, r, result, coll_place(r, XY_BUFFER_RECEIVE, 0), b->bytes);
    }
}

/* Build one of three forms: by groups, by slices of a long vector, or of vectors left by all ranks.
 * */
static void build(coll_build_t *b)
{
    if (coll_direct_is_grouped(b)) {
        build_grouped(b);
        return;
    }
    if (!coll_direct_is_small(b->q)) {
        coll_direct_slices(b, piece);
        return;
    }
    coll_direct_leave(b);
    coll_direct_meet(b);
    for (int r = 0; r < b->p; r++) {
        xy_spot_t result = coll_place(r, COLL_TEMPORARY + 1, 0);

        coll_direct_piece(b);
        coll_direct_combine_left(b, r, result);
        coll_direct_copy(b, r, result, coll_place(r, XY_BUFFER_RECEIVE, 0), b->bytes);
    }
}

const xy_coll_algorithm_t coll_allreduce_direct = {
    .name = "direct",
    .collectives = 1u << XY_COLL_ALLREDUCE,
    .formula = "2 ceil(lg p) a + n/p ((2p-1) b + (p-1) g); up to 2 KiB n c + ceil(lg p) a + n "
               "((p+1) b + (p-1) g)",
    .describe = "every rank reduces its slice over all buffers and writes it to all of them",
    .is_direct = true,
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
