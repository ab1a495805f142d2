/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather, binomial tree.                         Cost = n c + ceil(lg p) a + (p-1) n b
 *
 * Ranks are rotated so that the root is node 0; a node collects the blocks of its subtree, which
 * are consecutive, behind its own and passes them on together. p = 6: level 1: 1->0 3->2 5->4 level
 * 2: 2->0 (blocks 2 3)     level 3: 4->0 (4 5)
 *
 * Where the blocks of one message are not neighbours at the root (they wrap around, or were placed
 * so by the caller) it comes in several, each with its own a.
 */
#include "coll/build.h"

/* When node v has all its blocks; a message of several runs costs several a. */
static double finish(const xy_coll_request_t *q, const xy_coll_link_t *l, int v, int levels)
{
    int p = q->procs;
    double t = coll_cost_block(q, v + q->root) * l->copy;

    if (v > 0 && (levels == 0 || v + 1 >= p))
        return 0.0;
    for (int i = 0; i < levels && v + (1 << i) < p; i++) {
        int child = v + (1 << i), size = coll_subtree(p, child), messages = 0;
        double ready = finish(q, l, child, i), bytes = 0.0;

        for (int k = 0; k < size; k++)
            bytes += coll_cost_block(q, child + k + q->root);
        for (int k = 0; k < size; messages++)
            k += v == 0 ? coll_block_run(q, q->receive_offsets, (child + k + q->root) % p, size - k)
                        : size;
        t = (t > ready ? t : ready) + messages * l->alpha + bytes * l->beta;
    }
    return t;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return finish(q, l, 0, coll_log2_ceil(q->procs));
}

/* Where node v collects: the root in its receive buffer. */
static void deliver(coll_build_t *b, int v, int parent, int level)
{
    int root = b->q->root, p = b->p, size = coll_subtree(p, v);
    int rank = (v + root) % p, up = (parent + root) % p;
    xy_spot_t packed = size == 1 ? coll_input(b, rank) : coll_place(rank, COLL_TEMPORARY, 0);

    if (parent == 0)
        coll_move_to_blocks(b, packed, root, coll_received, rank, size, level);
    else
        coll_move(b, packed, coll_place(up, COLL_TEMPORARY, coll_blocks(b, up, v - parent)),
                  coll_blocks(b, rank, size), level);
}

/* Add the copies of own blocks and the messages of the tree, level by level, to the graph. */
static void build(coll_build_t *b)
{
    int root = b->q->root, p = b->p;

    coll_move(b, coll_input(b, root), coll_received(b, root, root), coll_block(b, root), 0);
    for (int v = 2; v + 1 < p; v += 2) {
        int rank = (v + root) % p;

        coll_move(b, coll_input(b, rank), coll_place(rank, COLL_TEMPORARY, 0), coll_block(b, rank),
                  0);
    }
    for (int level = 1; level <= coll_log2_ceil(p); level++) {
        int step = 1 << (level - 1);

        for (int v = step; v < p; v += 2 * step)
            deliver(b, v, v - step, level);
    }
}

const xy_coll_algorithm_t coll_gather_binomial = {
    .name = "binomial",
    .collectives = 1u << XY_COLL_GATHER | 1u << XY_COLL_GATHERV,
    .formula = "n c + ceil(lg p) a + (p-1) n b",
    .describe = "one tree, log2(p) rounds; best for short blocks",
    .has_levels = true,
    .cost = cost,
    .build = build,
};
