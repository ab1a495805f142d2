/* SPDX-License-Identifier: BSD-3-Clause */
/* A placement made cheaper, on any target, and what it costs a strategy. */
#include "place/refine.h"

#include "place/strategy_internal.h"

xy_status_t place_refine(const xy_problem_t *q, const uint32_t *capacity, uint64_t seed,
                         uint32_t *leaf_of)
{
    uint32_t sweeps = q->graph->n > PLACE_LARGE ? 1 : 8;

    if (q->target->grid.dimensions > 0)
        return place_refine_grid(q->graph, q->target, capacity, sweeps,
                                 q->objective == XY_OBJECTIVE_WEIGHTED, leaf_of);
    return place_refine_tree(q->graph, q->target, capacity, q->height, sweeps, seed, leaf_of);
}

double place_cost(const xy_problem_t *q, const uint32_t *leaf_of)
{
    const place_graph_t *g = q->graph;
    double sum = 0;

    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
            sum += g->w[k] * (q->objective == XY_OBJECTIVE_WEIGHTED
                                  ? xy_target_weighted(q->target, leaf_of[v], leaf_of[g->to[k]])
                                  : xy_target_hops(q->target, leaf_of[v], leaf_of[g->to[k]]));
    return sum;
}
