/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barrier, recursive doubling.                   Cost = lg p a; p no power of two: 2 a more
 *
 * Partners at distance 1, 2, 4, ... signal each other. When p is no power of two, with `size` the
 * next below, rank size + i signals rank i first and is signalled by it in the end. p = 3:
 *   2->0, 0<->1, 0->2
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return (coll_log2_floor(q->procs) + (coll_is_power(q->procs) ? 0 : 2)) * l->alpha;
}

static void exchange(coll_build_t *b, int i, int j)
{
    xy_op_id_t there = coll_tell(b, i, j), back = coll_tell(b, j, i);

    coll_order(b, b->mark[i], there);
    coll_order(b, b->mark[j], there);
    coll_order(b, b->mark[i], back);
    coll_order(b, b->mark[j], back);
    b->mark[i] = back;
    b->mark[j] = there;
}

static void build(coll_build_t *b)
{
    int size = 1 << coll_log2_floor(b->p);

    for (int r = size; r < b->p; r++)
        coll_tell_next(b, r, r - size);
    for (int step = 1; step < size; step *= 2)
        for (int r = 0; r < size; r++)
            if ((r & step) == 0)
                exchange(b, r, r | step);
    for (int r = size; r < b->p; r++)
        coll_tell_next(b, r - size, r);
}

const xy_coll_algorithm_t coll_barrier_recursive_doubling = {
    .name = "recursive-doubling",
    .collectives = 1u << XY_COLL_BARRIER,
    .formula = "lg p a; p no power of 2: p rounded down, + 2a",
    .describe = "partners signal each other, log2(p) rounds",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
