/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Find the best S for a tree on this node.
 *
 * The published model (coll/split.h) deals the messages of a level evenly to all communication
 * cores. On a node with several NUMA nodes the threads of a rank live in its own one, and messages
 * between two share a link; in each level the busiest core counts. So each S is simulated: with
 * nothing to compute, beside the expected computation, and beside one that hides all that can be
 * hidden, which shows what the ranks do themselves. For another computation than the expected one
 * there is no further simulation:
 *
 *   T_ovrl(S, C) = max(T_nb(S), own(S) + C)
 *
 * which is exact but for the microseconds that threads need to notice what is ready.
 */
#include "sim/sim_internal.h"

int sim_graph_height(const xy_graph_t *graph)
{
    int height = 0;

    for (int32_t i = 0; i < xy_graph_ops(graph); i++)
        if (xy_graph_op(graph, i)->level > height)
            height = xy_graph_op(graph, i)->level;
    return height < XY_SIM_SPLIT_LEVELS ? height : XY_SIM_SPLIT_LEVELS;
}

static xy_status_t end_of(xy_sim_t *sim, const xy_graph_t *graph, double compute, double *end_p)
{
    xy_sim_result_t result;
    xy_status_t st = xy_sim_run(sim, graph, compute, NULL, NULL, &result);

    if (st == XY_OK)
        *end_p = result.end;
    return st;
}

/* Simulates split level `s` alone, beside the computation, and beside one that hides everything. */
static xy_status_t time_levels(xy_sim_t *sim, const xy_graph_t *graph, int s, xy_sim_split_t *times)
{
    double enough, *own = &times->own[s];
    xy_status_t st;

    sim->node.split = s;
    st = end_of(sim, graph, 0, &times->alone[s]);
    if (st == XY_OK)
        st = end_of(sim, graph, times->compute < 0 ? times->alone[s] : times->compute,
                    &times->beside[s]);
    enough = 4 * times->alone[s];
    if (st == XY_OK)
        st = end_of(sim, graph, enough, own);
    *own = fmax(0, *own - enough);
    return st;
}

xy_status_t xy_sim_split_times(xy_sim_t *sim, const xy_graph_t *graph, double compute,
                               xy_sim_split_t *times_p)
{
    int asked = sim->node.split;
    xy_status_t st = XY_OK;

    *times_p = (xy_sim_split_t){.height = sim_graph_is_direct(graph) ? 0 : sim_graph_height(graph),
                                .compute = compute};
    for (int s = 0; s <= times_p->height && st == XY_OK; s++)
        st = time_levels(sim, graph, s, times_p);
    sim->node.split = asked;
    return st;
}

double xy_sim_split_overlapped(const xy_sim_split_t *times, int levels, double compute)
{
    if (fabs(compute - times->compute) <= 0.01 * fabs(times->compute))
        return times->beside[levels];
    return fmax(times->alone[levels], times->own[levels] + compute);
}

int xy_sim_split_best(const xy_sim_split_t *times, double compute)
{
    int best = 0;

    for (int s = 1; s <= times->height; s++)
        if (xy_sim_split_overlapped(times, s, compute) <
            xy_sim_split_overlapped(times, best, compute) * (1 - 1e-9))
            best = s;
    return best;
}

xy_status_t sim_split_choose(xy_sim_t *sim, const xy_graph_t *graph, double compute)
{
    xy_sim_split_t times;
    xy_status_t st = xy_sim_split_times(sim, graph, compute, &times);

    if (st == XY_OK)
        sim->node.split = xy_sim_split_best(&times, compute);
    return st;
}
