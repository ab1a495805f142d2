/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter, mirrored butterfly.            Cost = p n c + lg p a + (p-1) n (b + g)
 *
 * For powers of two and equal blocks. Every rank copies its blocks so that block i is at the place
 * whose number has the bits of i in reverse; then partners at distance 1, 2, 4, ... split what they
 * are about, each adding up the half of its bit, and end with their own block. Sums are of
 * consecutive ranks: the operation need not commute. n is one block. p = 4, blocks ABCD as ACBD:
 *   0,1 and 2,3: AC|BD     0,2: A|C and 1,3: B|D
 */
#include "coll/build.h"

static bool applicable(const xy_coll_request_t *q)
{
    for (int i = 1; q->collective == XY_COLL_REDUCE_SCATTER && i < q->procs; i++)
        if (q->counts[i] != q->counts[0])
            return false;
    return coll_is_power(q->procs);
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_cost_largest(q);
    int p = q->procs;

    if (p == 1)
        return n * l->copy;
    return p * n * l->copy + coll_log2_floor(p) * l->alpha + (p - 1) * n * (l->beta + l->gamma);
}

static int reversed(int i, int bits)
{
    int same = 0;

    for (int t = 0; t < bits; t++)
        same |= (i >> t & 1) << (bits - 1 - t);
    return same;
}

/* Add round t: each rank reduces half of its blocks; the last round writes the result. */
static void halve(coll_build_t *b, int t, uint64_t block)
{
    int count = b->p >> (t + 1);

    for (int i = 0; i < b->p; i++) {
        int partner = i ^ 1 << t, first = 0;
        uint64_t at;
        bool is_last = count == 1;

        for (int k = 0; k <= t; k++)
            first += (i >> k & 1) != 0 ? b->p >> (k + 1) : 0;
        at = (uint64_t)first * block;
        coll_combine(b, coll_place(partner, COLL_TEMPORARY, at), coll_place(i, COLL_TEMPORARY, at),
                     is_last ? coll_place(i, XY_BUFFER_RECEIVE, 0)
                             : coll_place(i, COLL_TEMPORARY, at),
                     (uint64_t)count * block, partner < i, 0);
    }
}

/* Add the copies in mirrored order and the halving rounds to the graph. */
static void build(coll_build_t *b)
{
    int bits = coll_log2_floor(b->p);
    uint64_t block = b->start[1];

    if (b->p == 1)
        coll_move(b, coll_input(b, 0), coll_place(0, XY_BUFFER_RECEIVE, 0), block, 0);
    for (int r = 0; r < b->p && b->p > 1; r++)
        for (int i = 0; i < b->p; i++)
            coll_move(b, coll_shift(coll_input(b, r), (uint64_t)i * block),
                      coll_place(r, COLL_TEMPORARY, (uint64_t)reversed(i, bits) * block), block, 0);
    for (int t = 0; t < bits; t++)
        halve(b, t, block);
}

const xy_coll_algorithm_t coll_reduce_scatter_mirrored = {
    .name = "mirrored",
    .collectives = 1u << XY_COLL_REDUCE_SCATTER | 1u << XY_COLL_REDUCE_SCATTER_BLOCK,
    .formula = "p n c + lg p a + (p-1) n (b + g)",
    .describe = "blocks in mirrored order, then halving that keeps the order of ranks",
    .needs = "a power of two of ranks and equal blocks",
    .is_foreign = true,
    .applicable = applicable,
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
