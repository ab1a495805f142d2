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
    e->policy->destroy(e->state);
    xy_task_uses_cleanup(&e->uses);
    xy_vec_cleanup(&e->records);
    void *const arrays[] = {e->memory_of, e->speed,        e->latency, e->rate,        e->capacity,
                            e->states,    e->homes,        e->devices, e->home_states, e->waiting,
                            e->is_over,   e->writers_left, e->buffers};

    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        xy_free(arrays[i]);
    device_jobs_cleanup(e);
    device_messages_cleanup(e);
    pthread_cond_destroy(&e->rung);
    pthread_mutex_destroy(&e->lock);
}

/* Allocates the arrays of the engine; returns false without memory, and cleanup() frees the
 * rest. */
static bool init_arrays(device_tasks_t *e)
{
    size_t gpus = (size_t)e->how->gpu_count, memories = gpus + 1, workers = (size_t)e->workers;
    size_t ops = (size_t)xy_graph_ops(e->order) + 1, data = (size_t)e->data_count + 1;

    e->memory_of = xy_calloc(workers, sizeof(*e->memory_of));
    e->speed = xy_calloc(workers, sizeof(*e->speed));
    e->latency = xy_calloc(memories * memories, sizeof(*e->latency));
    e->rate = xy_calloc(memories * memories, sizeof(*e->rate));
    e->capacity = xy_calloc(memories, sizeof(*e->capacity));
    e->states = xy_calloc(memories, sizeof(*e->states));
    e->homes = xy_calloc(data, sizeof(*e->homes));
    e->home_states = xy_calloc(data, sizeof(*e->home_states));
    e->devices = xy_calloc(gpus + 1, sizeof(*e->devices));
    e->waiting = xy_calloc(ops, sizeof(*e->waiting));
    e->is_over = xy_calloc(ops, sizeof(*e->is_over));
    e->writers_left = xy_calloc(data, sizeof(*e->writers_left));
    e->buffers = xy_calloc((size_t)e->most * XY_TASK_BATCH_MAX, sizeof(*e->buffers));
    return e->memory_of != NULL && e->speed != NULL && e->latency != NULL && e->rate != NULL &&
           e->capacity != NULL && e->states != NULL && e->homes != NULL && e->home_states != NULL &&
           e->devices != NULL && e->waiting != NULL && e->is_over != NULL &&
           e->writers_left != NULL && e->buffers != NULL && device_jobs_init(e) == XY_OK &&
           device_messages_init(e) == XY_OK;
}

/* Counts predecessors of tasks, pending writes of data and the work left. */
static void count_accesses(device_tasks_t *e)
{
    const xy_access_t *a;

    for (int32_t i = 0; i < xy_graph_ops(e->order); i++) {
        int32_t n = xy_graph_accesses(e->order, i, &a);

        e->waiting[i] = xy_graph_predecessors(e->order, i);
        for (int32_t k = 0; k < n; k++)
            e->writers_left[a[k].data] += (a[k].mode & XY_ACCESS_WRITE) ? 1 : 0;
    }
    for (int32_t i = 0; i < e->ops; i++)
        e->seconds_left +=
            xy_graph_op(e->graph, i)->seconds > 0 ? xy_graph_op(e->graph, i)->seconds : 1;
    e->left = e->ops;
}

/* Sets the address of every datum in main memory, where all values are at first. */
static void init_homes(device_tasks_t *e)
{
    const xy_task_device_t *how = e->how;

    for (int32_t d = 0; d < e->data_count; d++) {
        home_t *home = &e->homes[d];

        home->address =
            how->addresses != NULL ? how->addresses[d] : xy_graph_data_at(e->graph, d)->address;
        home->is_here = true;
        e->home_states[d] = XY_TASK_HERE;
    }
    e->states[0] = e->home_states;
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
    uint64_t bytes;
    xy_status_t st = find_capacity(e, gpu, &bytes);

    m->gpu = e->how->gpus[gpu];
    m->kept = (xy_vec_t)XY_VEC_INIT(buffer_t);
    if (st != XY_OK)
        return st;
    m->most = bytes;
    bytes -= device_reserve(e, bytes);
    m->buffers = xy_calloc((size_t)e->data_count + 1, sizeof(*m->buffers));
    m->is_early = xy_calloc((size_t)e->data_count + 1, sizeof(*m->is_early));
    if (m->buffers == NULL || m->is_early == NULL ||
        xy_vec_reserve(&m->kept, 2 * (size_t)e->data_count + 1) != XY_OK ||
        xy_task_memory_init(&m->space, e->data_count, bytes, 0) != XY_OK)
        return xy_fail_memory("preparing a GPU");
    st = device_take_row(e, m);
    e->capacity[gpu + 1] = bytes;
    e->states[gpu + 1] = m->space.states;
    e->memory_of[gpu] = gpu + 1;
    e->speed[gpu] = e->how->speeds != NULL ? e->how->speeds[gpu] : 1;
    /* Beside cores, GPUs are only a few tasks ahead. */
    e->is_uneven = (e->is_uneven || e->speed[gpu] != e->speed[0]) && e->how->cores == 0;
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
    int32_t n = e->memory_count;

    for (int32_t m = 1; m < n; m++) {
        xy_link_t in = e->how->in.bandwidth > 0 ? e->how->in : usual_link;
        xy_link_t out = e->how->out.bandwidth > 0 ? e->how->out : usual_link;

        e->latency[m] = in.latency;
        e->rate[m] = in.bandwidth;
        e->latency[m * n] = out.latency;
        e->rate[m * n] = out.bandwidth;
    }
    for (int32_t i = 0; i < e->how->cores; i++)
        e->speed[e->how->gpu_count + i] = e->how->core_speed > 0 ? e->how->core_speed : 0.1;
    e->view = (xy_task_view_t){.graph = e->graph,
                               .workers = e->workers,
                               .memories = n,
                               .memory_of = e->memory_of,
                               .speed = e->speed,
                               .capacity = e->capacity,
                               .copies = (const uint8_t *const *)e->states,
                               .transfer_latency = e->latency,
                               .transfer_rate = e->rate,
                               .is_after = e->how->share != NULL ? e->how->share->is_after : NULL,
                               .now = &e->now};
}

