/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/levels.h"
#include "sim/sweep_internal.h"

/* Blocks that are all alike, for the collectives that take a vector of them. */
typedef struct {
    uint64_t *counts, *offsets;
    const uint64_t **rows, **offset_rows;
    int *ranks; /* 0, 1, ... */
} blocks_t;

/* Makes the counts and offsets of `n` equal blocks; the caller frees them, also on failure. */
static xy_status_t make_blocks(blocks_t *b, int n, uint64_t count)
{
    size_t size = (size_t)n;

    b->counts = xy_calloc(2 * size, sizeof(*b->counts));
    b->rows = xy_calloc(2 * size, sizeof(*b->rows));
    b->ranks = xy_calloc(size, sizeof(*b->ranks));
    if (b->counts == NULL || b->rows == NULL || b->ranks == NULL)
        return xy_fail_memory("cutting a collective into blocks");
    b->offsets = b->counts + n;
    b->offset_rows = b->rows + n;
    for (int i = 0; i < n; i++) {
        b->counts[i] = count;
        b->ranks[i] = i;
        b->offsets[i] = (uint64_t)i * count;
        b->rows[i] = b->counts;
        b->offset_rows[i] = b->offsets;
    }
    return XY_OK;
}

/* As the runtime does it: tasks, and no published model. */
static bool is_own(const xy_sim_node_t *node)
{
    return node->progress == XY_SIM_TASKS && node->split == 0 && node->model == XY_SIM_MEASURED;
}

static bool has_nodes(const xy_sim_node_t *node)
{
    return node->machine != NULL && xy_machine_count(node->machine, XY_OBJ_NODE) > 1;
}

/* Are there communication cores for tasks? */
static bool is_offloaded(const xy_sim_node_t *node, int ranks)
{
    bool is_full =
        node->machine != NULL && (int)xy_machine_count(node->machine, XY_OBJ_CORE) <= ranks;

    return node->progress == XY_SIM_TASKS && node->comm_cores != 0 && !is_full;
}

/* Trees and chains are what split-tree is studied with. Progress threads run what the chooser finds
 * cheapest, as in the library. */
static const char *usual_algorithm(const xy_sim_node_t *node, xy_collective_t collective)
{
    if (is_own(node) && !has_nodes(node))
        return xy_coll_direct(collective)->name;
    if (node->progress == XY_SIM_THREADS && node->split == 0 && !has_nodes(node))
        return NULL;
    switch (collective) {
    case XY_COLL_BCAST:
    case XY_COLL_REDUCE:
    case XY_COLL_GATHER:
    case XY_COLL_GATHERV:
    case XY_COLL_SCATTER:
    case XY_COLL_SCATTERV:
        return "binomial";
    case XY_COLL_ALLREDUCE:
        return "reduce-bcast";
    case XY_COLL_SCAN:
    case XY_COLL_EXSCAN:
        return "chain";
    default:
        return NULL;
    }
}

/* The runtime's algorithm with one rank on each node, where it is cheaper than the chooser's: it
 * scatters long vectors, and gathers them in rounds that double. */
static const char *flat_algorithm(const xy_coll_request_t *q, const sim_levels_t *levels)
{
    const xy_coll_algorithm_t *scattered = xy_coll_find(q->collective, "scatter-doubling"), *best;

    if (q->collective != XY_COLL_BCAST || !xy_coll_is_applicable(scattered, q) ||
        xy_coll_choose(q, &levels->between, NULL, &best) != XY_OK)
        return NULL;
    return scattered->cost(q, &levels->between) < best->cost(q, &levels->between) ? scattered->name
                                                                                  : NULL;
}

/* Between nodes as the runtime does it: inside them first, one rank of each speaks with the others;
 * what is done there is the cheapest for the network. The name; NULL: the cheapest of all. */
static const char *levels_algorithm(const xy_sim_node_t *node, const xy_coll_request_t *q,
                                    const sim_levels_t *levels)
{
    if (levels->count == q->procs)
        return flat_algorithm(q, levels);
    if (levels->count == 1)
        return xy_coll_direct(q->collective)->name;
    return xy_coll_levels(q) != NULL ? xy_coll_levels(q)->name
                                     : usual_algorithm(node, q->collective);
}

