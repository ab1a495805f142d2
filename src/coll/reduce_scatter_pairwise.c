/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter, pairwise.                      Cost = (p-1) (a + n (b + g))
 *
 * In round s every rank takes its block from the rank s below it (wrapping) and adds it. n is one
 * block. p = 3:
 *   round 1: 0<-2 1<-0 2<-1     round 2: 0<-1 1<-2 2<-0
 *
 * So rank r adds r-1, r-2, ... 0 on the left of its own, then, wrapping, p-1, p-2, ... When the
 * operation does not commute, these are added up apart, each on the left of the last, and are added
 * on the right of the rest in the end, for n (c + g) more (p > 2).
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double most = coll_cost_largest(q);

    if (q->procs == 1)
        return most * l->copy;
    return (q->procs - 1) * coll_reduced(l, most) +
           (!q->is_commutative && q->procs > 2 ? most * (l->copy + l->gamma) : 0.0);
}

/* Rank r takes its block from `from`. */
static void take(coll_build_t *b, int r, int round)
{
    int from = (r - round + b->p) % b->p;
    uint64_t begin = b->start[r], bytes = coll_block(b, r);
    xy_spot_t theirs = coll_shift(coll_input(b, from), begin);
    xy_spot_t sum = coll_place(r, XY_BUFFER_RECEIVE, 0), high = coll_place(r, COLL_TEMPORARY, 0);
    xy_spot_t own = round == 1 ? coll_shift(coll_input(b, r), begin) : sum;

    if (b->q->is_commutative || from < r)
        coll_combine(b, theirs, own, sum, bytes, true, 0);
    else if (r == b->p - 2) /* there is but one on the right */
        coll_combine(b, theirs, own, sum, bytes, false, 0);
    else if (from == b->p - 1)
        coll_move(b, theirs, high, bytes, 0);
    else
        coll_combine(b, theirs, high, high, bytes, true, 0);
}

/* Add the p - 1 rounds and, for operations that do not commute, the join of the two partial sums.
 * */
static void build(coll_build_t *b)
{
    int p = b->p;

    for (int round = 1; round < p; round++)
        for (int r = 0; r < p; r++)
            take(b, r, round);
    for (int r = 0; r < p; r++) {
        xy_spot_t own = coll_shift(coll_input(b, r), b->start[r]);
        xy_spot_t sum = coll_place(r, XY_BUFFER_RECEIVE, 0);

        if (p == 1)
            coll_move(b, own, sum, coll_block(b, r), 0);
        else if (!b->q->is_commutative && r < p - 2)
            coll_combine(b, coll_place(r, COLL_TEMPORARY, 0), r == 0 ? own : sum, sum,
                         coll_block(b, r), false, 0);
    }
}

const xy_coll_algorithm_t coll_reduce_scatter_pairwise = {
    .name = "pairwise",
    .collectives = 1u << XY_COLL_REDUCE_SCATTER | 1u << XY_COLL_REDUCE_SCATTER_BLOCK,
    .formula = "(p-1) (a + n (b + g))",
    .describe = "every rank receives and adds its block from each rank; best for long blocks",
    .cost = cost,
    .build = build,
};
