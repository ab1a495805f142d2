/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduce as a reduction, then a broadcast, each chosen by its own rules.
 *                                                Cost = reduce + bcast, or less
 *
 * Both have rank 0 as their root. The rules are those of the library of the request; where it has
 * none, the cheapest scheduled algorithms.
 */
#include "coll/build.h"
#include "coll/list.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    xy_coll_request_t reduce = coll_stage_request(q, XY_COLL_REDUCE, q->count, q->element);
    xy_coll_request_t bcast = coll_stage_request(q, XY_COLL_BCAST, q->count, q->element);

    return coll_cost_composed(q, l, &coll_allreduce_then, &reduce, &bcast);
}

/* A reduction to rank 0 and a broadcast; NULL: as chosen. */
static void stages(coll_build_t *b, const xy_coll_algorithm_t *up, const xy_coll_algorithm_t *down)
{
    const xy_coll_request_t *q = b->q;
    coll_stage_t reduce = {.q = coll_stage_request(q, XY_COLL_REDUCE, q->count, q->element),
                           .send = coll_stage_input,
                           .receive = coll_stage_result};
    coll_stage_t bcast = {.q = coll_stage_request(q, XY_COLL_BCAST, q->count, q->element),
                          .receive = coll_stage_result};

    coll_stage(b, &reduce, up);
    coll_stage(b, &bcast, down);
}

static void build(coll_build_t *b)
{
    stages(b, NULL, NULL);
}

const xy_coll_algorithm_t coll_allreduce_then = {
    .name = "reduce-then-bcast",
    .collectives = 1u << XY_COLL_ALLREDUCE,
    .formula = "counted; at most reduce + bcast, each as chosen",
    .describe = "a reduction to rank 0, then a broadcast, each by its own rules",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};

/*
 * Allreduce, linear.                             Cost = reduce + (p-1) (a + n b)
 *
 * The linear reduction to rank 0, see reduce_linear.c, then rank 0 sends the result to each rank.
 */
static double cost_linear(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    xy_coll_request_t reduce = coll_stage_request(q, XY_COLL_REDUCE, q->count, q->element);

    return coll_reduce_linear.cost(&reduce, l) +
           (q->procs - 1) * coll_message(l, coll_vector_bytes(q));
}

static void build_linear(coll_build_t *b)
{
    stages(b, &coll_reduce_linear, &coll_bcast_linear);
}

/* As reduce_linear.c with root 0. */
static bool keeps_input_linear(const xy_coll_request_t *q)
{
    return q->procs <= 2;
}

const xy_coll_algorithm_t coll_allreduce_linear = {
    .name = "linear",
    .collectives = 1u << XY_COLL_ALLREDUCE,
    .formula = "reduce + (p-1) (a + n b); reduce: about (p-1) (a + n (b + g))",
    .describe = "rank 0 receives and adds every vector, and sends the result to every rank",
    .is_foreign = true,
    .cost = cost_linear,
    .build = build_linear,
    .keeps_input = keeps_input_linear,
};
