/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast, direct.                             Cost = 2 ceil(lg p) a + n b
 *
 * All ranks synchronize, and each copies the vector straight from the root's buffer, in pieces; the
 * root returns after a second barrier. A small vector is left by the root before the first one and
 * taken from there: n c + ceil(lg p) a + n b, and the root does not wait.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q), others = q->procs > 1 ? n * l->beta : 0.0;

    if (coll_direct_is_small(q))
        return n * l->copy + coll_cost_meet(q, l) + others;
    return 2 * coll_cost_meet(q, l) + others;
}

/* Add the copies from the root and their barriers to the graph; the root does not wait for a small
 * vector. */
static void build(coll_build_t *b)
{
    int root = b->q->root;
    xy_spot_t data =
        coll_place(root, coll_direct_is_small(b->q) ? COLL_TEMPORARY : XY_BUFFER_RECEIVE, 0);

    for (int r = 0; r < b->p; r++) {
        coll_direct_mark(b, r);
        if (r == root)
            coll_move(b, coll_place(r, XY_BUFFER_RECEIVE, 0), data, b->bytes, 0);
    }
    if (coll_direct_is_small(b->q))
        coll_direct_from_root(b);
    else
        coll_direct_meet(b);
    for (int r = 0; r < b->p; r++) {
        coll_direct_mark(b, r);
        if (r != root)
            coll_direct_copy_pieces(b, r, data, coll_place(r, XY_BUFFER_RECEIVE, 0), b->bytes);
    }
    if (!coll_direct_is_small(b->q))
        coll_direct_meet(b);
}

const xy_coll_algorithm_t coll_bcast_direct = {
    .name = "direct",
    .collectives = 1u << XY_COLL_BCAST,
    .formula = "2 ceil(lg p) a + n b; up to 2 KiB n c + ceil(lg p) a + n b",
    .describe = "every rank copies from the root's buffer, in pieces that any core may take",
    .is_direct = true,
    .cost = cost,
    .build = build,
};
