/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather, binomial tree, one message to a subtree.
 *                                                Cost = n c + ceil(lg p) a + (p-1) n b; another
 *                                                root than 0: p n c more
 *
 * As `binomial`, but the blocks of a subtree always come in one message. A root other than rank 0
 * collects them in a row that begins with its own, and copies them to their places in the end.
 */
#include "coll/build.h"

/* Seconds until node v has the blocks of its first `levels` subtrees. */
static double finish(const xy_coll_request_t *q, const xy_coll_link_t *l, int v, int levels)
{
    int p = q->procs;
    double n = coll_vector_bytes(q), t = n * l->copy;

    if (v > 0 && (levels == 0 || v + 1 >= p))
        return 0.0;
    for (int i = 0; i < levels && v + (1 << i) < p; i++) {
        double ready = finish(q, l, v + (1 << i), i);

        t = (t > ready ? t : ready) + coll_message(l, coll_subtree(p, v + (1 << i)) * n);
    }
    return t;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double turn = q->root != 0 ? q->procs * coll_vector_bytes(q) * l->copy : 0.0;

    return finish(q, l, 0, coll_log2_ceil(q->procs)) + turn;
}

/* Where node v collects the blocks of its subtree, one after the other. */
static xy_spot_t row(const coll_build_t *b, int v)
{
    int rank = (v + b->q->root) % b->p;

    if (v > 0 && coll_subtree(b->p, v) == 1)
        return coll_input(b, rank);
    return coll_place(rank, v == 0 && b->q->root == 0 ? XY_BUFFER_RECEIVE : COLL_TEMPORARY, 0);
}

static void build(coll_build_t *b)
{
    int root = b->q->root, p = b->p;

    for (int v = 0; v < p; v += 2)
        coll_move(b, coll_input(b, (v + root) % p), row(b, v), b->bytes, 0);
    for (int step = 1; step < p; step *= 2)
        for (int v = step; v < p; v += 2 * step)
            coll_move(b, row(b, v), coll_shift(row(b, v - step), (uint64_t)step * b->bytes),
                      (uint64_t)coll_subtree(p, v) * b->bytes, 0);
    if (root != 0)
        coll_move_to_blocks(b, row(b, 0), root, coll_received, root, p, 0);
}

const xy_coll_algorithm_t coll_gather_binomial_whole = {
    .name = "binomial-whole",
    .collectives = 1u << XY_COLL_GATHER,
    .formula = "n c + ceil(lg p) a + (p-1) n b; root not 0: + p n c",
    .describe = "one tree, each subtree in one message; the root puts blocks in order",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