/* Prepares a run; cleanup() also frees a partial one. */
static xy_status_t init(device_tasks_t *e)
{
    xy_status_t st = XY_OK;

    if (!init_arrays(e))
        return xy_fail_memory("preparing to run the tasks");
    count_accesses(e);
    init_homes(e);
    st = device_pin(e);
    if (st == XY_OK && !e->how->is_pinned)
        device_stage_choose(e);
    for (int32_t g = 0; g < e->how->gpu_count && st == XY_OK; g++)
        st = init_device(e, g);
    if (st == XY_OK)
        init_ways(e);
    if (st == XY_OK && xy_task_uses_init(&e->uses, e->graph) != XY_OK)
        st = xy_fail_memory("preparing to run the tasks");
    return st;
}

/* ---- Running ---- */

static xy_status_t check(const device_tasks_t *e)
{
    xy_status_t st = XY_OK;

    for (int32_t i = 0; i < e->ops && st == XY_OK; i++)
        for (int32_t g = 1; g <= e->how->gpu_count && st == XY_OK; g++)
            st = xy_task_check_fits(e->graph, i, e->capacity[g]);
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
    xy_task_params_t params = e->how->params;
    double begin;
    xy_status_t st;

    params.alpha = params.alpha > 0 ? params.alpha : 1;
    params.beta = params.beta > 0 ? params.beta : 1;
    begin = xy_now();
    e->start = device_now(e);
    st = start_clocks(e);
    if (st == XY_OK)
        st = xy_task_policy_create(e->policy, &e->view, &params, &e->state);
    e->result.scheduling_seconds = xy_now() - begin;
    if (st == XY_OK)
        st = device_cores_start(e);
    if (st == XY_OK)
        st = device_run(e);
    if (st == XY_OK)
        st = xy_task_policy_end(e->policy, e->state, 0, e->ops);
    e->result.makespan = device_now(e) - e->start;
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
        st = xy_task_trace_open(how->trace, &e->view, XY_TASK_DEVICES, e->policy->name, observer,
                                &trace);
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

static int32_t most_accesses(const xy_graph_t *graph)
{
    int32_t most = 1;

    for (int32_t i = 0; i < xy_graph_ops(graph); i++) {
        const xy_access_t *a;
        int32_t n = xy_graph_accesses(graph, i, &a);

        most = n > most ? n : most;
    }
    return most;
}

xy_status_t xy_task_execute_on(const xy_graph_t *graph, const xy_task_device_t *how,
                               xy_task_result_t *result_p)
{
    device_tasks_t e = {.graph = graph,
                        .how = how,
                        .order = how->share != NULL ? how->share->order : graph,
                        .workers = how->gpu_count + how->cores,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .rung = PTHREAD_COND_INITIALIZER};
    xy_status_t st = xy_task_policy_find_real(how->policy, &e.policy);

    if (st == XY_OK)
        st = xy_task_eviction_find(how->eviction != NULL ? how->eviction : e.policy->eviction,
                                   &e.eviction);
    if (st == XY_OK && how->share != NULL && e.policy->is_strict)
        st = xy_fail(XY_EINVAL,
                     "policy %s runs tasks in an order of its own, which cannot wait for other "
                     "ranks; use closure, dmdar, eager or lws",
                     e.policy->name);
    if (st != XY_OK)
        return st;
    e.ops = xy_graph_ops(graph);
    e.data_count = xy_graph_data_count(graph);
    e.memory_count = how->gpu_count + 1;
    e.most = most_accesses(graph);
    e.is_recording = how->trace != NULL || how->observer != NULL;
    e.records = (xy_vec_t)XY_VEC_INIT(record_t);
    e.result.policy = e.policy->name;
    e.result.eviction = e.eviction->name;
    e.result.workers = e.workers;
    st = run_recorded(&e);
    cleanup(&e);
    if (st == XY_OK)
        *result_p = e.result;
    return st;
}
