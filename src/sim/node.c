/* SPDX-License-Identifier: BSD-3-Clause */
/* A node made ready: cores, ranks, threads and what they share. */
#include "sim/sim_internal.h"

#include <string.h>

static int pus_per_core(const xy_machine_t *m)
{
    uint32_t cores = xy_machine_count(m, XY_OBJ_CORE), pus = xy_machine_count(m, XY_OBJ_PU);

    return cores > 0 && pus >= 2 * cores ? 2 : 1;
}

/* Takes the given core of each rank; fails for cores that do not exist or are used twice. */
static xy_status_t copy_cores(xy_sim_t *sim)
{
    const int *list = sim->node.core_list;

    for (int r = 0; r < sim->node.ranks; r++) {
        bool is_free = list[r] >= 0 && list[r] < sim->cores.count;

        for (int i = 0; i < r; i++)
            is_free &= list[i] != list[r];
        if (!is_free)
            return xy_fail(XY_EINVAL,
                           "rank %d on core %d: there are cores 0 to %d, for one rank each", r,
                           list[r], sim->cores.count - 1);
        sim->core_of[r] = list[r];
    }
    return XY_OK;
}

/* Places the ranks on cores, as listed or by a strategy. */
static xy_status_t place_ranks(xy_sim_t *sim)
{
    const char *name = sim->node.placement;
    size_t cores = (size_t)sim->cores.count;

    if (sim->node.ranks < 1 || sim->node.ranks > sim->cores.count)
        return xy_fail(XY_EINVAL, "%d ranks on %d cores; a simulated node has 1 to %d ranks",
                       sim->node.ranks, sim->cores.count, sim->cores.count);
    if (name == NULL)
        name = sim->cores.numa_count > 1 ? "scatter_numa" : "scatter";
    sim->core_of = xy_calloc(cores, sizeof(int));
    sim->comm = xy_calloc(cores, sizeof(int));
    sim->thread_of = xy_calloc(cores, sizeof(int));
    if (sim->core_of == NULL || sim->comm == NULL || sim->thread_of == NULL)
        return xy_fail_memory("simulating a node");
    return sim->node.core_list != NULL
               ? copy_cores(sim)
               : xy_place_ranks(name, &sim->cores, sim->node.ranks, sim->core_of);
}

/* Cores for communication that were named. */
static xy_status_t check_comm(const xy_sim_t *sim)
{
    const int *list = sim->node.comm_list;

    for (int i = 0; list != NULL && i < sim->node.comm_cores; i++) {
        if (list[i] < 0 || list[i] >= sim->cores.count || (i > 0 && list[i] <= list[i - 1]))
            return xy_fail(XY_EINVAL,
                           "communication core %d: there are cores 0 to %d, and the list "
                           "must grow",
                           list[i], sim->cores.count - 1);
        for (int r = 0; r < sim->node.ranks; r++)
            if (sim->core_of[r] == list[i])
                return xy_fail(XY_EINVAL,
                               "communication core %d has rank %d on it; free cores are "
                               "those without a rank",
                               list[i], r);
    }
    return XY_OK;
}

/* Places progress threads and communication cores; fails if nothing would make progress. */
static xy_status_t place_threads(xy_sim_t *sim, bool *on_sibling_p)
{
    const char *name = sim->node.threads != NULL ? sim->node.threads : "numa";
    const xy_threads_t *threads;
    xy_status_t st;

    st = check_comm(sim);
    if (st == XY_OK)
        st = xy_order_find(sim->node.order != NULL ? sim->node.order : "round-robin", &sim->order);
    if (st == XY_OK)
        st = xy_threads_find(name, &threads);
    *on_sibling_p = st == XY_OK && sim->node.progress == XY_SIM_THREADS && threads->on_sibling;
    if (st == XY_OK)
        st = sim_hosts_place(sim, threads, pus_per_core(sim->node.machine));
    if (st == XY_OK && sim_is_tasks(sim) && sim->comm_count == 0 &&
        (sim->node.help == XY_SIM_HELP_NOT || sim_is_model(sim)))
        return xy_fail(XY_EINVAL,
                       "no core is left for communication and ranks do not help: the "
                       "collective would not progress; use fewer than %d ranks",
                       sim->cores.count);
    return st;
}

/* Makes one unit per core, and one per rank for hardware threads beside them. */
static xy_status_t make_units(xy_sim_t *sim, bool with_siblings)
{
    int n = sim->cores.count;

    sim->unit_count = with_siblings ? n + sim->node.ranks : n;
    sim->units = xy_calloc((size_t)sim->unit_count, sizeof(*sim->units));
    if (sim->units == NULL)
        return xy_fail_memory("simulating a node");
    for (int i = 0; i < sim->unit_count; i++)
        sim->units[i] = (sim_unit_t){.sibling = -1, .rank = -1, .supervisor = -1};
    for (int c = 0; c < n; c++) {
        sim->units[c].core = c;
        sim->units[c].numa = sim->cores.numa[c];
        sim->units[c].host = sim->host_of[c];
    }
    for (int i = 0; i < sim->comm_count; i++)
        sim->units[sim->comm[i]].is_comm = true;
    for (int r = 0; r < sim->node.ranks; r++) {
        int c = sim->core_of[r];

        sim->units[c].rank = r;
        if (with_siblings) {
            sim->units[c].sibling = n + r;
            sim->units[n + r].sibling = c;
            sim->units[n + r].core = c;
            sim->units[n + r].numa = sim->cores.numa[c];
            sim->units[n + r].host = sim->host_of[c];
        }
    }
    return XY_OK;
}

