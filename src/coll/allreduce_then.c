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

static void build(coll_build_t *b)
{
    const xy_coll_request_t *q = b->q;
    coll_stage_t reduce = {.q = coll_stage_request(q, XY_COLL_REDUCE, q->count, q->element),
                           .send = coll_stage_input,
                           .receive = coll_stage_result};
    coll_stage_t bcast = {.q = coll_stage_request(q, XY_COLL_BCAST, q->count, q->element),
                          .receive = coll_stage_result};

    coll_stage(b, &reduce, NULL);
    coll_stage(b, &bcast, NULL);
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
