/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choose the settings that are left open: where the progress threads of a collective run, in which
 * order those of a core do, and how many levels of a tree the ranks do themselves.
 *
 * Where each rank has a core of its own, the collective is simulated on the cores of the job with
 * their NUMA nodes (sim/sim_forecast.h), once for each collective, algorithm and size. `adaptive`
 * looks at the measured computation, the others assume a program that computes as long as it
 * communicates, shared by the ranks. Where ranks share cores, or counts are not known to all, or
 * the graph is too large to be simulated in a start call, the rules of sim/sim_forecast.h choose.
 */
#include <math.h>
#include <string.h>

#include "mpi/nbc/nbc.h"
#include "sim/sim.h"

enum {
    FORECASTS_MAX = 64, /* of a communicator */
    RANKS_MAX = 512,
    OPS_MAX = 1024, /* simulated in a few milliseconds */
    STEPS = 4       /* number of distinguished sizes between two powers of two */
};

typedef struct nbc_forecast {
    /* The key of the forecast. */
    xy_collective_t collective;
    const xy_coll_algorithm_t *algorithm;
    mpi_progress_t progress;
    int step;             /* of the size */
    xy_sim_forecast_t of; /* its places and orders belong to the key */
    struct nbc_forecast *next;
} nbc_forecast_t;

/* Calls of each collective with each S. */
static _Atomic uint64_t splits[XY_COLL_COUNT][XY_SIM_SPLIT_LEVELS + 1];

/* ---- The node ---- */

static int core_of(int worker)
{
    return mpi_job->node.core_of != NULL ? mpi_job->node.core_of[worker] : worker;
}

/* The cores of the members; false: some share one. */
static bool list_cores(const mpi_coll_t *coll, int *cores)
{
    if (coll->locals != coll->size || coll->size > RANKS_MAX)
        return false;
    for (int r = 0; r < coll->size; r++) {
        cores[r] = core_of(coll->worker_of[coll->local_of[r]]);
        if (cores[r] < 0)
            return false;
    }
    return true;
}

/* The communication cores, growing; how many. */
static int list_comm(int *comm)
{
    int count = 0;

    for (int w = mpi_job->workers - mpi_job->comm_workers; w < mpi_job->workers; w++) {
        int core = core_of(w), at = count;

        if (core < 0 || count == RANKS_MAX)
            continue;
        for (; at > 0 && comm[at - 1] > core; at--)
            comm[at] = comm[at - 1];
        comm[at] = core;
        count++;
    }
    return count;
}

/* The usual costs, scaled to what messages cost here. */
static void set_costs(xy_sim_costs_t *costs)
{
    double sum = nbc_link.beta + nbc_link.gamma;

    xy_sim_costs_scaled(costs, nbc_link.alpha, nbc_link.beta > 0 ? 1 / nbc_link.beta : 0,
                        sum > 0 ? 1 / sum : 0);
}

static xy_status_t make_machine(xy_machine_t **machine_p)
{
    const mpi_node_t *n = &mpi_job->node;
    char text[64];

    snprintf(text, sizeof(text), "numa:%d core:%d", n->core_of != NULL ? n->numas : 1,
             n->core_of != NULL ? n->cores : mpi_job->workers);
    return xy_machine_synthetic(text, machine_p);
}

/* The S that is asked for; negative: the best. */
static int split_of(const nbc_shape_t *shape)
{
    return shape->is_split ? shape->split : 0;
}

/* Nothing is known where this fails: errors are not the program's. */
static void look_ahead(nbc_forecast_t *f, const coll_call_t *call, const nbc_shape_t *shape)
{
    int cores[RANKS_MAX], comm[RANKS_MAX];
    xy_sim_node_t node = {.ranks = call->comm->coll->size,
                          .core_list = cores,
                          .comm_list = comm,
                          .progress = f->of.is_threads ? XY_SIM_THREADS : XY_SIM_TASKS,
                          .order = xy_order_usual()->name,
                          .priority = mpi_settings_of(call->comm)->priority};
    xy_machine_t *machine = NULL;
    xy_graph_t *graph = NULL;

    if (!list_cores(call->comm->coll, cores) || (f->of.place != NULL && !f->of.place->is_usual))
        return;
    node.comm_cores = f->progress == XMPI_PROGRESS_NONE ? 0 : list_comm(comm);
    set_costs(&node.costs);
    if (nbc_graph_make(call, shape, &graph) != XY_OK)
        return;
    if (xy_graph_ops(graph) <= OPS_MAX && make_machine(&machine) == XY_OK) {
        node.machine = machine;
        if (xy_sim_forecast(&f->of, &node, graph, split_of(shape)) != XY_OK)
            f->of.ways = 0;
    }
    xy_machine_destroy(machine);
    xy_graph_destroy(graph);
}

