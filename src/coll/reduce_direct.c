/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce, direct.                                Cost = 2 ceil(lg p) a + n/p ((p-1) (b + g) + b)
 *
 * All ranks synchronize; each has a slice of the vector, reduces it over all ranks in blocks that
 * stay in cache, and writes it to the root's buffer. A short vector is left by every rank before
 * the barrier, and the root reduces what was left: n c + ceil(lg p) a + n ((p-1) (b + g) + b), and
 * no rank but the root waits. Ranks are taken in order: the operation need not commute.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q);
    double per_byte = (q->procs - 1) * (l->beta + l->gamma) + l->beta;

    if (coll_direct_is_small(q))
        return n * l->copy + coll_cost_meet(q, l) + n * per_byte;
    return 2 * coll_cost_meet(q, l) + coll_cost_slice(q) * per_byte;
}

static void piece(coll_build_t *b, int actor, uint64_t begin, uint64_t bytes)
{
    coll_direct_copy(b, actor, coll_direct_reduce(b, actor, begin, bytes),
                     coll_place(b->q->root, XY_BUFFER_RECEIVE, begin), bytes);
}

static void build_grouped(coll_build_t *b)
{
    coll_direct_leave_groups(b);
    coll_direct_to_root(b);
    coll_direct_piece(b);
    coll_direct_combine_groups(b, b->q->root, coll_place(b->q->root, XY_BUFFER_RECEIVE, 0));
}

/* Build one of three forms: by groups, of short vectors left by all ranks, or by slices of a long
 * one. */
static void build(coll_build_t *b)
{
    if (coll_direct_is_small(b->q) && coll_direct_is_grouped(b)) {
        build_grouped(b);
        return;
    }
    if (coll_direct_is_small(b->q)) {
        coll_direct_leave(b);
        coll_direct_meet(b);
        coll_direct_piece(b);
        coll_direct_combine_left(b, b->q->root, coll_place(b->q->root, XY_BUFFER_RECEIVE, 0));
        return;
    }
    coll_direct_slices(b, piece);
}

const xy_coll_algorithm_t coll_reduce_direct = {
    .name = "direct",
    .collectives = 1u << XY_COLL_REDUCE,
    .formula = "2 ceil(lg p) a + n/p (p b + (p-1) g); up to 2 KiB n c + ceil(lg p) a + n (p b + "
               "(p-1) g)",
    .describe = "every rank reduces its slice over all buffers, in blocks that any core may take",
    .is_direct = true,
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
