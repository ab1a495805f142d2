/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter, butterfly (Traeff).            Cost = (lg p + 1) a + (p-1) n (b + g) + n b
 *                                                for a power of two; else counted
 *
 * Partners at distance 1, 2, 4, ... split what they are about: each adds up the half of its bit. So
 * sums are of consecutive ranks, and the operation need not commute; but rank r ends with the block
 * whose number has the bits of r in reverse, and sends it where it belongs. n is one block. p = 4,
 * blocks ABCD: 0,1 and 2,3: AB|CD     0,2: A|B and 1,3: C|D     1-C->2 2-B->1
 *
 * When p is no power of two the first pairs fold into their odd rank each, which is about both
 * blocks in the end.
 */
#include "coll/build.h"
#include "coll/list.h"

/* The first rank of a member. */
static int bound(const coll_group_t *g, int member)
{
    return member < g->extra ? 2 * member : member + g->extra;
}

static int reversed(const coll_group_t *g, int member)
{
    int same = 0;

    for (int t = 0; t < g->rounds; t++)
        same |= (member >> t & 1) << (g->rounds - 1 - t);
    return same;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_cost_largest(q), total = coll_cost_total(q);

    if (q->procs == 1)
        return n * l->copy;
    if (!coll_is_power(q->procs) || n * q->procs != total)
        return coll_cost_counted(q, l, &coll_reduce_scatter_butterfly);
    return coll_log2_floor(q->procs) * l->alpha + (total - n) * (l->beta + l->gamma) +
           (q->procs > 2 ? coll_message(l, n) : n * l->copy);
}

static xy_spot_t held(const coll_build_t *b, const coll_group_t *g, int member, int t)
{
    int rank = coll_group_rank(g, member);

    return t == 0 && member >= g->extra ? coll_input(b, rank) : coll_place(rank, COLL_TEMPORARY, 0);
}

/* Add the rounds of the butterfly: in each, a member reduces the half of its blocks that its bit
 * selects. */
static void halve(coll_build_t *b, const coll_group_t *g)
{
    for (int t = 0; t < g->rounds; t++)
        for (int i = 0; i < g->size; i++) {
            int partner = i ^ 1 << t, count = g->size >> (t + 1), first = 0;
            uint64_t at, bytes;

            for (int k = 0; k <= t; k++)
                first += (i >> k & 1) != 0 ? g->size >> (k + 1) : 0;
            at = b->start[bound(g, first)];
            bytes = b->start[bound(g, first + count)] - at;
            coll_combine(
                b, coll_shift(held(b, g, partner, t), at), coll_shift(held(b, g, i, t), at),
                coll_place(coll_group_rank(g, i), COLL_TEMPORARY, at), bytes, partner < i, 0);
        }
}

/* Add the fold, the butterfly and the moves of the blocks to their owners to the graph. */
static void build(coll_build_t *b)
{
    coll_group_t g = coll_group(b->p, -1);

    if (b->p == 1)
        coll_move(b, coll_input(b, 0), coll_place(0, XY_BUFFER_RECEIVE, 0), b->start[1], 0);
    for (int i = 0; i < g.extra; i++)
        coll_combine(b, coll_input(b, 2 * i), coll_input(b, 2 * i + 1),
                     coll_place(2 * i + 1, COLL_TEMPORARY, 0), b->start[b->p], true, 0);
    halve(b, &g);
    for (int i = 0; i < g.size && b->p > 1; i++) {
        int from = coll_group_rank(&g, i), owner = reversed(&g, i);

        for (int r = bound(&g, owner); r < bound(&g, owner + 1); r++)
            coll_move(b, coll_place(from, COLL_TEMPORARY, b->start[r]),
                      coll_place(r, XY_BUFFER_RECEIVE, 0), coll_block(b, r), 0);
    }
}

const xy_coll_algorithm_t coll_reduce_scatter_butterfly = {
    .name = "butterfly",
    .collectives = 1u << XY_COLL_REDUCE_SCATTER | 1u << XY_COLL_REDUCE_SCATTER_BLOCK,
    .formula = "(lg p + 1) a + (p-1) n (b + g) + n b; p no power of 2: counted",
    .describe = "halving that keeps the order of ranks, then blocks go to their ranks",
    .is_foreign = true,
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
