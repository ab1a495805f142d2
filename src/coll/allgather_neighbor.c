/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgather, neighbour exchange.                 Cost = n c + p/2 a + (p-1) n b
 *
 * p is even. First the ranks of each pair (2i, 2i+1) exchange their blocks. Then, in turn, every
 * rank exchanges with its other neighbour and with the first one again, each time the two blocks
 * that it got last, so that pairs of blocks go around both ways. p = 4, blocks ABCD:
 *   0<->1 2<->3 (one block)     1<->2 3<->0 (AB and CD)
 *
 * Half the rounds of a ring. Two blocks that are not neighbours come in two messages.
 */
#include "coll/build.h"

static bool applicable(const xy_coll_request_t *q)
{
    return q->procs % 2 == 0;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    int p = q->procs, rounds = p / 2 - 1;
    double most = coll_cost_largest(q);

    return most * l->copy + coll_message(l, most) +
           rounds * ((q->receive_offsets != NULL ? 2 : 1) * l->alpha + 2.0 * most * l->beta);
}

/* In round 1, 2, ... rank r takes two blocks from this neighbour, */
static int neighbor(int p, int r, int round)
{
    bool is_right = (r % 2 == 0) == (round % 2 == 0);

    return is_right ? (r + 1) % p : (r + p - 1) % p;
}

/* The blocks are those of the pair that begins here: even ranks alternate between the pair below
 * and the one above, odd ones the other way round. */
static int pair(int p, int r, int round)
{
    int first = r - r % 2, away = (round + 1) / 2 * 2;
    bool is_up = (r % 2 == 0) == (round % 2 == 0);

    return ((is_up ? first + away : first - away) % p + p) % p;
}

static void build(coll_build_t *b)
{
    int p = b->p;

    for (int r = 0; r < p; r++)
        coll_move(b, coll_input(b, r), coll_received(b, r, r), coll_block(b, r), 0);
    for (int r = 0; r < p; r++)
        coll_move(b, coll_input(b, r ^ 1), coll_received(b, r, r ^ 1), coll_block(b, r ^ 1), 0);
    for (int round = 1; round < p / 2; round++)
        for (int r = 0; r < p; r++)
            coll_move_blocks(b, neighbor(p, r, round), r, pair(p, r, round), 2);
}

const xy_coll_algorithm_t coll_allgather_neighbor = {
    .name = "neighbor-exchange",
    .collectives = 1u << XY_COLL_ALLGATHER | 1u << XY_COLL_ALLGATHERV,
    .formula = "n c + p/2 a + (p-1) n b",
    .describe = "pairs of blocks go around both ways; half the rounds of a ring",
    .needs = "an even number of ranks",
    .is_foreign = true,
    .applicable = applicable,
    .cost = cost,
    .build = build,
};
