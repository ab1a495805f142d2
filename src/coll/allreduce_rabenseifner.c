/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduce as reduce-scatter and allgather (Rabenseifner).
 *                    Cost = 2 lg p a + (p-1)/p n (2 b + g)        for a power of two
 *
 * Partners at distance 1, 2, 4, ... split the vector between them: each adds up one half, and
 * continues with that; then they give each other the halves of the result, the same way back. p =
 * 4, ABCD: round 0: 0,1 and 2,3: AB|CD     round 1: 0 and 2: A|B, 1 and 3: C|D back:    0<->2 1<->3
 * (one part) then 0<->1 2<->3 (two parts)
 *
 * When p is no power of two the first pairs fold into one member each and get the result in the
 * end: 2 a + n (2 b + g) more. Sums are of consecutive ranks: the operation need not commute.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q);

    if (q->procs == 1)
        return n * l->copy;
    return coll_cost_fold(q, l) + coll_cost_halve(q, l, l->beta + l->gamma) +
           coll_cost_halve(q, l, l->beta) +
           (coll_group(q->procs, -1).extra > 0 ? coll_message(l, n) : 0.0);
}

static xy_spot_t acc(const coll_build_t *b, int rank)
{
    (void)b;
    return coll_place(rank, XY_BUFFER_RECEIVE, 0);
}

/* Add the fold, the halving rounds, the doubling rounds and the unfold to the graph. */
static void build(coll_build_t *b)
{
    coll_group_t g = coll_group(b->p, -1);

    if (b->p == 1)
        coll_move(b, coll_input(b, 0), acc(b, 0), b->bytes, 0);
    coll_phase_fold(b, &g, acc);
    coll_phase_halve(b, &g, acc);
    for (int t = g.rounds - 1; t >= 0; t--)
        for (int i = 0; i < g.size; i++)
            coll_phase_halved_move(b, &g, i ^ 1 << t, t + 1,
                                   acc(b, coll_group_rank(&g, i ^ 1 << t)),
                                   acc(b, coll_group_rank(&g, i)));
    for (int i = 0; i < g.extra; i++)
        coll_move(b, acc(b, coll_group_rank(&g, i)), acc(b, coll_group_other(&g, i)), b->bytes, 0);
}

const xy_coll_algorithm_t coll_allreduce_rabenseifner = {
    .name = "rabenseifner",
    .collectives = 1u << XY_COLL_ALLREDUCE,
    .formula = "2 lg p a + (p-1)/p n (2b + g); p no power of 2: p rounded down, + 2a + n (2b + g)",
    .describe = "reduce-scatter by halving, allgather by doubling; best for long vectors",
    .needs = "at least one element per rank, p rounded down to a power of 2",
    .applicable = coll_has_element_per_member,
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
