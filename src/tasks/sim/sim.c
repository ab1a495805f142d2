/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks/sim/sim.h"

#include <math.h>
#include <string.h>

#include "tasks/sim/sim_internal.h"

/* ---- Workers ---- */

static void refuse(sim_tasks_t *s, sim_worker_t *w)
{
    w->is_refused = true;
    w->refused_tasks = s->result.tasks;
    w->refused_arrivals = s->arrivals[w->memory];
}

/* Nothing happened since the policy had no task for it that could have brought one. */
static bool is_still_refused(const sim_tasks_t *s, const sim_worker_t *w)
{
    return w->is_refused && w->refused_tasks == s->result.tasks &&
           w->refused_arrivals == s->arrivals[w->memory];
}

/* Takes tasks from the policy until the pipeline of a worker is full. */
static void worker_feed(sim_tasks_t *s, int32_t worker)
{
    sim_worker_t *w = &s->workers[worker];
    sim_memory_t *m = &s->memories[w->memory];

    if (is_still_refused(s, w))
        return;
    w->is_refused = false;
    while (w->pipeline.held < s->depth) {
        xy_op_id_t op = s->policy->pick(s->state, worker);
        xy_task_slot_t *slot;

        if (op < 0) {
            refuse(s, w);
            return;
        }
        slot = xy_task_pipeline_take(&w->pipeline, op, worker);
        sim_memory_hold(s, slot);
        xy_task_gathering_add(&m->gathering, slot);
    }
}

/* Starts the next task of an idle worker whose data are all present. */
static void worker_start(sim_tasks_t *s, int32_t worker)
{
    sim_worker_t *w = &s->workers[worker];
    const xy_access_t *a;
    int32_t n;

    if (w->running != NULL)
        return;
    w->running = xy_task_pipeline_complete(&w->pipeline);
    if (w->running == NULL)
        return;
    xy_task_gathering_remove(&s->memories[w->memory].gathering, w->running);
    n = xy_graph_accesses(s->graph, w->running->op, &a);
    for (int32_t i = 0; i < n; i++)
        if (a[i].mode & XY_ACCESS_WRITE)
            sim_memory_own(s, w->memory, a[i].data);
    w->start = s->clock.now;
    sim_overlap(s, w->memory, 0, 1);
    xy_vclock_set(&s->clock, &w->event,
                  s->clock.now + xy_task_seconds(&s->view, w->running->op, worker));
}

/* Ends the task of a worker and reports its successors as ready; an event of the clock. */
static void worker_due(xy_event_t *event)
{
    sim_tasks_t *s = event->owner;
    int32_t worker = event->index;
    sim_worker_t *w = &s->workers[worker];
    xy_op_id_t op = w->running->op;
    const xy_op_id_t *after;
    int32_t n = xy_graph_successors(s->graph, op, &after);
    double start;

    if (s->observer != NULL && s->observer->task != NULL)
        s->observer->task(s->observer->arg, worker, op, w->start, s->clock.now);
    s->is_changed = true;
    sim_overlap(s, w->memory, 0, -1);
    xy_task_pipeline_free(&w->pipeline, w->running);
    w->running = NULL;
    s->is_over[op] = true;
    s->left--;
    s->work_left -= xy_graph_op(s->graph, op)->seconds;
    s->result.tasks++;
    s->result.tasks_end = s->result.makespan = s->clock.now;
    sim_memory_finished(s, w->memory, op);
    start = sim_clock();
    if (s->policy->done != NULL)
        s->policy->done(s->state, worker, op);
    for (int32_t i = 0; i < n; i++)
        if (--s->waiting[after[i]] == 0)
            s->policy->ready(s->state, after[i]);
    s->result.scheduling_seconds += sim_clock() - start;
}

/* ---- Making and unmaking ---- */