/* Makes the threads: ranks first, then their progress threads, then one per unit. */
static xy_status_t make_threads(xy_sim_t *sim, bool with_siblings)
{
    int n = sim->node.ranks;

    sim->thread_count = 2 * n + sim->unit_count;
    sim->threads = xy_calloc((size_t)sim->thread_count, sizeof(*sim->threads));
    sim->order_threads = xy_calloc((size_t)sim->thread_count, sizeof(*sim->order_threads));
    sim->ranks = xy_calloc((size_t)n, sizeof(*sim->ranks));
    if (sim->threads == NULL || sim->order_threads == NULL || sim->ranks == NULL)
        return xy_fail_memory("simulating a node");
    for (int r = 0; r < n; r++) {
        sim->threads[r] = (sim_thread_t){.unit = sim->core_of[r], .rank = r};
        sim->threads[n + r] = (sim_thread_t){
            .unit = with_siblings ? sim->cores.count + r : sim->thread_of[r], .rank = r};
    }
    for (int u = 0; u < sim->unit_count; u++)
        sim->threads[2 * n + u] = (sim_thread_t){.unit = u, .rank = -1};
    return XY_OK;
}

static xy_status_t make_memory(xy_sim_t *sim, bool with_siblings)
{
    const xy_sim_costs_t *c = &sim->node.costs;
    const sim_limits_t limits = {c->copy, c->numa, c->link, with_siblings ? 2 : 1};

    sim->memory = sim->driver.memory != NULL ? sim->driver.memory : &sim->own_memory;
    if (sim->driver.memory != NULL)
        return XY_OK;
    return sim_memory_make(&sim->own_memory, sim->clock, &sim->cores, sim->host_of, &limits);
}

xy_status_t xy_sim_create(const xy_sim_node_t *node, xy_sim_t **sim_p)
{
    return sim_create(node, NULL, &(sim_driver_t){.over = sim_rank_over}, sim_p);
}

xy_status_t sim_create(const xy_sim_node_t *node, xy_vclock_t *clock, const sim_driver_t *driver,
                       xy_sim_t **sim_p)
{
    xy_sim_t *sim = xy_calloc(1, sizeof(*sim));
    bool on_sibling = false;
    xy_status_t st;

    if (sim == NULL)
        return xy_fail_memory("simulating a node");
    sim->node = *node;
    sim->driver = *driver;
    sim->clock = clock != NULL ? clock : &sim->own_clock;
    if (sim_is_model(sim))
        sim->node.progress = XY_SIM_TASKS;
    st = xy_cores_init(&sim->cores, node->machine);
    if (st == XY_OK)
        st = sim_hosts_make(sim);
    if (st == XY_OK)
        st = place_ranks(sim);
    if (st == XY_OK)
        st = place_threads(sim, &on_sibling);
    if (st == XY_OK)
        st = make_units(sim, on_sibling);
    if (st == XY_OK)
        st = make_threads(sim, on_sibling);
    if (st == XY_OK)
        st = make_memory(sim, on_sibling);
    if (st == XY_OK)
        st = sim_network_make(sim);
    if (st != XY_OK)
        xy_sim_destroy(sim);
    else
        *sim_p = sim;
    return st;
}

void xy_sim_destroy(xy_sim_t *sim)
{
    if (sim == NULL)
        return;
    sim_call_cleanup(&sim->call);
    sim_memory_cleanup(&sim->own_memory);
    xy_vclock_cleanup(&sim->own_clock);
    sim_network_cleanup(sim);
    sim_hosts_cleanup(sim);
    xy_cores_cleanup(&sim->cores);
    xy_free(sim->core_of);
    xy_free(sim->comm);
    xy_free(sim->thread_of);
    xy_free(sim->units);
    xy_free(sim->threads);
    xy_free(sim->order_threads);
    xy_free(sim->ranks);
    xy_free(sim);
}

int xy_sim_comm_cores(const xy_sim_t *sim)
{
    return sim->comm_count;
}

/* A unit as before the first run: it does nothing. */
static void reset_unit(xy_sim_t *sim, int i)
{
    sim_unit_t *u = &sim->units[i];

    xy_event_init(&u->event, sim_unit_due, sim, i);
    u->thread = u->supervisor = u->vain = -1;
    u->op = NULL;
    u->idlers = u->todo = u->polls = 0;
    u->is_held = u->is_idle = false;
    u->is_asleep = true;
    u->turn_end = u->compute_rate = u->flow = 0;
    u->share.done = sim_flow_done;
    xy_order_queue_init(&u->queue, sim->order, sim->order_threads);
}

void sim_reset(xy_sim_t *sim)
{
    if (sim->clock == &sim->own_clock)
        xy_vclock_reset(sim->clock);
    sim_hosts_reset(sim);
    sim_network_reset(sim);
    sim->instant_first = sim->starts = NULL;
    sim->running = sim->calls = 0;
    sim->unfinished = sim->node.ranks;
    sim->result = (xy_sim_result_t){0};
    memset(sim->ranks, 0, (size_t)sim->node.ranks * sizeof(*sim->ranks));
    memset(sim->order_threads, 0, (size_t)sim->thread_count * sizeof(*sim->order_threads));
    for (int t = 0; t < sim->thread_count; t++)
        sim->threads[t].count = sim->threads[t].left = sim->threads[t].remote = 0;
    for (int i = 0; i < sim->unit_count; i++)
        reset_unit(sim, i);
    sim_memory_reset(&sim->own_memory);
}
