/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather, direct.                                Cost = 2 ceil(lg p) a + n b
 *
 * All ranks synchronize, and each copies its block straight into the root's buffer, in pieces.
 * Where those of a group are small they are left before the barrier and taken by the root: n c +
 * ceil(lg p) a
 * + p n b, and no rank but the root waits.
 */
#include "coll/build.h"

static bool is_packed(const xy_coll_request_t *q)
{
    return q->collective == XY_COLL_GATHER && coll_direct_is_packed_by_groups(q, 1);
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_cost_largest(q);

    if (is_packed(q))
        return n * l->copy + coll_cost_meet(q, l) + q->procs * n * l->beta;
    return 2 * coll_cost_meet(q, l) + n * l->beta;
}

static void build_packed(coll_build_t *b)
{
    int root = b->q->root;

    coll_direct_leave(b);
    coll_direct_to_root(b);
    coll_direct_piece(b);
    for (int r = 0; r < b->p; r++)
        if (r != root || !coll_is_in_place(b, root))
            coll_direct_copy(b, root, coll_place(r, COLL_TEMPORARY, 0), coll_received(b, root, r),
                             coll_block(b, r));
}

/* Add the copies into the root's buffer between two barriers, or the packed form for small blocks.
 * */
static void build(coll_build_t *b)
{
    if (is_packed(b->q)) {
        build_packed(b);
        return;
    }
    coll_direct_meet(b);
    for (int r = 0; r < b->p; r++) {
        coll_direct_mark(b, r);
        coll_direct_copy_pieces(b, r, coll_input(b, r), coll_received(b, b->q->root, r),
                                coll_block(b, r));
    }
    coll_direct_meet(b);
}

const xy_coll_algorithm_t coll_gather_direct = {
    .name = "direct",
    .collectives = 1u << XY_COLL_GATHER | 1u << XY_COLL_GATHERV,
    .formula = "2 ceil(lg p) a + n b; blocks up to 2 KiB n c + ceil(lg p) a + p n b",
    .describe = "every rank copies its block into the root's buffer, in pieces",
    .is_direct = true,
    .cost = cost,
    .build = build,
};
