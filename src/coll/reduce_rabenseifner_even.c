/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce as reduce-scatter and gather, where the even rank of a pair goes on.
 *                    Cost = 2 lg p a + (p-1)/p n (2 b + g)        for a power of two
 *
 * As `rabenseifner`, but when p is no power of two, the even rank of each pair that folds goes on,
 * whoever the root is (a + n (b + g) more). A root that is an odd rank of a pair gets the part of
 * rank 0 and takes its place in the gather, for a + n/p' b more, p' being the power of two.
 */
#include "coll/build.h"

static bool is_late(const xy_coll_request_t *q, const coll_group_t *g)
{
    return q->root < 2 * g->extra && q->root % 2 != 0;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    coll_group_t g = coll_group(q->procs, q->procs);
    double n = coll_vector_bytes(q);

    if (q->procs == 1)
        return n * l->copy;
    return coll_cost_fold(q, l) + coll_cost_halve(q, l, l->beta + l->gamma) +
           coll_cost_halve(q, l, l->beta) + (is_late(q, &g) ? coll_message(l, n / g.size) : 0.0);
}

static xy_spot_t acc(const coll_build_t *b, int rank)
{
    return coll_place(rank, rank == b->q->root ? XY_BUFFER_RECEIVE : COLL_TEMPORARY, 0);
}

/* The rank that acts for a member in the gather. */
static int gatherer(const coll_build_t *b, const coll_group_t *g, int member)
{
    return member == 0 && is_late(b->q, g) ? b->q->root : coll_group_rank(g, member);
}

static void build(coll_build_t *b)
{
    coll_group_t g = coll_group(b->p, b->p); /* the even ranks of pairs are the keepers */
    int root = is_late(b->q, &g) ? 0 : coll_group_member(&g, b->q->root);

    if (b->p == 1)
        coll_move(b, coll_input(b, 0), acc(b, 0), b->bytes, 0);
    coll_phase_fold(b, &g, acc);
    coll_phase_halve(b, &g, acc);
    if (is_late(b->q, &g))
        coll_phase_halved_move(b, &g, 0, g.rounds, acc(b, 0), acc(b, b->q->root));
    for (int t = g.rounds - 1; t >= 0; t--)
        for (int i = 0; i < g.size; i++)
            if ((i ^ root) >> t == 0)
                coll_phase_halved_move(b, &g, i ^ 1 << t, t + 1,
                                       acc(b, gatherer(b, &g, i ^ 1 << t)),
                                       acc(b, gatherer(b, &g, i)));
}

const xy_coll_algorithm_t coll_reduce_rabenseifner_even = {
    .name = "rabenseifner-even",
    .collectives = 1u << XY_COLL_REDUCE,
    .formula = "2 lg p a + (p-1)/p n (2b + g); p no power of 2: p rounded down, + a + n (b + g)",
    .describe = "as rabenseifner; of pairs that fold the even rank goes on, whoever the root is",
    .needs = "at least one element per rank, p rounded down to a power of 2",
    .is_foreign = true,
    .applicable = coll_has_element_per_member,
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
