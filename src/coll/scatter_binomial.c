/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter, binomial tree.                        Cost = ceil(lg p) a + (p-1) n b
 *
 * Ranks are rotated so that the root is node 0; a node gets the blocks of its subtree, which are
 * consecutive, in one message and passes them on, the largest subtree first. p = 6:
 *   level 3: 0->4 (blocks 4 5)     level 2: 0->2 (2 3)     level 1: 0->1 2->3 4->5
 *
 * Where the blocks of one message are not neighbours at the root (they wrap around, or were placed
 * so by the caller) it goes in several, each with its own a.
 */
#include "coll/build.h"

/* When the subtree of node v, which has its blocks at time t, is served. */
static double finish(const xy_coll_request_t *q, const xy_coll_link_t *l, int v, int levels,
                     double t)
{
    int p = q->procs;
    bool is_leaf = v > 0 && (levels == 0 || v + 1 >= p);
    double end = t + (is_leaf ? 0.0 : coll_cost_block(q, v + q->root) * l->copy);

    for (int i = levels - 1; i >= 0; i--) {
        int child = v + (1 << i), size, messages = 0;
        double bytes = 0.0, served;

        if (child >= p)
            continue;
        size = coll_subtree(p, child);
        for (int k = 0; k < size; k++)
            bytes += coll_cost_block(q, child + k + q->root);
        for (int k = 0; k < size; messages++)
            k += v == 0 ? coll_block_run(q, q->send_offsets, (child + k + q->root) % p, size - k)
                        : size;
        t += messages * l->alpha + bytes * l->beta;
        served = finish(q, l, child, i, t);
        end = served > end ? served : end;
    }
    return end;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return finish(q, l, 0, coll_log2_ceil(q->procs), 0.0);
}

static void deliver(coll_build_t *b, int v, int parent, int level)
{
    int root = b->q->root, p = b->p, size = coll_subtree(p, v);
    int rank = (v + root) % p, up = (parent + root) % p;
    xy_spot_t packed = coll_place(rank, size == 1 ? XY_BUFFER_RECEIVE : COLL_TEMPORARY, 0);

    if (parent == 0)
        coll_move_from_blocks(b, root, coll_sent, packed, rank, size, level);
    else
        coll_move(b, coll_place(up, COLL_TEMPORARY, coll_blocks(b, up, v - parent)), packed,
                  coll_blocks(b, rank, size), level);
}

/* Add the messages of the tree, level by level, and the copies into the receive buffers to the
 * graph. */
static void build(coll_build_t *b)
{
    int root = b->q->root, p = b->p;

    if (!coll_is_in_place(b, root))
        coll_move(b, coll_sent(b, root, root), coll_place(root, XY_BUFFER_RECEIVE, 0),
                  coll_block(b, root), 0);
    for (int level = coll_log2_ceil(p); level >= 1; level--) {
        int step = 1 << (level - 1);

        for (int v = step; v < p; v += 2 * step)
            deliver(b, v, v - step, level);
    }
    for (int v = 2; v + 1 < p; v += 2) {
        int rank = (v + root) % p;

        coll_move(b, coll_place(rank, COLL_TEMPORARY, 0), coll_place(rank, XY_BUFFER_RECEIVE, 0),
                  coll_block(b, rank), 0);
    }
}

const xy_coll_algorithm_t coll_scatter_binomial = {
    .name = "binomial",
    .collectives = 1u << XY_COLL_SCATTER | 1u << XY_COLL_SCATTERV,
    .formula = "ceil(lg p) a + (p-1) n b",
    .describe = "one tree, log2(p) rounds; best for short blocks",
    .has_levels = true,
    .cost = cost,
    .build = build,
};
