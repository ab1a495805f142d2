/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rabenseifner's reductions as Open MPI has them, for p ranks with a group of 2^k.
 *
 * They differ from those of phase.c in two things. A range of elements is halved, rounded down, in
 * every round, so that the parts of all members are not those of a cut into 2^k. And a pair folds
 * by halves: each of the two adds up one half of the vector, and the odd rank hands its half to the
 * even one, the keeper.
 */
#include "coll/build.h"

/* The part of a member after so many rounds, in bytes. */
typedef struct {
    uint64_t begin, bytes;
} range_t;

static range_t range_of(const coll_build_t *b, int member, int rounds)
{
    uint64_t begin = 0, count = b->q->count;

    for (int t = 0; t < rounds; t++) {
        uint64_t low = count / 2;

        begin += (member >> t & 1) != 0 ? low : 0;
        count = (member >> t & 1) != 0 ? count - low : low;
    }
    return (range_t){begin * b->q->element, count * b->q->element};
}

static void fold(coll_build_t *b, int even, coll_acc_fn acc)
{
    uint64_t low = b->q->count / 2 * b->q->element;
    int odd = even + 1;

    coll_combine(b, coll_input(b, odd), coll_input(b, even), acc(b, even), low, false, 0);
    coll_combine(b, coll_shift(coll_input(b, even), low), coll_shift(coll_input(b, odd), low),
                 coll_shift(acc(b, odd), low), b->bytes - low, true, 0);
    coll_move(b, coll_shift(acc(b, odd), low), coll_shift(acc(b, even), low), b->bytes - low, 0);
}

/* The data of a member before round t. */
static xy_spot_t held(const coll_build_t *b, const coll_group_t *g, int member, int t,
                      coll_acc_fn acc)
{
    int rank = coll_group_rank(g, member);

    return t == 0 && member >= g->extra ? coll_input(b, rank) : acc(b, rank);
}

/* As coll_phase_halve: no rank writes what its partner reads in the same round. */
void coll_halves_reduce(coll_build_t *b, const coll_group_t *g, coll_acc_fn acc)
{
    for (int i = 0; i < g->extra; i++)
        fold(b, 2 * i, acc);
    for (int t = 0; t < g->rounds; t++)
        for (int i = 0; i < g->size; i++) {
            int partner = i ^ 1 << t;
            range_t r = range_of(b, i, t + 1);

            coll_combine(b, coll_shift(held(b, g, partner, t, acc), r.begin),
                         coll_shift(held(b, g, i, t, acc), r.begin),
                         coll_shift(acc(b, coll_group_rank(g, i)), r.begin), r.bytes, partner < i,
                         0);
        }
}

void coll_halves_move(coll_build_t *b, coll_acc_fn acc, int member, int rounds, int from, int to)
{
    range_t r = range_of(b, member, rounds);

    coll_move(b, coll_shift(acc(b, from), r.begin), coll_shift(acc(b, to), r.begin), r.bytes, 0);
}

double coll_cost_halves(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double half = coll_vector_bytes(q) / 2;

    return coll_is_power(q->procs) ? 0.0 : coll_reduced(l, half) + coll_message(l, half);
}
