/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks/sim/sim.h"

#include <math.h>
#include <string.h>

#include "fiber/fiber.h"
#include "tasks/sim/task_sim_internal.h"

/* ---- Workers ---- */

static void refuse(sim_tasks_t *s, sim_worker_t *w)
{
    w->is_refused = true;
    w->refused_tasks = s->base.result.tasks;
    w->refused_arrivals = s->arrivals[w->memory];
}

/* Nothing happened since the policy had no task for it that could have brought one. */
static bool is_still_refused(const sim_tasks_t *s, const sim_worker_t *w)
{
    return w->is_refused && w->refused_tasks == s->base.result.tasks &&
           w->refused_arrivals == s->arrivals[w->memory];
}

/* Takes tasks from the policy until the pipeline of a worker is full. */
static void worker_feed(sim_tasks_t *s, int32_t worker)
{
    sim_worker_t *w = &s->workers[worker];

    w->is_refused = false;
    while (w->pipeline.held < s->base.depth && !w->is_refused) {
        xy_op_id_t op = s->base.policy->pick(s->base.state, worker);

        if (op < 0)
            refuse(s, w);
        else
            xy_task_engine_take(&s->base, &w->pipeline, op, worker, w->memory);
    }
}

/* All workers that have room for a task, and have not been refused one just now. */
static void feed(sim_tasks_t *s)
{
    double start = 0;

    for (int32_t i = 0; i < s->platform->workers; i++) {
        const sim_worker_t *w = &s->workers[i];

        if (w->pipeline.held >= s->base.depth || is_still_refused(s, w))
            continue;
        if (start == 0)
            start = xy_now();
        worker_feed(s, i);
    }
    if (start != 0)
        s->base.result.scheduling_seconds += xy_now() - start;
}

/* Starts the next task of an idle worker whose data are all present. */
static void worker_start(sim_tasks_t *s, int32_t worker)
{
    sim_worker_t *w = &s->workers[worker];

    if (w->running != NULL)
        return;
    w->running = xy_task_pipeline_complete(&w->pipeline);
    if (w->running == NULL)
        return;
    xy_task_engine_begin(&s->base, w->memory, w->running);
    w->start = s->clock.now;
    sim_overlap(s, w->memory, 0, 1);
    xy_vclock_set(&s->clock, &w->event,
                  s->clock.now + xy_task_seconds(&s->base.view, w->running->op, worker));
}

/* Ends the task of a worker and reports its successors as ready; an event of the clock. */
static void worker_due(xy_event_t *event)
{
    sim_tasks_t *s = event->owner;
    int32_t worker = event->index;
    sim_worker_t *w = &s->workers[worker];
    xy_op_id_t op = w->running->op;
    xy_task_slot_t *slot = w->running;

    if (s->observer != NULL && s->observer->task != NULL)
        s->observer->task(s->observer->arg, worker, op, w->start, s->clock.now);
    s->is_changed = true;
    sim_overlap(s, w->memory, 0, -1);
    w->running = NULL;
    s->work_left -= xy_graph_op(s->base.graph, op)->seconds;
    s->base.result.tasks++;
    s->base.result.tasks_end = s->base.result.makespan = s->clock.now;
    xy_task_engine_end(&s->base, w->memory, &w->pipeline, slot);
}

/* ---- Making and unmaking ---- */

/* Frees the simulation and its policy. */
static void cleanup(sim_tasks_t *s)
{
    xy_task_engine_cleanup(&s->base);
    xy_free(s->traffic);
    xy_free(s->arrivals);
    xy_free(s->workers);
    for (int32_t w = 0; s->ways != NULL && w < s->platform->memories * s->platform->memories; w++)
        xy_flow_path_cleanup(&s->ways[w].path);
    xy_free(s->ways);
    xy_flows_cleanup(&s->links);
    xy_vclock_cleanup(&s->clock);
    xy_arena_destroy(s->arena);
    xy_free(s->must_load);
}

/* Allocates memories, workers and links; cleanup() also frees a part of them. */
static xy_status_t init_arrays(sim_tasks_t *s)
{
    size_t memories = (size_t)s->platform->memories;

    if (xy_task_engine_init(&s->base, s->base.graph) != XY_OK)
        return XY_ENOMEM;
    s->traffic = xy_calloc(memories, sizeof(*s->traffic));
    s->arrivals = xy_calloc(memories, sizeof(*s->arrivals));
    s->workers = xy_calloc((size_t)s->platform->workers, sizeof(*s->workers));
    s->ways = xy_calloc(memories * memories, sizeof(*s->ways));
    if (s->traffic == NULL || s->arrivals == NULL || s->workers == NULL || s->ways == NULL ||
        xy_arena_create(&s->arena) != XY_OK)
        return XY_ENOMEM;
    for (int32_t m = 0; m < s->platform->memories; m++)
        s->base.memories[m].space.capacity = s->platform->capacity[m];
    for (int32_t w = 0; w < s->platform->memories * s->platform->memories; w++)
        xy_flow_path_init(&s->ways[w].path, &s->links, &s->platform->shared[w],
                          s->platform->shared[w] >= 0 ? 1 : 0, s->platform->rate[w]);
    return xy_flows_init(&s->links, &s->clock, s->platform->shared_rate, s->platform->shared_count,
                         s, sim_transfer_done);
}

