/* SPDX-License-Identifier: BSD-3-Clause */
/* One run, and the three runs of a measurement. */
#include "sim/sim_internal.h"

enum { PIECES_MAX = 1 << 17 };

static void begin_ops(xy_sim_t *sim)
{
    sim_level_over(&sim->call);
    for (int32_t id = 0; id < sim->call.op_count; id++)
        if (xy_graph_predecessors(sim->call.graph, id) == 0)
            sim_op_ready(sim, &sim->call.ops[id]);
    sim_instants_over(sim);
}

/* Simulates a collective once; fails if the simulation stalls or takes too many steps. */
static xy_status_t run(xy_sim_t *sim, const xy_graph_t *graph, xy_trace_t *trace)
{
    xy_status_t st;

    sim_reset(sim);
    sim->call = (sim_call_t){.graph = graph, .ranks = sim->node.ranks, .split = sim->node.split};
    st = sim_call_init(sim, &sim->call);
    sim->result.split = sim->call.split;
    if (st == XY_OK)
        st = sim_record_begin(sim, trace);
    if (st != XY_OK)
        return st;
    for (int r = 0; r < sim->node.ranks; r++)
        sim_rank_begin(sim, r);
    for (int r = 0; r < sim->node.ranks && sim->node.progress == XY_SIM_THREADS; r++) {
        sim->threads[sim->node.ranks + r].left = sim->call.parts[r].engine;
        sim->threads[sim->node.ranks + r].remote = sim->call.parts[r].remote;
    }
    sim_threads_begin(sim);
    begin_ops(sim);
    for (int r = 0; r < sim->node.ranks; r++)
        sim_rank_in_start(sim, r);
    if (xy_vclock_run(sim->clock) != XY_OK)
        return xy_fail_memory("simulating");
    if (sim_network_gave_up(sim))
        return xy_fail(XY_ELIMIT,
                       "%d messages between nodes share links: simulating them takes too long; "
                       "simulate fewer ranks, or an algorithm with fewer messages",
                       sim->call.message_count);
    if (sim->unfinished > 0)
        return xy_fail(XY_EINVAL,
                       "the simulated collective stopped at %g s with %d ranks in Wait: "
                       "this is a defect of the simulation",
                       sim->clock->now, sim->unfinished);
    sim_record_end(sim);
    return XY_OK;
}

xy_status_t sim_work(xy_sim_t *sim, const xy_graph_t *graph, double *work_p)
{
    xy_status_t st;

    sim_reset(sim);
    sim->call = (sim_call_t){.graph = graph, .ranks = sim->node.ranks};
    st = sim_call_init(sim, &sim->call);
    *work_p = sim->result.work;
    sim_call_cleanup(&sim->call);
    return st;
}

/* Bytes of a piece. A graph becomes at most about PIECES_MAX operations: with more, a simulated
 * transfer of a terabyte would take hours, and the end of the last piece moves by less than one in
 * thousands. */
static uint64_t piece_of(const xy_sim_t *sim, const xy_graph_t *graph)
{
    double bytes = 0;
    uint64_t piece = sim->node.costs.piece;

    for (int32_t i = 0; i < xy_graph_ops(graph); i++)
        bytes += (double)xy_graph_op(graph, i)->bytes;
    if (bytes > (double)piece * PIECES_MAX)
        piece = (uint64_t)(bytes / PIECES_MAX) / piece * piece + piece;
    return piece;
}

/* Simulates a collective, cut into pieces if tasks run it; `finish` may be NULL. */
static xy_status_t run_cut(xy_sim_t *sim, const xy_graph_t *graph, double compute, double *finish,
                           xy_trace_t *trace, xy_sim_result_t *result_p)
{
    xy_graph_t *cut = NULL;
    xy_status_t st = XY_OK;

    /* Direct graphs are of pieces; between hosts, what is inside them is only a part. */
    if (sim_is_tasks(sim) && !sim_is_model(sim) && sim->node.costs.piece > 0 &&
        (!sim_graph_is_direct(graph) || sim->host_count > 1))
        st = xy_graph_cut(graph, piece_of(sim, graph), &cut);
    sim->compute = compute;
    if (st == XY_OK)
        st = run(sim, cut != NULL ? cut : graph, trace);
    if (st == XY_OK) {
        *result_p = sim->result;
        for (int r = 0; finish != NULL && r < sim->node.ranks; r++)
            finish[r] = sim->ranks[r].finish;
    }
    sim_call_cleanup(&sim->call);
    xy_graph_destroy(cut);
    return st;
}

static xy_status_t check_ranks(const xy_sim_t *sim, const xy_graph_t *graph)
{
    if (xy_graph_ranks(graph) <= sim->node.ranks)
        return XY_OK;
    return xy_fail(XY_EINVAL, "a collective of %d ranks cannot run on a simulated node of %d ranks",
                   xy_graph_ranks(graph), sim->node.ranks);
}

xy_status_t xy_sim_run(xy_sim_t *sim, const xy_graph_t *graph, double compute, double *finish,
                       xy_trace_t *trace, xy_sim_result_t *result_p)
{
    int asked = sim->node.split;
    xy_status_t st = check_ranks(sim, graph);

    if (st == XY_OK && asked == XY_SIM_SPLIT_AUTO)
        st = sim_split_choose(sim, graph, compute);
    if (st == XY_OK)
        st = run_cut(sim, graph, compute, finish, trace, result_p);
    sim->node.split = asked;
    return st;
}

/* Simulates a collective alone and beside a computation; compute < 0 stands for as long as the
 * collective. */
static xy_status_t measure(xy_sim_t *sim, const xy_graph_t *graph, double compute,
                           xy_sim_times_t *times_p)
{
    xy_sim_result_t alone, together;
    xy_status_t st = xy_sim_run(sim, graph, 0, NULL, NULL, &alone);

    if (st != XY_OK)
        return st;
    if (compute < 0)
        compute = alone.end;
    st = xy_sim_run(sim, graph, compute, NULL, NULL, &together);
    if (st == XY_OK)
        *times_p = (xy_sim_times_t){alone.end,     compute,          together.end,
                                    together.work, together.network, together.split};
    return st;
}

/* The S of a measurement is the best beside the computation; the collective alone has the same. */
xy_status_t xy_sim_measure(xy_sim_t *sim, const xy_graph_t *graph, double compute,
                           xy_sim_times_t *times_p)
{
    int asked = sim->node.split;
    xy_status_t st = check_ranks(sim, graph);

    if (st == XY_OK && asked == XY_SIM_SPLIT_AUTO)
        st = sim_split_choose(sim, graph, compute);
    if (st == XY_OK)
        st = measure(sim, graph, compute, times_p);
    sim->node.split = asked;
    return st;
}
