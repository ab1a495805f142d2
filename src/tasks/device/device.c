/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks/device/device.h"

#include <string.h>

#include "tasks/device/device_internal.h"

/* ---- Making and unmaking ---- */

/* Stops the cores, waits for all streams and frees the engine's memory. */
static void cleanup(device_tasks_t *e)
{
    device_cores_stop(e);
    for (int32_t g = 0; e->devices != NULL && g < e->how->gpu_count; g++) {
        device_memory_t *m = &e->devices[g];

        for (int k = 0; k < LANES; k++)
            if (m->lanes[k].stream != NULL)
                (void)xy_gpu_stream_wait(m->lanes[k].stream);
        device_memory_cleanup(e, m);
        for (int k = 0; k < LANES; k++)
            device_lane_cleanup(&m->lanes[k]);
        xy_gpu_event_destroy(m->origin);
    }
    device_unpin(e);
    xy_task_engine_cleanup(&e->base);
    xy_vec_cleanup(&e->records);
    xy_free(e->homes);
    xy_free(e->devices);
    xy_free(e->buffers);
    device_jobs_cleanup(e);
    device_messages_cleanup(e);
    pthread_cond_destroy(&e->rung);
    pthread_mutex_destroy(&e->lock);
}

/* Allocates the arrays of the engine; returns false without memory, and cleanup() frees the
 * rest. */
static bool init_arrays(device_tasks_t *e)
{
    if (xy_task_engine_init(&e->base, e->order) != XY_OK ||
        xy_task_engine_init_platform(&e->base) != XY_OK)
        return false;
    e->homes = xy_calloc((size_t)e->base.data_count + 1, sizeof(*e->homes));
    e->devices = xy_calloc((size_t)e->how->gpu_count + 1, sizeof(*e->devices));
    e->buffers = xy_calloc((size_t)e->base.most * XY_TASK_BATCH_MAX, sizeof(*e->buffers));
    for (xy_op_id_t i = 0; i < e->base.ops; i++)
        e->seconds_left +=
            xy_graph_op(e->base.graph, i)->seconds > 0 ? xy_graph_op(e->base.graph, i)->seconds : 1;
    return e->homes != NULL && e->devices != NULL && e->buffers != NULL &&
           device_jobs_init(e) == XY_OK && device_messages_init(e) == XY_OK;
}

/* Sets the address of every datum in main memory, where all values are at first. */
static void init_homes(device_tasks_t *e)
{
    const xy_task_device_t *how = e->how;

    for (int32_t d = 0; d < e->base.data_count; d++) {
        home_t *home = &e->homes[d];

        home->address = how->addresses != NULL ? how->addresses[d]
                                               : xy_graph_data_at(e->base.graph, d)->address;
        home->is_here = true;
    }
}

/* The own share of a device's memory. Memory that others have taken already is not free any more,
 * but it is of their shares. */
static uint64_t own_share(const device_tasks_t *e, int32_t gpu, uint64_t room)
{
    uint64_t ranks = e->how->sharers > 1 ? (uint64_t)e->how->sharers : 1;
    uint64_t all = ranks > 1 ? xy_gpu_info(e->how->gpus[gpu])->memory : room, share;

    if (e->how->memories != NULL)
        return e->how->memories[gpu] / ranks;
    if (e->how->memory > 0)
        return e->how->memory / ranks;
    share = all / 10 * 9 / ranks;
    return share < room ? share : room / 10 * 9;
}

/* Sets *bytes_p to the bytes to use on a GPU; fails if more is asked for than it has free. */
static xy_status_t find_capacity(device_tasks_t *e, int32_t gpu, uint64_t *bytes_p)
{
    char asked[32], has[32];
    uint64_t room = 0;
    xy_status_t st = xy_gpu_room(e->how->gpus[gpu], &room);

    if (st != XY_OK)
        return st;
    *bytes_p = own_share(e, gpu, room);
    if (*bytes_p > room)
        return xy_fail(XY_EINVAL,
                       "%s has %s free, and %s of it are to be used; name less (--memory)",
                       xy_gpu_info(e->how->gpus[gpu])->name, xy_format_size(room, has),
                       xy_format_size(*bytes_p, asked));
    return XY_OK;
}

/* Initializes the memory, the streams and the trace row of a GPU. */
static xy_status_t init_device(device_tasks_t *e, int32_t gpu)
{
    device_memory_t *m = &e->devices[gpu];
    uint64_t bytes = 0;
    xy_status_t st = find_capacity(e, gpu, &bytes);

    m->gpu = e->how->gpus[gpu];
    m->space = &e->base.memories[gpu + 1].space;
    m->kept = (xy_vec_t)XY_VEC_INIT(buffer_t);
    if (st != XY_OK)
        return st;
    m->most = bytes;
    bytes -= device_reserve(e, bytes);
    m->buffers = xy_calloc((size_t)e->base.data_count + 1, sizeof(*m->buffers));
    m->is_early = xy_calloc((size_t)e->base.data_count + 1, sizeof(*m->is_early));
    if (m->buffers == NULL || m->is_early == NULL ||
        xy_vec_reserve(&m->kept, 2 * (size_t)e->base.data_count + 1) != XY_OK)
        return xy_fail_memory("preparing a GPU");
    st = device_take_row(e, m);
    m->space->capacity = e->base.capacity[gpu + 1] = bytes;
    e->base.memory_of[gpu] = gpu + 1;
    e->base.speed[gpu] = e->how->speeds != NULL ? e->how->speeds[gpu] : 1;
    /* Beside cores, GPUs are only a few tasks ahead. */
    e->is_uneven = (e->is_uneven || e->base.speed[gpu] != e->base.speed[0]) && e->how->cores == 0;
    for (int k = 0; k < LANES && st == XY_OK; k++) {
        m->lanes[k] = (lane_t){.engine = e, .kind = (lane_kind_t)k, .gpu = gpu};
        st = device_lane_init(&m->lanes[k], m->gpu);
    }
    return st == XY_OK ? xy_gpu_event_create(m->gpu, true, &m->origin) : st;
}