/* Frees the simulation and its policy. */
static void cleanup(sim_tasks_t *s)
{
    for (int32_t m = 0; s->memories != NULL && m < s->platform->memories; m++) {
        xy_free(s->memories[m].gathering.slots);
        xy_task_memory_cleanup(&s->memories[m].space);
    }
    s->policy->destroy(s->state);
    xy_free(s->memories);
    xy_free(s->bytes);
    xy_free(s->states);
    xy_free(s->arrivals);
    xy_free(s->workers);
    for (int32_t w = 0; s->ways != NULL && w < s->platform->memories * s->platform->memories; w++)
        xy_flow_path_cleanup(&s->ways[w].path);
    xy_free(s->ways);
    xy_flows_cleanup(&s->links);
    xy_vclock_cleanup(&s->clock);
    xy_arena_destroy(s->arena);
    xy_free(s->waiting);
    xy_free(s->writers_left);
    xy_free(s->is_over);
    xy_task_uses_cleanup(&s->uses);
    xy_free(s->must_load);
}

static xy_status_t init_memory(sim_tasks_t *s, int32_t memory)
{
    sim_memory_t *m = &s->memories[memory];
    size_t slots = (size_t)s->platform->workers * (size_t)s->depth;

    m->gathering.slots = xy_calloc(slots, sizeof(*m->gathering.slots));
    if (m->gathering.slots == NULL ||
        xy_task_memory_init(&m->space, s->data_count, s->platform->capacity[memory],
                            memory == 0 ? XY_TASK_HERE : 0) != XY_OK)
        return XY_ENOMEM;
    s->states[memory] = m->space.states;
    return XY_OK;
}

/* Allocates memories, workers and links; cleanup() also frees a part of them. */
static xy_status_t init_arrays(sim_tasks_t *s)
{
    size_t memories = (size_t)s->platform->memories, ops = (size_t)s->ops + 1;
    size_t data = (size_t)s->data_count + 1;

    s->memories = xy_calloc(memories, sizeof(*s->memories));
    s->bytes = xy_calloc(data, sizeof(*s->bytes));
    s->states = xy_calloc(memories, sizeof(*s->states));
    s->arrivals = xy_calloc(memories, sizeof(*s->arrivals));
    s->workers = xy_calloc((size_t)s->platform->workers, sizeof(*s->workers));
    s->ways = xy_calloc(memories * memories, sizeof(*s->ways));
    s->waiting = xy_calloc(ops, sizeof(*s->waiting));
    s->writers_left = xy_calloc(data, sizeof(*s->writers_left));
    s->is_over = xy_calloc(ops, sizeof(*s->is_over));
    if (s->memories == NULL || s->bytes == NULL || s->states == NULL || s->arrivals == NULL ||
        s->workers == NULL || s->ways == NULL || s->waiting == NULL || s->writers_left == NULL ||
        s->is_over == NULL || xy_arena_create(&s->arena) != XY_OK)
        return XY_ENOMEM;
    for (int32_t d = 0; d < s->data_count; d++)
        s->bytes[d] = xy_graph_data_at(s->graph, d)->bytes;
    for (int32_t m = 0; m < s->platform->memories; m++)
        if (init_memory(s, m) != XY_OK)
            return XY_ENOMEM;
    for (int32_t w = 0; w < s->platform->memories * s->platform->memories; w++)
        xy_flow_path_init(&s->ways[w].path, &s->links, &s->platform->shared[w],
                          s->platform->shared[w] >= 0 ? 1 : 0, s->platform->rate[w]);
    return xy_flows_init(&s->links, &s->clock, s->platform->shared_rate, s->platform->shared_count,
                         s, sim_transfer_done);
}

/* Initializes the workers and counts predecessors, pending writes and work. */
static void init_work(sim_tasks_t *s)
{
    const xy_access_t *a;

    for (int32_t w = 0; w < s->platform->workers; w++) {
        xy_event_init(&s->workers[w].event, worker_due, s, w);
        s->workers[w].memory = s->platform->memory_of[w];
        xy_task_pipeline_init(&s->workers[w].pipeline);
        s->speed += s->platform->speed[w];
    }
    for (int32_t i = 0; i < s->ops; i++) {
        s->work_left += xy_graph_op(s->graph, i)->seconds;
        s->waiting[i] = xy_graph_predecessors(s->graph, i);
        for (int32_t k = xy_graph_accesses(s->graph, i, &a) - 1; k >= 0; k--)
            s->writers_left[a[k].data] += (a[k].mode & XY_ACCESS_WRITE) ? 1 : 0;
    }
    s->work = s->work_left;
    s->result.compute_bound = s->work / s->speed;
    s->left = s->ops;
}