/* ---- Keeping ---- */

static int step_of(const nbc_shape_t *shape)
{
    double bytes = (double)shape->count * (double)shape->element;

    return bytes > 0 ? (int)floor(STEPS * log2(bytes)) : -1;
}

static bool is_about(const nbc_forecast_t *f, const nbc_forecast_t *key)
{
    return f->collective == key->collective && f->algorithm == key->algorithm &&
           f->of.place == key->of.place && f->of.order == key->of.order &&
           f->of.is_threads == key->of.is_threads && f->progress == key->progress &&
           f->step == key->step;
}

/* NULL: none can be had. */
static const nbc_forecast_t *forecast(const coll_call_t *call, const nbc_shape_t *shape,
                                      const nbc_way_t *way)
{
    nbc_comm_t *nbc = nbc_of(call->comm->coll);
    nbc_forecast_t key = {.collective = shape->collective,
                          .algorithm = shape->algorithm,
                          .of = {.place = shape->is_threads ? way->place : NULL,
                                 .order = shape->is_threads ? way->order : NULL,
                                 .is_threads = shape->is_threads},
                          .progress = mpi_settings_of(call->comm)->progress,
                          .step = step_of(shape)};
    nbc_forecast_t *f = nbc->forecasts;

    while (f != NULL && !is_about(f, &key))
        f = f->next;
    if (f == NULL && nbc->forecast_count < FORECASTS_MAX) {
        f = xy_malloc(sizeof(*f));
        if (f == NULL)
            return NULL;
        *f = key;
        look_ahead(f, call, shape);
        f->next = nbc->forecasts;
        nbc->forecasts = f;
        nbc->forecast_count++;
    }
    return f != NULL && f->of.ways > 0 ? f : NULL;
}

void nbc_model_forget(nbc_comm_t *nbc)
{
    for (nbc_forecast_t *f = nbc->forecasts, *next; f != NULL; f = next) {
        next = f->next;
        xy_free(f);
    }
}

/* ---- Choosing ---- */

void nbc_model_choose(const coll_call_t *call, nbc_shape_t *shape, nbc_way_t *way)
{
    const mpi_settings_t *s = mpi_settings_of(call->comm);
    const nbc_forecast_t *f = NULL;
    xy_collective_t c = shape->collective;
    xy_sim_case_t of;

    if (shape->is_split)
        shape->split = s->split;
    if (shape->is_threads) {
        way->place = s->place[c];
        way->order = s->order[c];
        way->priority = way->order != NULL && way->order->has_priorities ? s->priority : 0;
    }
    if (!nbc_needs_all_counts(call) &&
        ((shape->is_threads && (way->place == NULL || way->order == NULL)) ||
         (shape->is_split && shape->split < 0)))
        f = forecast(call, shape, way);
    of = nbc_split_case(call, shape);
    of.place = way->place;
    of.order = way->order;
    of.split = split_of(shape);
    xy_sim_choose(f != NULL ? &f->of : NULL, &of);
    way->place = of.place;
    way->order = of.order;
    if (shape->is_split) {
        shape->split = of.split;
        if (shape->split <= XY_SIM_SPLIT_LEVELS)
            atomic_fetch_add_explicit(&splits[c][shape->split], 1, memory_order_relaxed);
    }
}

void nbc_splits_reset(void)
{
    for (int c = 0; c < XY_COLL_COUNT; c++)
        for (int s = 0; s <= XY_SIM_SPLIT_LEVELS; s++)
            atomic_store_explicit(&splits[c][s], 0, memory_order_relaxed);
}

void nbc_splits_tell(xy_text_t *text)
{
    for (int c = 0; c < XY_COLL_COUNT; c++)
        for (int s = 0; s <= XY_SIM_SPLIT_LEVELS; s++) {
            unsigned long long calls = atomic_load_explicit(&splits[c][s], memory_order_relaxed);

            if (calls > 0)
                xy_text_addf(text, "split-tree: %s with S = %d, %llu call%s\n",
                             xy_coll_name((xy_collective_t)c), s, calls, calls == 1 ? "" : "s");
        }
}