/* The costs that policies assume where nothing was measured. */
static const xy_link_t usual_link = {10e-6, 20e9};

/* Sets the costs of transfers between main memory and GPUs, the speeds of cores, and the view of
 * the policy. */
static void init_ways(device_tasks_t *e)
{
    int32_t n = e->base.memory_count;

    for (int32_t m = 1; m < n; m++) {
        xy_link_t in = e->how->in.bandwidth > 0 ? e->how->in : usual_link;
        xy_link_t out = e->how->out.bandwidth > 0 ? e->how->out : usual_link;

        e->base.latency[m] = in.latency;
        e->base.rate[m] = in.bandwidth;
        e->base.latency[m * n] = out.latency;
        e->base.rate[m * n] = out.bandwidth;
    }
    for (int32_t i = 0; i < e->how->cores; i++)
        e->base.speed[e->how->gpu_count + i] = e->how->core_speed > 0 ? e->how->core_speed : 0.1;
    e->base.view.is_after = e->how->share != NULL ? e->how->share->is_after : NULL;
    e->base.view.now = &e->now;
}

/* Prepares a run; cleanup() also frees a partial one. */
static xy_status_t init(device_tasks_t *e)
{
    xy_status_t st = XY_OK;

    if (!init_arrays(e))
        return xy_fail_memory("preparing to run the tasks");
    init_homes(e);
    st = device_pin(e);
    if (st == XY_OK && !e->how->is_pinned)
        device_stage_choose(e);
    for (int32_t g = 0; g < e->how->gpu_count && st == XY_OK; g++)
        st = init_device(e, g);
    if (st == XY_OK)
        init_ways(e);
    return st;
}

/* ---- Running ---- */

static xy_status_t check(const device_tasks_t *e)
{
    xy_status_t st = XY_OK;

    for (int32_t i = 0; i < e->base.ops && st == XY_OK; i++)
        for (int32_t g = 1; g <= e->how->gpu_count && st == XY_OK; g++)
            st = xy_task_check_fits(e->base.graph, i, e->base.capacity[g]);
    return st;
}

/* The clocks of host and GPUs at one moment. */
static xy_status_t start_clocks(device_tasks_t *e)
{
    xy_status_t st = XY_OK;

    for (int32_t g = 0; g < e->how->gpu_count && st == XY_OK; g++) {
        device_memory_t *m = &e->devices[g];

        st = xy_gpu_event_record(m->origin, m->lanes[LANE_COMPUTE].stream);
        if (st == XY_OK)
            st = xy_gpu_event_wait(m->origin);
        m->began = device_now(e) - e->start;
    }
    return st;
}

/* Creates the policy, starts the cores and runs all tasks; the makespan is set even on failure. */
static xy_status_t run(device_tasks_t *e)
{
    double begin = xy_now();
    xy_status_t st;

    e->start = device_now(e);
    st = start_clocks(e);
    e->base.result.scheduling_seconds = xy_now() - begin;
    if (st == XY_OK)
        st = xy_task_engine_start(&e->base, &e->how->params);
    if (st == XY_OK)
        st = device_cores_start(e);
    if (st == XY_OK)
        st = device_run(e);
    if (st == XY_OK)
        st = xy_task_policy_end(e->base.policy, e->base.state, 0, e->base.ops);
    e->base.result.makespan = device_now(e) - e->start;
    return st;
}

/* Run, then tell those who want to know. */
static xy_status_t run_recorded(device_tasks_t *e)
{
    const xy_task_device_t *how = e->how;
    const xy_task_observer_t *observer = how->observer;
    xy_task_trace_t *trace = NULL;
    xy_status_t closed, st = init(e);

    if (st == XY_OK)
        st = check(e);
    if (how->ready != NULL)
        st = how->ready(how->arg, st);
    if (st == XY_OK && how->trace != NULL)
        st = xy_task_trace_open(how->trace, &e->base.view, XY_TASK_DEVICES, e->base.policy->name,
                                observer, &trace);
    if (st != XY_OK)
        return st;
    if (trace != NULL)
        observer = xy_task_trace_observer(trace);
    st = run(e);
    if (st == XY_OK && e->is_recording)
        st = device_tell(e, observer);
    closed = xy_task_trace_close(trace);
    return st == XY_OK ? closed : st;
}

xy_status_t xy_task_execute_on(const xy_graph_t *graph, const xy_task_device_t *how,
                               xy_task_result_t *result_p)
{
    device_tasks_t e = {.base = {.driver = &device_driver,
                                 .graph = graph,
                                 .worker_count = how->gpu_count + how->cores,
                                 .memory_count = how->gpu_count + 1},
                        .how = how,
                        .order = how->share != NULL ? how->share->order : graph,
                        .is_recording = how->trace != NULL || how->observer != NULL,
                        .records = XY_VEC_INIT(record_t),
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .rung = PTHREAD_COND_INITIALIZER};
    xy_status_t st = xy_task_engine_find(&e.base, how->policy, how->eviction);

    if (st == XY_OK && how->share != NULL && e.base.policy->is_strict)
        st = xy_fail(XY_EINVAL,
                     "policy %s runs tasks in an order of its own, which cannot wait for other "
                     "ranks; use closure, dmdar, eager or lws",
                     e.base.policy->name);
    if (st != XY_OK)
        return st;
    st = run_recorded(&e);
    cleanup(&e);
    if (st == XY_OK)
        *result_p = e.base.result;
    return st;
}