/* Sets the view that the policy has of the simulation. */
static void init_view(sim_tasks_t *s)
{
    const xy_task_platform_t *p = s->platform;

    s->view = (xy_task_view_t){
        .graph = s->graph,
        .workers = p->workers,
        .memories = p->memories,
        .memory_of = p->memory_of,
        .speed = p->speed,
        .capacity = p->capacity,
        .copies = (const uint8_t *const *)s->states,
        .transfer_latency = p->latency,
        .transfer_rate = p->rate,
        .arrivals = s->arrivals,
        .now = &s->clock.now,
    };
}

/* ---- What cannot work is refused before the start ---- */

/* The data placed in a memory must fit there together. */
static xy_status_t check_homes(const sim_tasks_t *s)
{
    for (int32_t m = 1; m < s->platform->memories; m++) {
        uint64_t bytes = 0, room = s->platform->capacity[m];
        char need[32], have[32];

        for (int32_t d = 0; d < s->data_count; d++)
            bytes += xy_graph_data_at(s->graph, d)->home == m ? sim_bytes(s, d) : 0;
        if (room != 0 && bytes > room)
            return xy_fail(XY_EINVAL,
                           "the data placed in memory %d take %s, and it holds %s; place some "
                           "elsewhere, or give more memory",
                           m, xy_format_size(bytes, need), xy_format_size(room, have));
    }
    for (int32_t d = 0; d < s->data_count; d++)
        if (xy_graph_data_at(s->graph, d)->home < 0 ||
            xy_graph_data_at(s->graph, d)->home >= s->platform->memories)
            return xy_fail(
                XY_EINVAL,
                "datum %d is placed in memory %d; there are %d, and 0 is the main memory", d,
                xy_graph_data_at(s->graph, d)->home, s->platform->memories);
    return XY_OK;
}

/* A clock that reaches infinity goes no further. */
static xy_status_t check_times(const sim_tasks_t *s)
{
    double work = 0, slowest = s->platform->speed[0];

    for (int32_t w = 1; w < s->platform->workers; w++)
        slowest = fmin(slowest, s->platform->speed[w]);
    for (int32_t i = 0; i < s->ops; i++)
        work += xy_graph_op(s->graph, i)->seconds;
    if (!isfinite(2 * work / slowest))
        return xy_fail(XY_EINVAL, "the total time of all tasks is too large");
    return XY_OK;
}

/* Fails for a task whose data exceed the smallest memory of a worker. */
static xy_status_t check_sizes(const sim_tasks_t *s)
{
    uint64_t room = UINT64_MAX;
    xy_status_t st = XY_OK;

    for (int32_t w = 0; w < s->platform->workers; w++) {
        uint64_t capacity = s->platform->capacity[s->platform->memory_of[w]];

        if (capacity != 0 && capacity < room)
            room = capacity;
    }
    for (int32_t i = 0; i < s->ops && st == XY_OK; i++)
        st = xy_task_check_fits(s->graph, i, room);
    return st;
}

/* ---- The run ---- */

/* After whatever happened at this moment: take tasks, gather, start. */
static void settle(sim_tasks_t *s)
{
    double start = sim_clock();

    for (int32_t w = 0; w < s->platform->workers; w++)
        worker_feed(s, w);
    s->result.scheduling_seconds += sim_clock() - start;
    for (int32_t m = 0; m < s->platform->memories; m++)
        sim_memory_pump(s, m);
    for (int32_t w = 0; w < s->platform->workers; w++)
        worker_start(s, w);
    if (s->left == 0)
        sim_memory_flush(s);
}