/* Initializes the workers and sums the work. */
static void init_work(sim_tasks_t *s)
{
    for (int32_t w = 0; w < s->platform->workers; w++) {
        xy_event_init(&s->workers[w].event, worker_due, s, w);
        s->workers[w].memory = s->platform->memory_of[w];
        xy_task_pipeline_init(&s->workers[w].pipeline);
        s->speed += s->platform->speed[w];
    }
    for (int32_t i = 0; i < s->base.ops; i++)
        s->work_left += xy_graph_op(s->base.graph, i)->seconds;
    s->work = s->work_left;
    s->base.result.compute_bound = s->work / s->speed;
}

/* Sets the view that the policy has of the simulation. */
static void init_view(sim_tasks_t *s)
{
    const xy_task_platform_t *p = s->platform;

    s->base.view = (xy_task_view_t){
        .graph = s->base.graph,
        .workers = p->workers,
        .memories = p->memories,
        .memory_of = p->memory_of,
        .speed = p->speed,
        .capacity = p->capacity,
        .copies = (const uint8_t *const *)s->base.states,
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

        for (int32_t d = 0; d < s->base.data_count; d++)
            bytes += xy_graph_data_at(s->base.graph, d)->home == m ? sim_bytes(s, d) : 0;
        if (room != 0 && bytes > room)
            return xy_fail(XY_EINVAL,
                           "the data placed in memory %d take %s, and it holds %s; place some "
                           "elsewhere, or give more memory",
                           m, xy_format_size(bytes, need), xy_format_size(room, have));
    }
    for (int32_t d = 0; d < s->base.data_count; d++)
        if (xy_graph_data_at(s->base.graph, d)->home < 0 ||
            xy_graph_data_at(s->base.graph, d)->home >= s->platform->memories)
            return xy_fail(
                XY_EINVAL,
                "datum %d is placed in memory %d; there are %d, and 0 is the main memory", d,
                xy_graph_data_at(s->base.graph, d)->home, s->platform->memories);
    return XY_OK;
}

/* A clock that reaches infinity goes no further. */
static xy_status_t check_times(const sim_tasks_t *s)
{
    double work = 0, slowest = s->platform->speed[0];

    for (int32_t w = 1; w < s->platform->workers; w++)
        slowest = fmin(slowest, s->platform->speed[w]);
    for (int32_t i = 0; i < s->base.ops; i++)
        work += xy_graph_op(s->base.graph, i)->seconds;
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
    for (int32_t i = 0; i < s->base.ops && st == XY_OK; i++)
        st = xy_task_check_fits(s->base.graph, i, room);
    return st;
}

/* ---- The run ---- */

/* After whatever happened at this moment: take tasks, gather, start. */
static void settle(sim_tasks_t *s)
{
    feed(s);
    for (int32_t m = 0; m < s->platform->memories; m++)
        xy_task_engine_pump(&s->base, m);
    for (int32_t w = 0; w < s->platform->workers; w++)
        worker_start(s, w);
    if (s->base.left == 0)
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
    double start = xy_now();

    for (xy_op_id_t i = 0; i < s->base.ops; i++)
        if (s->base.waiting[i] == 0)
            s->base.policy->ready(s->base.state, i);
    s->base.result.scheduling_seconds += xy_now() - start;
    s->clock.settle = moment_over;
    s->clock.owner = s;
    s->is_changed = true;
    moment_over(s);
    if (xy_vclock_run(&s->clock) != XY_OK)
        return xy_fail_memory("simulating the tasks");
    return xy_task_policy_end(s->base.policy, s->base.state, s->is_cut ? 0 : s->base.left,
                              s->base.ops);
}

/* Checks the graph, creates the policy and simulates the run. */
static xy_status_t simulate(sim_tasks_t *s, const xy_task_sim_t *how)
{
    xy_status_t st = init_arrays(s);

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
    s->base.result.bound = sim_bound_start(s);
    init_view(s);
    st = xy_task_engine_start(&s->base, &how->params);
    if (st == XY_OK)
        st = run(s);
    return st;
}

xy_status_t sim_task_run(const xy_graph_t *graph, const xy_task_platform_t *platform,
                         const xy_task_sim_t *how, const xy_task_policy_t *policy,
                         const xy_task_observer_t *observer, sim_trial_t *trial,
                         xy_task_result_t *result_p)
{
    sim_tasks_t s = {.base = {.driver = &sim_driver,
                              .graph = graph,
                              .policy = policy,
                              .worker_count = platform->workers,
                              .memory_count = platform->memories,
                              .depth = xy_task_pipeline_depth(policy, how->pipeline)},
                     .platform = platform,
                     .observer = observer,
                     .trial = trial != NULL ? *trial : (sim_trial_t){0}};
    xy_status_t st = xy_task_engine_find(&s.base, NULL, how->eviction);

    if (st != XY_OK)
        return st;
    if (how->ahead != NULL) {
        if (trial != NULL)
            trial->is_whole = trial->is_done = true;
        return sim_run_ahead(graph, platform, how, policy, observer, trial, result_p);
    }
    s.base.result.extra_rounds = how->params.extra_rounds;
    st = simulate(&s, how);
    cleanup(&s);
    if (st != XY_OK)
        return st;
    if (trial != NULL) {
        trial->is_whole = !s.is_cut;
        trial->is_done = !s.is_cut || s.trial.is_done;
    }
    *result_p = s.base.result;
    return XY_OK;
}
