/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter as a reduction to rank 0, then a scatter.
 *                                                Cost = reduce + scatter, or less
 *
 * `reduce-then-scatter`: each chosen by its own rules, those of the library of the request; where
 * it has none, the cheapest scheduled algorithms. `binomial-scatter`: the binomial tree, then the
 * linear scatter.
 */
#include "coll/build.h"
#include "coll/list.h"

static xy_coll_request_t reduce_of(const xy_coll_request_t *q)
{
    uint64_t count = 0;

    for (int i = 0; i < q->procs; i++)
        count += q->collective == XY_COLL_REDUCE_SCATTER ? q->counts[i] : q->count;
    return coll_stage_request(q, XY_COLL_REDUCE, count, q->element);
}

static xy_coll_request_t scatter_of(const xy_coll_request_t *q)
{
    bool has_counts = q->collective == XY_COLL_REDUCE_SCATTER;
    xy_coll_request_t s = coll_stage_request(q, has_counts ? XY_COLL_SCATTERV : XY_COLL_SCATTER,
                                             has_counts ? 0 : q->count, q->element);

    s.counts = has_counts ? q->counts : NULL;
    return s;
}

static void build_of(coll_build_t *b, bool is_fixed)
{
    coll_stage_t reduce = {
        .q = reduce_of(b->q), .send = coll_stage_input, .receive = coll_stage_temporary};
    coll_stage_t scatter = {
        .q = scatter_of(b->q), .send = coll_stage_temporary, .receive = coll_stage_result};

    coll_stage(b, &reduce, is_fixed ? &coll_reduce_binomial : NULL);
    coll_stage(b, &scatter, is_fixed ? &coll_scatter_linear : NULL);
}

static double cost_chosen(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    xy_coll_request_t reduce = reduce_of(q), scatter = scatter_of(q);

    return coll_cost_composed(q, l, &coll_reduce_scatter_then, &reduce, &scatter);
}

static double cost_fixed(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    xy_coll_request_t reduce = reduce_of(q), scatter = scatter_of(q);

    return coll_reduce_binomial.cost(&reduce, l) + coll_scatter_linear.cost(&scatter, l);
}

static void build_chosen(coll_build_t *b)
{
    build_of(b, false);
}

static void build_fixed(coll_build_t *b)
{
    build_of(b, true);
}

const xy_coll_algorithm_t coll_reduce_scatter_then = {
    .name = "reduce-then-scatter",
    .collectives = 1u << XY_COLL_REDUCE_SCATTER | 1u << XY_COLL_REDUCE_SCATTER_BLOCK,
    .formula = "counted; at most reduce of all blocks + scatter, each as chosen",
    .describe = "a reduction to rank 0, then a scatter, each by its own rules",
    .is_foreign = true,
    .cost = cost_chosen,
    .build = build_chosen,
    .keeps_input = coll_always,
};

const xy_coll_algorithm_t coll_reduce_scatter_binomial = {
    .name = "binomial-scatter",
    .collectives = 1u << XY_COLL_REDUCE_SCATTER | 1u << XY_COLL_REDUCE_SCATTER_BLOCK,
    .formula = "ceil(lg p) (a + p n (b + g)) + (p-1) (a + n b)",
    .describe = "up a binomial tree to rank 0, which sends every rank its block",
    .is_foreign = true,
    .cost = cost_fixed,
    .build = build_fixed,
    .keeps_input = coll_always,
};
