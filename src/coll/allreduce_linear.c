/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduce, linear.                             Cost = reduce + (p-1) (a + n b)
 *
 * The linear reduction to rank 0, see reduce_linear.c, then rank 0 sends the result to each rank.
 */
#include "coll/build.h"
#include "coll/list.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    xy_coll_request_t reduce = coll_stage_request(q, XY_COLL_REDUCE, q->count, q->element);

    return coll_reduce_linear.cost(&reduce, l) +
           (q->procs - 1) * coll_message(l, coll_vector_bytes(q));
}

static void build(coll_build_t *b)
{
    const xy_coll_request_t *q = b->q;
    coll_stage_t reduce = {.q = coll_stage_request(q, XY_COLL_REDUCE, q->count, q->element),
                           .send = coll_stage_input,
                           .receive = coll_stage_result};
    coll_stage_t bcast = {.q = coll_stage_request(q, XY_COLL_BCAST, q->count, q->element),
                          .receive = coll_stage_result};

    coll_stage(b, &reduce, &coll_reduce_linear);
    coll_stage(b, &bcast, &coll_bcast_linear);
}

/* As reduce_linear.c with root 0. */
static bool keeps_input(const xy_coll_request_t *q)
{
    return q->procs <= 2;
}

const xy_coll_algorithm_t coll_allreduce_linear = {
    .name = "linear",
    .collectives = 1u << XY_COLL_ALLREDUCE,
    .formula = "reduce + (p-1) (a + n b); reduce: about (p-1) (a + n (b + g))",
    .describe = "rank 0 receives and adds every vector, and sends the result to every rank",
    .is_foreign = true,
    .cost = cost,
    .build = build,
    .keeps_input = keeps_input,
};