/* Without its blocks. */
static xy_coll_request_t request_of(const xy_sim_node_t *node, xy_collective_t collective,
                                    int ranks, uint64_t size)
{
    bool is_bytes = collective == XY_COLL_ALLTOALLW;

    return (xy_coll_request_t){.collective = collective,
                               .procs = ranks,
                               .count = is_bytes ? size : (size + 7) / 8,
                               .element = is_bytes ? 1 : 8,
                               .is_commutative = true,
                               .is_offloaded = is_offloaded(node, ranks)};
}

xy_status_t xy_sim_graph(const xy_sim_node_t *node, xy_collective_t collective, const char *name,
                         int ranks, uint64_t size, xy_graph_t **graph_p)
{
    bool is_named = name != NULL;
    xy_coll_request_t q = request_of(node, collective, ranks, size);
    const xy_coll_algorithm_t *algorithm;
    const xy_coll_link_t *link = &xy_coll_link_default;
    sim_levels_t levels = {0};
    blocks_t blocks = {0};
    xy_status_t st = make_blocks(&blocks, ranks, q.count);

    if (!is_named)
        name = usual_algorithm(node, collective);
    if (st == XY_OK && !is_named && is_own(node) && has_nodes(node)) {
        st = sim_levels_make(node, ranks, &levels);
        q.nodes = levels.nodes;
        q.between = &levels.between;
        if (st == XY_OK)
            name = levels_algorithm(node, &q, &levels);
        if (levels.count == ranks)
            link = &levels.between;
    }
    if (st == XY_OK) {
        q.counts = blocks.counts;
        q.groups = has_nodes(node) ? NULL : blocks.ranks; /* each has a core */
        if (collective == XY_COLL_ALLTOALLV || collective == XY_COLL_ALLTOALLW) {
            q.matrix = blocks.rows;
            q.send_offsets = q.receive_offsets = blocks.offset_rows;
        }
        st = xy_coll_choose(&q, link, name, &algorithm);
    }
    if (st == XY_OK)
        st = xy_coll_build(&q, link, algorithm, graph_p);
    sim_levels_cleanup(&levels);
    xy_free(blocks.counts);
    xy_free(blocks.rows);
    xy_free(blocks.ranks);
    return st;
}

/* The collective that has the same messages with equal blocks; XY_COLL_COUNT: the number of
 * messages does not grow with the square of the ranks. */
static xy_collective_t dense_form(xy_collective_t collective)
{
    switch (collective) {
    case XY_COLL_ALLTOALL:
    case XY_COLL_ALLTOALLV:
    case XY_COLL_ALLTOALLW:
        return XY_COLL_ALLTOALL;
    case XY_COLL_ALLGATHER:
    case XY_COLL_ALLGATHERV:
        return XY_COLL_ALLGATHER;
    case XY_COLL_REDUCE_SCATTER:
    case XY_COLL_REDUCE_SCATTER_BLOCK:
        return XY_COLL_REDUCE_SCATTER_BLOCK;
    default:
        return XY_COLL_COUNT;
    }
}

/* By the formula of its algorithm. */
static double formula(xy_collective_t collective, uint64_t size, int ranks)
{
    xy_coll_request_t q = {.collective = collective,
                           .procs = ranks,
                           .count = (size + 7) / 8,
                           .element = 8,
                           .is_commutative = true};
    const xy_coll_algorithm_t *algorithm;

    return xy_coll_choose(&q, &xy_coll_link_default, NULL, &algorithm) == XY_OK
               ? algorithm->cost(&q, &xy_coll_link_default)
               : 0;
}

/* Ranks that are simulated for the time of a collective with one on every core, and what their time
 * is multiplied by: a million messages on a network would take hours. */
static int whole_ranks(xy_collective_t collective, uint64_t size, int cores, double *factor_p)
{
    enum { DENSE_MAX = 72 };
    xy_collective_t dense = dense_form(collective);
    double few;

    *factor_p = 1;
    if (dense == XY_COLL_COUNT || cores <= DENSE_MAX)
        return cores;
    few = formula(dense, size, DENSE_MAX);
    *factor_p = few > 0 ? formula(dense, size, cores) / few : 1;
    return DENSE_MAX;
}

