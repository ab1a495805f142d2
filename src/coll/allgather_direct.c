/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgather, direct.                             Cost = 2 ceil(lg p) a + p n b
 *
 * All ranks synchronize, and each copies every block straight from where it lies: as one piece when
 * all together are short, else in pieces. Small blocks are left by every rank before the barrier: n
 * c + ceil(lg p) a + p n b, and no rank waits until its block was read.
 */
#include "coll/build.h"

static bool is_packed(const xy_coll_request_t *q)
{
    return q->collective == XY_COLL_ALLGATHER && coll_direct_is_packed_by_groups(q, 1);
}

static bool is_compact(const xy_coll_request_t *q)
{
    return q->collective == XY_COLL_ALLGATHER &&
           xy_direct_is_compact(q->count * q->element, (uint64_t)q->procs);
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double all = coll_cost_total(q) * l->beta;

    if (is_packed(q))
        return coll_cost_largest(q) * l->copy + coll_cost_meet(q, l) + all;
    return 2 * coll_cost_meet(q, l) + all;
}

/* Let rank r copy all blocks: as one piece if they are short, else in pieces. */
static void collect(coll_build_t *b, int r, bool is_left)
{
    bool is_one = is_left || is_compact(b->q);

    coll_direct_piece(b);
    for (int from = 0; from < b->p; from++) {
        xy_spot_t data = is_left ? coll_place(from, COLL_TEMPORARY, 0) : coll_input(b, from);

        if (is_one)
            coll_direct_copy(b, r, data, coll_received(b, r, from), coll_block(b, from));
        else
            coll_direct_copy_pieces(b, r, data, coll_received(b, r, from), coll_block(b, from));
    }
}

/* Short results are equal: the first rank of a group collects them, and the others copy all of it.
 * The first one's number; r itself: it collects. */
static int collector_of(const coll_build_t *b, int r)
{
    return b->q->groups != NULL && is_compact(b->q) ? coll_direct_first(b, b->q->groups[r]) : r;
}

/* Add the copies and their barriers to the graph; without the second barrier if blocks are left. */
static void build(coll_build_t *b)
{
    bool is_left = is_packed(b->q);

    if (is_left)
        coll_direct_leave(b);
    coll_direct_meet(b);
    for (int r = 0; r < b->p; r++) {
        int from = collector_of(b, r);

        coll_direct_mark(b, r);
        if (from == r) {
            collect(b, r, is_left);
            continue;
        }
        coll_direct_piece(b);
        coll_direct_copy(b, r, coll_received(b, from, 0), coll_received(b, r, 0),
                         coll_blocks(b, 0, b->p));
    }
    if (!is_left)
        coll_direct_meet(b);
}

const xy_coll_algorithm_t coll_allgather_direct = {
    .name = "direct",
    .collectives = 1u << XY_COLL_ALLGATHER | 1u << XY_COLL_ALLGATHERV,
    .formula = "2 ceil(lg p) a + p n b; blocks up to 2 KiB n c + ceil(lg p) a + p n b",
    .describe = "every rank copies every block from the send buffers, in pieces",
    .is_direct = true,
    .cost = cost,
    .build = build,
};
