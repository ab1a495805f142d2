/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Phases that several algorithms have.
 *
 * The binomial tree: node v > 0 hangs below v without its lowest bit; that bit, counted from 1, is
 * its level. Eight nodes, levels 1 to 3:
 *
 *   0 <- 1   0 <- 2 <- 3   0 <- 4 <- 5   4 <- 6 <- 7        (1, 3, 5, 7: level 1; 2, 6: 2; 4: 3)
 */
#include "coll/build.h"

static int real_rank(const coll_build_t *b, int node, int root)
{
    return (node + root) % b->p;
}

/* The value of a node before round `level`: its input until a first child came. */
static xy_spot_t value(const coll_build_t *b, int node, int level, int root, xy_spot_t result)
{
    if (level == 1 || node + 1 >= b->p)
        return coll_input(b, real_rank(b, node, root));
    return node == 0 ? result : coll_place(real_rank(b, node, root), COLL_TEMPORARY, 0);
}

void coll_phase_reduce(coll_build_t *b, int root, xy_spot_t result)
{
    int height = coll_log2_ceil(b->p);

    if (b->p == 1)
        coll_move(b, coll_input(b, root), result, b->bytes, 0);
    for (int level = 1; level <= height; level++) {
        int step = 1 << (level - 1);

        /* Data from a higher node is the right operand. */
        for (int v = step; v < b->p; v += 2 * step)
            coll_combine(b, value(b, v, level, root, result),
                         value(b, v - step, level, root, result),
                         value(b, v - step, level + 1, root, result), b->bytes, false, level);
    }
}

void coll_phase_bcast(coll_build_t *b, int root)
{
    for (int level = coll_log2_ceil(b->p); level >= 1; level--) {
        int step = 1 << (level - 1);

        for (int v = step; v < b->p; v += 2 * step)
            coll_move(b, coll_place(real_rank(b, v - step, root), XY_BUFFER_RECEIVE, 0),
                      coll_place(real_rank(b, v, root), XY_BUFFER_RECEIVE, 0), b->bytes, level);
    }
}

/* ---- Groups of a power of two ---- */

void coll_phase_fold(coll_build_t *b, const coll_group_t *g, coll_acc_fn acc)
{
    for (int i = 0; i < g->extra; i++) {
        int keeper = coll_group_rank(g, i), other = coll_group_other(g, i);

        coll_combine(b, coll_input(b, other), coll_input(b, keeper), acc(b, keeper), b->bytes,
                     other < keeper, 0);
    }
}

/* The range of parts that a member is about after `rounds` rounds of halving: in round t the lower
 * half goes to the member without bit t. */
static void halved(const coll_group_t *g, int member, int rounds, int *first_p, int *count_p)
{
    int first = 0, count = g->size;

    for (int t = 0; t < rounds; t++) {
        count /= 2;
        if ((member >> t & 1) != 0)
            first += count;
    }
    *first_p = first;
    *count_p = count;
}

static void bytes_of_halved(const coll_build_t *b, const coll_group_t *g, int member, int rounds,
                            uint64_t *begin_p, uint64_t *bytes_p)
{
    int first, count;

    halved(g, member, rounds, &first, &count);
    *begin_p = coll_part_begin(b->q, g->size, first);
    *bytes_p = coll_part_begin(b->q, g->size, first + count) - *begin_p;
}

/* The data of a member before round t. */
static xy_spot_t held(const coll_build_t *b, const coll_group_t *g, int member, int t,
                      coll_acc_fn acc)
{
    int rank = coll_group_rank(g, member);

    return t == 0 && member >= g->extra ? coll_input(b, rank) : acc(b, rank);
}

/* No rank writes what its partner reads in the same round: they keep different halves. */
void coll_phase_halve(coll_build_t *b, const coll_group_t *g, coll_acc_fn acc)
{
    for (int t = 0; t < g->rounds; t++)
        for (int i = 0; i < g->size; i++) {
            int partner = i ^ 1 << t;
            uint64_t begin, bytes;

            bytes_of_halved(b, g, i, t + 1, &begin, &bytes);
            coll_combine(b, coll_shift(held(b, g, partner, t, acc), begin),
                         coll_shift(held(b, g, i, t, acc), begin),
                         coll_shift(acc(b, coll_group_rank(g, i)), begin), bytes, partner < i, 0);
        }
}

void coll_phase_halved_move(coll_build_t *b, const coll_group_t *g, int member, int rounds,
                            xy_spot_t from, xy_spot_t to)
{
    uint64_t begin, bytes;

    bytes_of_halved(b, g, member, rounds, &begin, &bytes);
    coll_move(b, coll_shift(from, begin), coll_shift(to, begin), bytes, 0);
}

double coll_cost_fold(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_group(q->procs, -1).extra > 0 ? coll_reduced(l, coll_vector_bytes(q)) : 0.0;
}

/* One pass of halving or doubling: lg p' messages, (p' - 1) / p' of the bytes. */
double coll_cost_halve(const xy_coll_request_t *q, const xy_coll_link_t *l, double per_byte)
{
    coll_group_t g = coll_group(q->procs, -1);

    return g.rounds * l->alpha + (g.size - 1.0) / g.size * coll_vector_bytes(q) * per_byte;
}