/* The computation of one rank when there is a rank on every core. */
static xy_status_t whole_compute(const xy_sim_sweep_t *sweep, xy_collective_t collective,
                                 uint64_t size, int cores, double *seconds_p)
{
    double factor;
    int ranks = whole_ranks(collective, size, cores, &factor);
    xy_sim_node_t node = {.machine = sweep->machine, .ranks = ranks, .costs = sweep->costs};
    xy_graph_t *graph;
    xy_sim_t *sim = NULL;
    xy_sim_result_t result;
    xy_status_t st;

    if (sweep->mode == XY_SIM_CPU_EXPLOIT || sweep->compute > 0) {
        *seconds_p = sweep->compute;
        return XY_OK;
    }
    st = xy_sim_graph(&node, collective, sweep->algorithm, ranks, size, &graph);
    if (st != XY_OK)
        return st;
    st = xy_sim_create(&node, &sim);
    if (st == XY_OK)
        st = xy_sim_run(sim, graph, 0, NULL, NULL, &result);
    if (st == XY_OK)
        *seconds_p = result.end * factor;
    xy_sim_destroy(sim);
    xy_graph_destroy(graph);
    return st;
}

/* Do the ranks alone make progress? */
static bool is_alone(const xy_sim_t *sim)
{
    return is_own(&sim->node) && sim->comm_count == 0 && sim->host_count == 1;
}

/* Simulates a point of that kind: the three runs of a measurement. */
static xy_status_t measure_alone(xy_sim_t *sim, const xy_graph_t *graph, const char *algorithm,
                                 double compute, xy_sim_point_t *point)
{
    const xy_coll_request_t q =
        request_of(&sim->node, point->collective, point->ranks, point->size);
    xy_sim_times_t *times = &point->times;
    xy_status_t st;

    *times = (xy_sim_times_t){0};
    st = sim_work(sim, graph, &times->work);
    if (st == XY_OK)
        st = sweep_job_run(sim, &q, algorithm, 0, NULL, &times->t_comm);
    times->t_comp = compute < 0 ? times->t_comm : compute;
    if (st == XY_OK)
        st = sweep_job_run(sim, &q, algorithm, times->t_comp, NULL, &times->t_ovrl);
    return st;
}

/* The node of a point. */
static xy_sim_node_t node_of(const xy_sim_sweep_t *sweep, const xy_sim_point_t *point, int split)
{
    xy_sim_node_t node = sweep->ways[point->way].node;

    node.machine = sweep->machine;
    node.costs = sweep->costs;
    node.ranks = point->ranks;
    node.split = split;
    node.threads = point->threads;
    return node;
}

xy_status_t xy_sim_sweep_trace(const xy_sim_sweep_t *sweep, const xy_sim_point_t *point,
                               xy_trace_t *trace)
{
    xy_sim_node_t node = node_of(sweep, point, point->times.split);
    const xy_coll_request_t q = request_of(&node, point->collective, point->ranks, point->size);
    xy_graph_t *graph = NULL;
    xy_sim_t *sim = NULL;
    xy_sim_result_t result;
    xy_status_t st =
        xy_sim_graph(&node, point->collective, sweep->algorithm, point->ranks, point->size, &graph);

    if (st == XY_OK)
        st = xy_sim_create(&node, &sim);
    if (st == XY_OK && is_alone(sim))
        st = sweep_job_run(sim, &q, sweep->algorithm, point->times.t_comp, trace, &result.end);
    else if (st == XY_OK)
        st = xy_sim_run(sim, graph, point->times.t_comp, NULL, trace, &result);
    xy_sim_destroy(sim);
    xy_graph_destroy(graph);
    return st;
}

/* Simulates one point of a sweep. */
static xy_status_t measure(const xy_sim_sweep_t *sweep, const xy_graph_t *graph, double compute,
                           int split, xy_sim_point_t *point)
{
    xy_sim_node_t node = node_of(sweep, point, split);
    xy_sim_t *sim;
    xy_status_t st = xy_sim_create(&node, &sim);

    if (st != XY_OK)
        return st;
    st = is_alone(sim) ? measure_alone(sim, graph, sweep->algorithm, compute, point)
                       : xy_sim_measure(sim, graph, compute, &point->times);
    point->comm_cores = xy_sim_comm_cores(sim);
    point->bound =
        fmax(xy_sim_bound(sim, point->times.t_comp, point->times.work), point->times.network);
    xy_sim_destroy(sim);
    return st;
}

static xy_status_t measure_best(const xy_sim_sweep_t *sweep, const xy_graph_t *graph,
                                double compute, xy_sim_point_t *point)
{
    xy_sim_point_t best = *point, other = *point;
    xy_status_t st = measure(sweep, graph, compute, 0, &best);

    for (int s = 1; s <= sim_graph_height(graph) && st == XY_OK; s++) {
        st = measure(sweep, graph, compute, s, &other);
        if (other.times.t_ovrl < best.times.t_ovrl * (1 - 1e-9))
            best = other;
    }
    *point = best;
    return st;
}

