/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter, direct.                               Cost = 2 ceil(lg p) a + n b
 *
 * All ranks synchronize, and each copies its block straight from the root's buffer, in pieces. When
 * all blocks together are small the root leaves them before the barrier: p n c + ceil(lg p) a + n
 * b, and it does not wait.
 */
#include "coll/build.h"

static bool is_packed(const xy_coll_request_t *q)
{
    return q->collective == XY_COLL_SCATTER && coll_direct_is_packed(q, q->procs);
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_cost_largest(q);

    if (is_packed(q))
        return q->procs * n * l->copy + coll_cost_meet(q, l) + n * l->beta;
    return 2 * coll_cost_meet(q, l) + n * l->beta;
}

static void leave(coll_build_t *b)
{
    for (int r = 0; r < b->p; r++) {
        coll_direct_mark(b, r);
        for (int to = 0; r == b->q->root && to < b->p; to++)
            coll_move(b, coll_sent(b, r, to), coll_place(r, COLL_TEMPORARY, b->start[to]),
                      coll_block(b, to), 0);
    }
}

/* Add the copies from the root and their barriers to the graph; the root does not wait for packed
 * blocks. */
static void build(coll_build_t *b)
{
    int root = b->q->root;

    if (is_packed(b->q)) {
        leave(b);
        coll_direct_from_root(b);
    } else {
        coll_direct_meet(b);
    }
    for (int r = 0; r < b->p; r++) {
        coll_direct_mark(b, r);
        if (r != root || !coll_is_in_place(b, root))
            coll_direct_copy_pieces(b, r,
                                    is_packed(b->q) ? coll_place(root, COLL_TEMPORARY, b->start[r])
                                                    : coll_sent(b, root, r),
                                    coll_place(r, XY_BUFFER_RECEIVE, 0), coll_block(b, r));
    }
    if (!is_packed(b->q))
        coll_direct_meet(b);
}

const xy_coll_algorithm_t coll_scatter_direct = {
    .name = "direct",
    .collectives = 1u << XY_COLL_SCATTER | 1u << XY_COLL_SCATTERV,
    .formula = "2 ceil(lg p) a + n b; p n up to 2 KiB p n c + ceil(lg p) a + n b",
    .describe = "every rank copies its block from the root's buffer, in pieces",
    .is_direct = true,
    .cost = cost,
    .build = build,
};
