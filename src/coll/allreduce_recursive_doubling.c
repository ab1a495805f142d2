/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduce, recursive doubling.                 Cost = lg p * (a + n (b + g))     for a power of
 * two
 *
 * Partners at distance 1, 2, 4, ... read each other's sum and both add the two up. p = 4:
 *   round 0: 0<->1 2<->3     round 1: 0<->2 1<->3
 *
 * The partner still reads the old sum while the new one is written, so sums alternate between two
 * temporaries; the last goes into the result. When p is no power of two the first pairs fold into
 * one member each and get the result in the end: 2 a + n (2 b + g) more. Sums are of consecutive
 * ranks: the operation need not commute.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q);
    coll_group_t g = coll_group(q->procs, -1);

    if (q->procs == 1)
        return n * l->copy;
    return g.rounds * coll_reduced(l, n) + coll_cost_fold(q, l) +
           (g.extra > 0 ? coll_message(l, n) : 0.0);
}

static xy_spot_t folded(const coll_build_t *b, int rank)
{
    (void)b;
    return coll_place(rank, COLL_TEMPORARY, 0);
}

/* The sum of a member before round t. */
static xy_spot_t sum(const coll_build_t *b, const coll_group_t *g, int member, int t)
{
    int rank = coll_group_rank(g, member);

    if (t == 0 && member >= g->extra)
        return coll_input(b, rank);
    if (t == g->rounds)
        return coll_place(rank, XY_BUFFER_RECEIVE, 0);
    return coll_place(rank, COLL_TEMPORARY + t % 2, 0);
}

/* Add the fold, the exchanges of lg p rounds and the unfold to the graph. */
static void build(coll_build_t *b)
{
    coll_group_t g = coll_group(b->p, -1);

    if (b->p == 1)
        coll_move(b, coll_input(b, 0), coll_place(0, XY_BUFFER_RECEIVE, 0), b->bytes, 0);
    coll_phase_fold(b, &g, folded);
    for (int t = 0; t < g.rounds; t++)
        for (int i = 0; i < g.size; i++) {
            int partner = i ^ 1 << t;

            coll_combine(b, sum(b, &g, partner, t), sum(b, &g, i, t), sum(b, &g, i, t + 1),
                         b->bytes, partner < i, 0);
        }
    for (int i = 0; i < g.extra; i++)
        coll_move(b, coll_place(coll_group_rank(&g, i), XY_BUFFER_RECEIVE, 0),
                  coll_place(coll_group_other(&g, i), XY_BUFFER_RECEIVE, 0), b->bytes, 0);
}

/* With one round only, the result replaces what the partner still has to read. */
static bool keeps_input(const xy_coll_request_t *q)
{
    return q->procs == 1 || q->procs >= 4;
}

const xy_coll_algorithm_t coll_allreduce_recursive_doubling = {
    .name = "recursive-doubling",
    .collectives = 1u << XY_COLL_ALLREDUCE,
    .formula = "lg p (a + n (b + g)); p no power of 2: p rounded down, + 2a + n (2b + g)",
    .describe = "partners exchange their sums, log2(p) rounds; best for short vectors",
    .cost = cost,
    .build = build,
    .keeps_input = keeps_input,
};