static xy_status_t measure_place(const xy_sim_sweep_t *sweep, const xy_graph_t *graph,
                                 double compute, const char *place, xy_sim_point_t *point)
{
    int split = sweep->ways[point->way].node.split;

    point->threads = place;
    return split == XY_SIM_SPLIT_BEST ? measure_best(sweep, graph, compute, point)
                                      : measure(sweep, graph, compute, split, point);
}

/* The place of least t_ovrl; on ties the first one. */
static xy_status_t measure_places(const xy_sim_sweep_t *sweep, const xy_graph_t *graph,
                                  double compute, xy_sim_point_t *point)
{
    xy_sim_point_t best = *point;
    xy_status_t st = XY_OK;

    for (int i = 0; xy_threads_all[i] != NULL && st == XY_OK; i++) {
        if (!xy_threads_all[i]->is_usual)
            continue;
        st = measure_place(sweep, graph, compute, xy_threads_all[i]->name, point);
        if (best.threads == NULL || point->times.t_ovrl < best.times.t_ovrl * (1 - 1e-9))
            best = *point;
    }
    *point = best;
    return st;
}

static xy_status_t measure_way(const xy_sim_sweep_t *sweep, const xy_graph_t *graph, double compute,
                               xy_sim_point_t *point)
{
    const xy_sim_node_t *node = &sweep->ways[point->way].node;
    const char *place = node->threads != NULL ? node->threads : "numa";

    if (node->progress != XY_SIM_THREADS)
        return measure_place(sweep, graph, compute, NULL, point);
    if (strcmp(place, XY_SIM_THREADS_AUTO) == 0)
        return measure_places(sweep, graph, compute, point);
    return measure_place(sweep, graph, compute, place, point);
}

/* All ways for one collective, size and number of ranks. `whole`: see whole_compute. */
static xy_status_t sweep_ways(const xy_sim_sweep_t *sweep, xy_collective_t collective,
                              uint64_t size, int ranks, double compute, xy_vec_t *points)
{
    xy_status_t st = XY_OK;

    for (int w = 0; w < sweep->way_count && st == XY_OK; w++) {
        xy_sim_node_t node = sweep->ways[w].node;
        xy_sim_point_t point = {.collective = collective, .size = size, .ranks = ranks, .way = w};
        xy_graph_t *graph;

        node.machine = sweep->machine;
        st = xy_sim_graph(&node, collective, sweep->algorithm, ranks, size, &graph);
        if (st != XY_OK)
            break;
        st = measure_way(sweep, graph, compute, &point);
        xy_graph_destroy(graph);
        if (st == XY_OK && xy_vec_append(points, &point) != XY_OK)
            st = xy_fail_memory("preparing the sweep");
        if (sweep->progress != NULL)
            xy_progress_step(sweep->progress, 1);
    }
    return st;
}

double xy_sim_bound_percent(const xy_sim_point_t *point)
{
    return point->times.t_ovrl > 0 ? 100 * point->bound / point->times.t_ovrl : 100;
}

long xy_sim_sweep_points(const xy_sim_sweep_t *sweep)
{
    return (long)sweep->collective_count * sweep->size_count * sweep->rank_count * sweep->way_count;
}

xy_status_t xy_sim_sweep(const xy_sim_sweep_t *sweep, xy_vec_t *points)
{
    xy_status_t st = XY_OK;
    xy_cores_t cores;
    int count;

    st = xy_cores_init(&cores, sweep->machine);
    if (st != XY_OK)
        return st;
    count = cores.count;
    xy_cores_cleanup(&cores);
    for (int c = 0; c < sweep->collective_count; c++)
        for (int s = 0; s < sweep->size_count && st == XY_OK; s++) {
            double whole = 0;

            st = whole_compute(sweep, sweep->collectives[c], sweep->sizes[s], count, &whole);
            for (int r = 0; r < sweep->rank_count && st == XY_OK; r++) {
                double compute =
                    sweep->mode == XY_SIM_CPU_EXPLOIT ? -1 : whole * count / sweep->ranks[r];

                st = sweep_ways(sweep, sweep->collectives[c], sweep->sizes[s], sweep->ranks[r],
                                compute, points);
            }
        }
    return st;
}
