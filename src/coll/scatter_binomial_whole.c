/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter, binomial tree, one message to a subtree.
 *                                                Cost = ceil(lg p) a + (p-1) n b; another root than
 *                                                0: p n c more
 *
 * As `binomial`, but the blocks of a subtree always go in one message: a root other than rank 0
 * first copies all blocks into a row that begins with its own.
 */
#include "coll/build.h"

/* When the last block of node v's subtree has come, from when v has it. */
static double finish(const xy_coll_request_t *q, const xy_coll_link_t *l, int v, int levels)
{
    double n = coll_vector_bytes(q), sent = 0.0, own = n * l->copy, most;

    most = v == 0 || (levels > 0 && v + 1 < q->procs) ? own : 0.0;
    for (int i = levels - 1; i >= 0; i--) {
        int child = v + (1 << i);
        double t;

        if (child >= q->procs)
            continue;
        sent += coll_message(l, coll_subtree(q->procs, child) * n);
        t = sent + finish(q, l, child, i);
        most = t > most ? t : most;
    }
    return most;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double turn = q->root != 0 ? q->procs * coll_vector_bytes(q) * l->copy : 0.0;

    return finish(q, l, 0, coll_log2_ceil(q->procs)) + turn;
}

static xy_spot_t row(const coll_build_t *b, int v)
{
    int rank = (v + b->q->root) % b->p;

    if (v == 0 && b->q->root == 0)
        return coll_input(b, 0);
    if (v > 0 && coll_subtree(b->p, v) == 1)
        return coll_place(rank, XY_BUFFER_RECEIVE, 0);
    return coll_place(rank, COLL_TEMPORARY, 0);
}

/* Add the root's row of blocks, the messages of the tree and the copies into the receive buffers.
 * */
static void build(coll_build_t *b)
{
    int root = b->q->root, p = b->p;

    if (root != 0)
        coll_move_from_blocks(b, root, coll_sent, row(b, 0), root, p, 0);
    for (int step = 1 << coll_log2_ceil(p) >> 1; step >= 1; step /= 2)
        for (int v = step; v < p; v += 2 * step)
            coll_move(b, coll_shift(row(b, v - step), (uint64_t)step * b->bytes), row(b, v),
                      (uint64_t)coll_subtree(p, v) * b->bytes, 0);
    for (int v = 0; v < p; v += 2) {
        int rank = (v + root) % p;

        if (v > 0 || !coll_is_in_place(b, root))
            coll_move(b, row(b, v), coll_place(rank, XY_BUFFER_RECEIVE, 0), b->bytes, 0);
    }
}

const xy_coll_algorithm_t coll_scatter_binomial_whole = {
    .name = "binomial-whole",
    .collectives = 1u << XY_COLL_SCATTER,
    .formula = "ceil(lg p) a + (p-1) n b; root not 0: + p n c",
    .describe = "one tree, each subtree in one message; the root puts blocks in a row first",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
