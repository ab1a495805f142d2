/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run in virtual time by the rules of the engine that drives real GPUs: that engine itself runs,
 * on GPUs that only take time. So its decisions, loads and stores are those of a real run, and the
 * clock counts what its streams, links and launches would take.
 */
#include <math.h>

#include "tasks/device/device.h"
#include "tasks/sim/task_sim_internal.h"

enum { GPUS_MAX = 64 };

/* Where nothing else is known. */
const xy_task_ahead_t xy_task_ahead_usual = {
    .launch = 3e-6, .copy = 3e-6, .event = 0.5e-6, .delay = 3e-6, .decision = 1e-6};

typedef struct {
    const xy_graph_t *graph;
    const double *speed; /* of each GPU */
    double once;
    const double *clock;
    xy_gpu_device_t *const *gpus;
    int32_t gpu_count;
    sim_trial_t *trial; /* or NULL */
} tasks_t;

/* The trial has come to the end of a step at `time`. */
static void end_step(sim_trial_t *t, int32_t step, double time)
{
    t->at[step] = time;
    atomic_store_explicit(&t->steps, step, memory_order_release);
}

/* The whole run has ended. Steps that ended when nothing more was to be put into a stream are taken
 * as evenly long. */
static void end_all(sim_trial_t *t, double time)
{
    double before = atomic_load_explicit(&t->field->least, memory_order_relaxed);
    int32_t last = t->steps;

    for (int32_t k = last + 1; k < SIM_STEPS; k++)
        t->at[k] = t->at[last] + (time - t->at[last]) * (k - last) / (SIM_STEPS - last);
    end_step(t, SIM_STEPS, time);
    while (time < before &&
           !atomic_compare_exchange_weak_explicit(&t->field->least, &before, time,
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

/* XY_EINTERRUPTED ends the run. The clock of the host is never ahead of the end. */
static xy_status_t may_continue(const tasks_t *tasks)
{
    sim_trial_t *t = tasks->trial;
    int64_t ops = xy_graph_ops(tasks->graph), over = 0;

    if (t == NULL || t->field == NULL)
        return XY_OK;
    if (atomic_load_explicit(&t->field->enough, memory_order_relaxed) ||
        *tasks->clock > sim_as_fast * atomic_load_explicit(&t->field->least, memory_order_relaxed))
        return XY_EINTERRUPTED;
    for (int32_t g = 0; g < tasks->gpu_count; g++)
        over += (int64_t)xy_gpu_model_tasks(tasks->gpus[g]);
    for (int32_t k = t->steps + 1; k < SIM_STEPS && over * SIM_STEPS >= k * ops; k++)
        end_step(t, k, *tasks->clock);
    return XY_OK;
}

static xy_status_t put(void *arg, const xy_task_kernel_t *kernel)
{
    const tasks_t *tasks = arg;
    double seconds = xy_graph_op(tasks->graph, kernel->op)->seconds;
    xy_status_t st = may_continue(tasks);

    return st == XY_OK ? xy_gpu_model_launch(kernel->stream, seconds / tasks->speed[kernel->gpu], 1)
                       : st;
}

static xy_status_t put_together(void *arg, const xy_task_kernel_t *kernels, int32_t count)
{
    const tasks_t *tasks = arg;
    xy_status_t st = may_continue(tasks);
    double seconds = 0;

    for (int32_t i = 0; i < count; i++)
        seconds += xy_graph_op(tasks->graph, kernels[i].op)->seconds;
    seconds = fmax(seconds - (count - 1) * tasks->once, 0) / tasks->speed[kernels[0].gpu];
    return st == XY_OK ? xy_gpu_model_launch(kernels[0].stream, seconds, (uint64_t)count) : st;
}

/* Refuses platforms and graphs that real runs on GPUs do not have. */
static xy_status_t check(const xy_graph_t *graph, const xy_task_platform_t *p)
{
    if (p->workers > GPUS_MAX)
        return xy_fail(XY_ELIMIT, "%d GPUs; at most %d can be driven as in real runs", p->workers,
                       GPUS_MAX);
    for (int32_t w = 0; w < p->workers; w++)
        if (p->memory_of[w] != w + 1 || p->workers != p->memories - 1)
            return xy_fail(XY_EINVAL, "only GPUs can be driven as in real runs; leave out --cpus");
    for (int32_t d = 0; d < xy_graph_data_count(graph); d++)
        if (xy_graph_data_at(graph, d)->home != 0)
            return xy_fail(XY_EINVAL,
                           "datum %d lives in the memory of a GPU; data of real runs live in the "
                           "main memory",
                           d);
    return XY_OK;
}

/* The most that all data can need, where there is no limit. */
static uint64_t memory_of(const xy_graph_t *graph, const xy_task_platform_t *p, int32_t gpu)
{
    uint64_t bytes = 1 << 20;

    if (p->capacity[gpu + 1] != 0)
        return p->capacity[gpu + 1];
    for (int32_t d = 0; d < xy_graph_data_count(graph); d++)
        bytes += 2 * xy_graph_data_at(graph, d)->bytes;
    return bytes;
}

/* Returns the model of a GPU with the link costs of the platform. */
static xy_gpu_model_t model_of(const xy_graph_t *graph, const xy_task_platform_t *p, int32_t gpu,
                               const xy_task_ahead_t *costs, double *clock)
{
    int32_t in = gpu + 1, out = (gpu + 1) * p->memories, shared = p->shared[in];
    double both = fmax(p->rate[in], p->rate[out]);

    if (shared >= 0)
        both = p->shared_rate[shared] / 2;
    return (xy_gpu_model_t){.clock = clock,
                            .memory = memory_of(graph, p, gpu),
                            .launch_put = costs->launch,
                            .copy_put = costs->copy,
                            .event_put = costs->event,
                            .delay = costs->delay,
                            .resume = costs->resume,
                            .in_latency = p->latency[in],
                            .out_latency = p->latency[out],
                            .in_rate = p->rate[in],
                            .out_rate = p->rate[out],
                            .both_rate = both};
}

/* The least that all tasks take: as many as possible share each launch. */
static double work_of(const xy_graph_t *graph, const xy_task_ahead_t *costs)
{
    double saved = costs->batch > 1 ? costs->once * (1 - 1.0 / costs->batch) : 0, work = 0;

    for (xy_op_id_t i = 0; i < xy_graph_ops(graph); i++)
        work += fmax(xy_graph_op(graph, i)->seconds - saved, 0);
    return work;
}

xy_status_t sim_run_ahead(const xy_graph_t *graph, const xy_task_platform_t *p,
                          const xy_task_sim_t *how, const xy_task_policy_t *policy,
                          const xy_task_observer_t *observer, sim_trial_t *trial,
                          xy_task_result_t *result_p)
{
    double clock = 0, speed = 0;
    xy_gpu_device_t *gpus[GPUS_MAX] = {0};
    uint64_t memories[GPUS_MAX];
    tasks_t tasks = {graph, p->speed, how->ahead->once, &clock, gpus, p->workers, trial};
    xy_task_device_t device = {.policy = policy->name,
                               .eviction = how->eviction,
                               .params = how->params,
                               .gpus = gpus,
                               .gpu_count = p->workers,
                               .speeds = p->speed,
                               .memories = memories,
                               .is_pinned = true,
                               .in = {p->latency[1], p->rate[1]},
                               .out = {p->latency[p->memories], p->rate[p->memories]},
                               .launch = put,
                               .launch_together = put_together,
                               .batch = how->ahead->batch,
                               .exchange_bytes = how->ahead->exchange_bytes,
                               .arg = &tasks,
                               .observer = observer,
                               .clock = &clock,
                               .decision_seconds = how->ahead->decision};
    xy_status_t st = check(graph, p);

    for (int32_t g = 0; g < p->workers && st == XY_OK; g++) {
        xy_gpu_model_t model = model_of(graph, p, g, how->ahead, &clock);

        st = xy_gpu_model_open(&model, &gpus[g]);
        memories[g] = model.memory;
        speed += p->speed[g];
    }
    if (st == XY_OK)
        st = xy_task_execute_on(graph, &device, result_p);
    if (st == XY_OK && trial != NULL && trial->field != NULL)
        end_all(trial, result_p->makespan);
    for (int32_t g = 0; g < p->workers; g++)
        xy_gpu_close(gpus[g]);
    if (st == XY_OK) {
        result_p->extra_rounds = how->params.extra_rounds;
        result_p->compute_bound = work_of(graph, how->ahead) / speed;
    }
    return st;
}
