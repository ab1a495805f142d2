/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast as scatter and recursive doubling.
 *                    Cost = 2 (lg p a + (p-1)/p n b)              for a power of two; else counted
 *
 * The vector is cut into p parts of ceil(count / p) elements; the last ones may be short or empty.
 * A binomial tree scatters them; then partners at distance 1, 2, 4, ... give each other all they
 * have. p = 4: 0->2 (parts 2 3), 0->1 2->3; 0<->1 2<->3 (one part), 0<->2 1<->3 (two parts)
 *
 * When p is no power of two, the nodes of a full subtree that have no partner in the one above it
 * get its parts from those that do, by halving the distance. p = 3, round 2: 0<->2, then 0->1.
 */
#include "coll/build.h"
#include "coll/list.h"

static uint64_t begin_of(const coll_build_t *b, int part)
{
    uint64_t p = (uint64_t)b->p, each = (b->q->count + p - 1) / p * b->q->element;
    uint64_t at = each * (uint64_t)part;

    return at < b->bytes ? at : b->bytes;
}

/* Parts [first, end) as far as there are any. */
static void move_parts(coll_build_t *b, int from, int to, int first, int end)
{
    uint64_t begin = begin_of(b, first);
    int root = b->q->root;

    coll_move(b, coll_place((from + root) % b->p, XY_BUFFER_RECEIVE, begin),
              coll_place((to + root) % b->p, XY_BUFFER_RECEIVE, begin),
              begin_of(b, end < b->p ? end : b->p) - begin, 0);
}

static void scatter(coll_build_t *b)
{
    for (int step = 1 << coll_log2_ceil(b->p) >> 1; step >= 1; step /= 2)
        for (int v = step; v < b->p; v += 2 * step)
            move_parts(b, v - step, v, v, v + step);
}

/* The parts from `upper` on go to the nodes below it that had no partner among `there` nodes. */
static void pass_on(coll_build_t *b, int lower, int upper, int there)
{
    int step = upper - lower;

    for (int half = step / 2; half >= 1; half /= 2)
        for (int v = lower; v < upper; v++) {
            int to = v ^ half, tree = v & ~(2 * half - 1);

            if (to > v && v < tree + there && to >= tree + there)
                move_parts(b, v, to, upper, upper + step);
        }
}

static void double_up(coll_build_t *b, int step)
{
    for (int v = 0; v < b->p; v++) {
        int partner = v ^ step, first = partner & ~(step - 1);

        if (partner < b->p)
            move_parts(b, partner, v, first, first + step);
    }
    for (int lower = 0; lower + step < b->p; lower += 2 * step)
        if (lower + 2 * step > b->p)
            pass_on(b, lower, lower + step, b->p - lower - step);
}

static void build(coll_build_t *b)
{
    scatter(b);
    for (int step = 1; step < b->p; step *= 2)
        double_up(b, step);
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q), p = q->procs;

    if (!coll_is_power(q->procs) || q->count % (uint64_t)q->procs != 0)
        return coll_cost_counted(q, l, &coll_bcast_scatter_doubling);
    return 2.0 * (coll_log2_ceil(q->procs) * l->alpha + (p - 1) / p * n * l->beta);
}

const xy_coll_algorithm_t coll_bcast_scatter_doubling = {
    .name = "scatter-doubling",
    .collectives = 1u << XY_COLL_BCAST,
    .formula = "2 (lg p a + (p-1)/p n b) for a power of two; else counted",
    .describe = "a tree scatters parts, recursive doubling collects them",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
