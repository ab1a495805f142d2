/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce, linear.                                Cost = (p-1) (a + n (b + g))
 *
 * The root takes the vectors one after the other, from the last rank down to rank 0, each the left
 * operand. Its own comes in its turn: when that is not among the first two, one vector is copied
 * and the own one added in between, for n c more in all. p = 4, root 0: 0<-3 0<-2 0<-1, own
 */
#include "coll/build.h"

/* Is the root's own vector among the first two, and so the operand of the first sum? */
static bool is_early(const xy_coll_request_t *q)
{
    return q->root >= q->procs - 2;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q);

    if (q->procs == 1)
        return n * l->copy;
    if (is_early(q))
        return (q->procs - 1) * coll_reduced(l, n);
    return coll_message(l, n) + (q->procs - 2) * coll_reduced(l, n) + n * (l->copy + l->gamma);
}

static void build(coll_build_t *b)
{
    int root = b->q->root, last = b->p - 1;
    xy_spot_t result = coll_place(root, XY_BUFFER_RECEIVE, 0), own = coll_input(b, root);

    if (b->p == 1 || !is_early(b->q))
        coll_move(b, coll_input(b, last), result, b->bytes, 0);
    else
        coll_combine(b, coll_input(b, root == last ? last - 1 : last), own, result, b->bytes,
                     root == last, 0);
    for (int r = is_early(b->q) ? last - 2 : last - 1; r >= 0; r--)
        coll_combine(b, coll_input(b, r), result, result, b->bytes, true, 0);
}

const xy_coll_algorithm_t coll_reduce_linear = {
    .name = "linear",
    .collectives = 1u << XY_COLL_REDUCE,
    .formula = "(p-1) (a + n (b + g)); a root below p-2: n c more",
    .describe = "the root receives and adds every vector",
    .is_foreign = true,
    .cost = cost,
    .build = build,
    .keeps_input = is_early,
};