/* A trial can stop: it has done its share, or ends after the best one before it. */
static bool is_decided(sim_tasks_t *s)
{
    if (s->trial.share > 0) {
        s->trial.is_done = s->work_left <= (1 - s->trial.share) * s->work;
        s->is_cut = s->trial.is_done || (s->trial.seconds > 0 && s->clock.now > s->trial.seconds);
    } else if (s->trial.seconds > 0) {
        s->is_cut = sim_bound_end(s) > s->trial.seconds;
    }
    return s->is_cut;
}

static void moment_over(void *owner)
{
    sim_tasks_t *s = owner;

    if (s->is_changed) {
        s->is_changed = false;
        settle(s);
    }
    if (is_decided(s))
        xy_vclock_stop(&s->clock);
}

/* Runs the simulation until all tasks are complete, or until a trial is cut short. */
static xy_status_t run(sim_tasks_t *s)
{
    double start = sim_clock();

    for (xy_op_id_t i = 0; i < s->ops; i++)
        if (s->waiting[i] == 0)
            s->policy->ready(s->state, i);
    s->result.scheduling_seconds += sim_clock() - start;
    s->clock.settle = moment_over;
    s->clock.owner = s;
    s->is_changed = true;
    moment_over(s);
    if (xy_vclock_run(&s->clock) != XY_OK)
        return xy_fail_memory("simulating the tasks");
    return xy_task_policy_end(s->policy, s->state, s->is_cut ? 0 : s->left, s->ops);
}

/* Checks the graph, creates the policy and simulates the run. */
static xy_status_t simulate(sim_tasks_t *s, const xy_task_sim_t *how)
{
    xy_task_params_t params = how->params;
    double start;
    xy_status_t st;

    st = init_arrays(s);
    if (st == XY_OK && s->eviction->is_by_next_use && s->policy->next_use == NULL)
        st = xy_task_uses_init(&s->uses, s->graph);
    if (st != XY_OK)
        return xy_fail_memory("preparing the simulation");
    st = check_homes(s);
    if (st == XY_OK)
        st = check_sizes(s);
    if (st == XY_OK)
        st = check_times(s);
    if (st != XY_OK)
        return st;
    sim_memory_settle_in(s);
    init_work(s);
    if (sim_bound_init(s) != XY_OK)
        return xy_fail_memory("preparing the simulation");
    s->result.bound = sim_bound_start(s);
    init_view(s);
    params.alpha = params.alpha > 0 ? params.alpha : 1;
    params.beta = params.beta > 0 ? params.beta : 1;
    start = sim_clock();
    st = xy_task_policy_create(s->policy, &s->view, &params, &s->state);
    s->result.scheduling_seconds += sim_clock() - start;
    if (st == XY_OK)
        st = run(s);
    return st;
}

xy_status_t sim_task_run(const xy_graph_t *graph, const xy_task_platform_t *platform,
                         const xy_task_sim_t *how, const xy_task_policy_t *policy,
                         const xy_task_observer_t *observer, sim_trial_t *trial,
                         xy_task_result_t *result_p)
{
    sim_tasks_t s = {.graph = graph, .platform = platform, .observer = observer, .policy = policy};
    xy_status_t st = xy_task_eviction_find(how->eviction != NULL ? how->eviction : policy->eviction,
                                           &s.eviction);

    if (st != XY_OK)
        return st;
    if (how->ahead != NULL) {
        if (trial != NULL)
            trial->is_whole = trial->is_done = true;
        return sim_run_ahead(graph, platform, how, policy, observer, result_p);
    }
    s.result.policy = policy->name;
    s.result.eviction = s.eviction->name;
    s.result.extra_rounds = how->params.extra_rounds;
    s.result.workers = platform->workers;
    s.depth = xy_task_pipeline_depth(policy, how->pipeline);
    s.ops = xy_graph_ops(graph);
    s.data_count = xy_graph_data_count(graph);
    s.trial = trial != NULL ? *trial : (sim_trial_t){0};
    st = simulate(&s, how);
    cleanup(&s);
    if (st != XY_OK)
        return st;
    if (trial != NULL) {
        trial->is_whole = !s.is_cut;
        trial->is_done = !s.is_cut || s.trial.is_done;
    }
    *result_p = s.result;
    return XY_OK;
}
