/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduce as reduce-scatter and allgather, pairs folding by halves.
 *                    Cost = 2 lg p a + (p-1)/p n (2 b + g)        for a power of two
 *
 * As `rabenseifner`, but see phase_halves.c: when p is no power of two, pairs fold by halves, for
 * 3 a + n (2 b + g/2) more with the result that the odd rank gets in the end. Sums are of
 * consecutive ranks: the operation need not commute.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q);

    if (q->procs == 1)
        return n * l->copy;
    return coll_cost_halves(q, l) + coll_cost_halve(q, l, l->beta + l->gamma) +
           coll_cost_halve(q, l, l->beta) + (coll_is_power(q->procs) ? 0.0 : coll_message(l, n));
}

static xy_spot_t acc(const coll_build_t *b, int rank)
{
    (void)b;
    return coll_place(rank, XY_BUFFER_RECEIVE, 0);
}

/* Add the reduction by halves, the doubling rounds and the results of odd ranks to the graph. */
static void build(coll_build_t *b)
{
    coll_group_t g = coll_group(b->p, b->p); /* the even ranks of pairs are the keepers */

    if (b->p == 1)
        coll_move(b, coll_input(b, 0), acc(b, 0), b->bytes, 0);
    coll_halves_reduce(b, &g, acc);
    for (int t = g.rounds - 1; t >= 0; t--)
        for (int i = 0; i < g.size; i++)
            coll_halves_move(b, acc, i ^ 1 << t, t + 1, coll_group_rank(&g, i ^ 1 << t),
                             coll_group_rank(&g, i));
    for (int i = 0; i < g.extra; i++)
        coll_move(b, acc(b, 2 * i), acc(b, 2 * i + 1), b->bytes, 0);
}

/* In pairs each rank overwrites the half that the other one still has to read. */
static bool keeps_input(const xy_coll_request_t *q)
{
    return coll_is_power(q->procs);
}

const xy_coll_algorithm_t coll_allreduce_rabenseifner_halves = {
    .name = "rabenseifner-halves",
    .collectives = 1u << XY_COLL_ALLREDUCE,
    .formula =
        "2 lg p a + (p-1)/p n (2b + g); p no power of 2: p rounded down, + 3a + n (2b + g/2)",
    .describe = "as rabenseifner, cut by halves; pairs fold by halves",
    .needs = "at least one element per rank, p rounded down to a power of 2",
    .is_foreign = true,
    .applicable = coll_has_element_per_member,
    .cost = cost,
    .build = build,
    .keeps_input = keeps_input,
};
