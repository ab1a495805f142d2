/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce as reduce-scatter and gather (Rabenseifner).
 *                    Cost = 2 lg p a + (p-1)/p n (2 b + g)        for a power of two
 *
 * Partners at distance 1, 2, 4, ... split the vector between them: each adds up one half, and
 * continues with that. In the end each has one part of the result, and the parts go to the root the
 * same way back. p = 4, vector ABCD, root 0: round 0: 0,1 and 2,3: AB|CD     round 1: 0 and 2: A|B,
 * 1 and 3: C|D back:    2->0 (B) 3->1 (D)      then 1->0 (CD)
 *
 * Otherwise the first pairs fold into one member each (a + n (b + g) more), see coll_group. Sums
 * are of consecutive ranks in every round, so the operation need not commute.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    if (q->procs == 1)
        return coll_vector_bytes(q) * l->copy;
    return coll_cost_fold(q, l) + coll_cost_halve(q, l, l->beta + l->gamma) +
           coll_cost_halve(q, l, l->beta);
}

static xy_spot_t acc(const coll_build_t *b, int rank)
{
    return coll_place(rank, rank == b->q->root ? XY_BUFFER_RECEIVE : COLL_TEMPORARY, 0);
}

/* Add the fold, the halving rounds and the gather of the parts at the root to the graph. */
static void build(coll_build_t *b)
{
    coll_group_t g = coll_group(b->p, b->q->root);
    int root = coll_group_member(&g, b->q->root);

    if (b->p == 1)
        coll_move(b, coll_input(b, 0), acc(b, 0), b->bytes, 0);
    coll_phase_fold(b, &g, acc);
    coll_phase_halve(b, &g, acc);
    for (int t = g.rounds - 1; t >= 0; t--)
        for (int i = 0; i < g.size; i++)
            if ((i ^ root) >> t == 0)
                coll_phase_halved_move(b, &g, i ^ 1 << t, t + 1,
                                       acc(b, coll_group_rank(&g, i ^ 1 << t)),
                                       acc(b, coll_group_rank(&g, i)));
}

const xy_coll_algorithm_t coll_reduce_rabenseifner = {
    .name = "rabenseifner",
    .collectives = 1u << XY_COLL_REDUCE,
    .formula = "2 lg p a + (p-1)/p n (2b + g); p no power of 2: p rounded down, + a + n (b + g)",
    .describe = "reduce-scatter by halving, then gather; best for long vectors",
    .needs = "at least one element per rank, p rounded down to a power of 2",
    .applicable = coll_has_element_per_member,
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
