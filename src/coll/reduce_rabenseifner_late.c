/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce as reduce-scatter and gather, where the even rank of a pair continues.
 *                    Cost = 2 lg p a + (p-1)/p n (2 b + g)        for a power of two
 *
 * As `rabenseifner`, but when p is no power of two, the even rank of each pair that folds
 * continues, whatever the root. A root that is an odd rank of a pair gets the part of rank 0 and
 * takes its place in the gather, for a + n/p' b more, p' being the power of two.
 * `rabenseifner-even`: a pair folds the whole vector, for a + n (b + g) more.
 * `rabenseifner-halves`: it folds by halves, and ranges are cut by halves, see phase_halves.c, for
 * 2 a + n (b + g/2) more. The operation need not commute.
 */
#include "coll/build.h"

static bool is_late(const xy_coll_request_t *q, const coll_group_t *g)
{
    return q->root < 2 * g->extra && q->root % 2 != 0;
}

static double cost_of(const xy_coll_request_t *q, const xy_coll_link_t *l, double fold)
{
    coll_group_t g = coll_group(q->procs, q->procs);
    double n = coll_vector_bytes(q);

    if (q->procs == 1)
        return n * l->copy;
    return fold + coll_cost_halve(q, l, l->beta + l->gamma) + coll_cost_halve(q, l, l->beta) +
           (is_late(q, &g) ? coll_message(l, n / g.size) : 0.0);
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

static void move(coll_build_t *b, const coll_group_t *g, bool is_halved, int member, int rounds,
                 int from, int to)
{
    if (is_halved)
        coll_halves_move(b, acc, member, rounds, from, to);
    else
        coll_phase_halved_move(b, g, member, rounds, acc(b, from), acc(b, to));
}

/* Add the stages of `rabenseifner-even`, or of `rabenseifner-halves` if `is_halved`, to the graph.
 * */
static void build_of(coll_build_t *b, bool is_halved)
{
    coll_group_t g = coll_group(b->p, b->p); /* the even ranks of pairs are the keepers */
    int root = is_late(b->q, &g) ? 0 : coll_group_member(&g, b->q->root);

    if (b->p == 1)
        coll_move(b, coll_input(b, 0), acc(b, 0), b->bytes, 0);
    if (is_halved) {
        coll_halves_reduce(b, &g, acc);
    } else {
        coll_phase_fold(b, &g, acc);
        coll_phase_halve(b, &g, acc);
    }
    if (is_late(b->q, &g))
        move(b, &g, is_halved, 0, g.rounds, 0, b->q->root);
    for (int t = g.rounds - 1; t >= 0; t--)
        for (int i = 0; i < g.size; i++)
            if ((i ^ root) >> t == 0)
                move(b, &g, is_halved, i ^ 1 << t, t + 1, gatherer(b, &g, i ^ 1 << t),
                     gatherer(b, &g, i));
}

static double cost_whole(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return cost_of(q, l, coll_cost_fold(q, l));
}

static double cost_halves(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return cost_of(q, l, coll_cost_halves(q, l));
}

static void build_whole(coll_build_t *b)
{
    build_of(b, false);
}

static void build_halves(coll_build_t *b)
{
    build_of(b, true);
}

/* In pairs each rank overwrites the half that the other one still has to read. */
static bool keeps_input_halves(const xy_coll_request_t *q)
{
    return coll_is_power(q->procs);
}

const xy_coll_algorithm_t coll_reduce_rabenseifner_even = {
    .name = "rabenseifner-even",
    .collectives = 1u << XY_COLL_REDUCE,
    .formula = "2 lg p a + (p-1)/p n (2b + g); p no power of 2: p rounded down, + a + n (b + g)",
    .describe = "as rabenseifner; the even rank of a folding pair continues, whatever the root",
    .needs = "at least one element per rank, p rounded down to a power of 2",
    .is_foreign = true,
    .applicable = coll_has_element_per_member,
    .cost = cost_whole,
    .build = build_whole,
    .keeps_input = coll_always,
};

const xy_coll_algorithm_t coll_reduce_rabenseifner_halves = {
    .name = "rabenseifner-halves",
    .collectives = 1u << XY_COLL_REDUCE,
    .formula = "2 lg p a + (p-1)/p n (2b + g); p no power of 2: p rounded down, + 2a + n (b + g/2)",
    .describe = "as rabenseifner-even, cut by halves; pairs fold by halves",
    .needs = "at least one element per rank, p rounded down to a power of 2",
    .is_foreign = true,
    .applicable = coll_has_element_per_member,
    .cost = cost_halves,
    .build = build_halves,
    .keeps_input = keeps_input_halves,
};
