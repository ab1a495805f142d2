/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter, recursive halving.             Cost = lg p a + (p-1) n (b + g)   for a power of
 * two
 *
 * Partners at distance p/2, p/4, ... 1 split what they are about: each adds up the half with its
 * own block. n is one block. p = 4, blocks ABCD: round 0: 0,2 and 1,3: AB|CD     round 1: 0,1: A|B
 * and 2,3: C|D
 *
 * When p is no power of two the first pairs fold into one member each, which is about both blocks
 * and hands one over in the end: 2 a + p n (b + g) + n b more. Sums are not of consecutive ranks:
 * the operation must commute.
 */
#include "coll/build.h"

/* The first rank of a member. */
static int bound(const coll_group_t *g, int member)
{
    return member < g->extra ? 2 * member : member + g->extra;
}

static double bytes_of(const xy_coll_request_t *q, const coll_group_t *g, int first, int count)
{
    double sum = 0.0;

    for (int i = bound(g, first); i < bound(g, first + count); i++)
        sum += coll_cost_block(q, i);
    return sum;
}

/* Seconds that the collective takes; each round lasts as long as its largest message. */
static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    coll_group_t g = coll_group(q->procs, -1);
    double sum = 0.0;

    if (q->procs == 1)
        return coll_cost_block(q, 0) * l->copy;
    for (int half = g.size / 2; half >= 1; half /= 2) {
        double most = 0.0;

        for (int i = 0; i < g.size; i += half) {
            double bytes = bytes_of(q, &g, i, half);

            most = bytes > most ? bytes : most;
        }
        sum += coll_reduced(l, most);
    }
    if (g.extra > 0)
        sum += coll_reduced(l, coll_cost_total(q)) + coll_message(l, coll_cost_largest(q));
    return sum;
}

/* The sum that a member has before or after its first round; `first` is the offset looked at. */
static xy_spot_t held(const coll_build_t *b, const coll_group_t *g, int member, int half,
                      uint64_t offset)
{
    int rank = coll_group_rank(g, member);
    bool is_input = half == g->size / 2 && member >= g->extra;

    return coll_shift(is_input ? coll_input(b, rank) : coll_place(rank, COLL_TEMPORARY, 0), offset);
}

/* Add the round of distance `half`: each member reduces the half of its blocks with its own block.
 * */
static void round_of(coll_build_t *b, const coll_group_t *g, int half)
{
    for (int i = 0; i < g->size; i++) {
        int partner = i ^ half, first = i & ~(half - 1);
        uint64_t begin = b->start[bound(g, first)];
        uint64_t bytes = b->start[bound(g, first + half)] - begin;
        int rank = coll_group_rank(g, i);
        xy_spot_t to = half == 1 && i >= g->extra ? coll_place(rank, XY_BUFFER_RECEIVE, 0)
                                                  : coll_place(rank, COLL_TEMPORARY, begin);

        coll_combine(b, held(b, g, partner, half, begin), held(b, g, i, half, begin), to, bytes,
                     partner < i, 0);
    }
}

/* Add the fold, the halving rounds and the blocks of folded pairs to the graph. */
static void build(coll_build_t *b)
{
    coll_group_t g = coll_group(b->p, -1);

    if (b->p == 1)
        coll_move(b, coll_input(b, 0), coll_place(0, XY_BUFFER_RECEIVE, 0), b->start[1], 0);
    for (int i = 0; i < g.extra; i++)
        coll_combine(b, coll_input(b, 2 * i), coll_input(b, 2 * i + 1),
                     coll_place(2 * i + 1, COLL_TEMPORARY, 0), b->start[b->p], true, 0);
    for (int half = g.size / 2; half >= 1; half /= 2)
        round_of(b, &g, half);
    for (int r = 0; r < 2 * g.extra; r++)
        coll_move(b, coll_place(r | 1, COLL_TEMPORARY, b->start[r]),
                  coll_place(r, XY_BUFFER_RECEIVE, 0), coll_block(b, r), 0);
}

/* With one round only, the result replaces what the partner still has to read. */
static bool keeps_input(const xy_coll_request_t *q)
{
    return q->procs >= 4;
}

const xy_coll_algorithm_t coll_reduce_scatter_halving = {
    .name = "halving",
    .collectives = 1u << XY_COLL_REDUCE_SCATTER | 1u << XY_COLL_REDUCE_SCATTER_BLOCK,
    .formula = "lg p a + (p-1) n (b + g); p no power of 2: about 2a + p n (b + g) + n b more",
    .describe = "recursive halving, log2(p) rounds; best for short blocks",
    .needs = "an operation that commutes",
    .applicable = coll_commutes,
    .cost = cost,
    .build = build,
    .keeps_input = keeps_input,
};
