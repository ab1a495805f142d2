/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks/exec/exec.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "tasks/exec/exec_internal.h"

enum { CPUS_MAX = 1024, WORKERS_MAX = 1024 };

static const double SPIN_SECONDS = 100e-6;

uint64_t xy_task_cache_bytes(void)
{
    long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);

    /* Measured: with more than this, code, stacks and data on their way out push out what is still
     * needed. */
    return (bytes > 0 ? (uint64_t)bytes : 1 << 20) / 16 * 13;
}

/* The cores that the process may use; returns how many. */
static int32_t find_cpus(int *cpus)
{
    cpu_set_t set;
    int32_t n = 0;

    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return 0;
    for (int i = 0; i < CPU_SETSIZE && n < CPUS_MAX; i++)
        if (CPU_ISSET(i, &set))
            cpus[n++] = i;
    return n;
}

int32_t xy_task_exec_workers(const xy_task_exec_t *how)
{
    int cpus[CPUS_MAX];
    int32_t n = how->workers;

    if (n <= 0)
        n = find_cpus(cpus);
    return n < 1 ? 1 : n < WORKERS_MAX ? n : WORKERS_MAX;
}

/* ---- Making and unmaking ---- */

/* Frees the engine's memory and its policy. */
static void cleanup(exec_tasks_t *e)
{
    xy_pool_destroy(e->pool);
    for (int32_t m = 0; e->base.memories != NULL && m < e->base.memory_count; m++) {
        const xy_task_copy_t *copies = e->base.memories[m].space.copies;

        for (int32_t d = 0; copies != NULL && d < e->base.data_count; d++)
            xy_free(copies[d].own);
    }
    exec_record_cleanup(e);
    for (int32_t w = 0; e->workers != NULL && w < e->base.worker_count; w++)
        xy_free(e->workers[w].buffers);
    exec_places_cleanup(e);
    xy_task_engine_cleanup(&e->base);
    xy_free(e->workers);
    xy_free(e->before);
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->asked);
}

/*
 * The view of policies. The figures only have to be of the right kind: a core reads its cache
 * several times faster than the main memory, and a disk is slower than that.
 */
static void init_platform(exec_tasks_t *e)
{
    xy_task_engine_t *base = &e->base;
    bool is_in_core = e->how->store == NULL;
    double rate = is_in_core ? 10e9 : 1e9, latency = is_in_core ? 1e-7 : 1e-4;

    for (int32_t i = 0; i < base->memory_count * base->memory_count; i++) {
        if (i % base->memory_count == i / base->memory_count)
            continue;
        base->latency[i] = latency;
        base->rate[i] = rate;
    }
    for (int32_t m = 1; m < base->memory_count; m++) {
        base->capacity[m] = e->how->capacity > 0 ? e->how->capacity : xy_task_cache_bytes();
        base->memories[m].space.capacity = base->capacity[m];
    }
    base->view.now = &e->now;
}

static xy_status_t init_worker(exec_tasks_t *e, int32_t worker)
{
    exec_worker_t *w = &e->workers[worker];

    e->base.memory_of[worker] = e->how->store == NULL ? worker + 1 : 1;
    e->base.speed[worker] = 1;
    *w = (exec_worker_t){
        .engine = e, .number = worker, .memory = e->base.memory_of[worker], .seen = UINT32_MAX};
    w->buffers = xy_calloc((size_t)EXEC_BATCH_MAX * (size_t)e->base.most, sizeof(*w->buffers));
    xy_task_pipeline_init(&w->pipeline);
    return w->buffers != NULL ? XY_OK : XY_ENOMEM;
}

/* Prepares locks, platform and workers; returns XY_ENOMEM without a message. */
static xy_status_t init(exec_tasks_t *e)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    /* Decisions take about as long as this kind spins before it sleeps. */
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(&e->lock, &attr);
    pthread_mutexattr_destroy(&attr);
    pthread_cond_init(&e->asked, NULL);
    if (xy_task_engine_init(&e->base, e->base.graph) != XY_OK ||
        xy_task_engine_init_platform(&e->base) != XY_OK)
        return XY_ENOMEM;
    e->workers = xy_calloc((size_t)e->base.worker_count, sizeof(*e->workers));
    e->before = xy_calloc((size_t)e->base.ops + 1, sizeof(*e->before));
    if (e->workers == NULL || e->before == NULL)
        return XY_ENOMEM;
    for (int32_t i = 0; i < e->base.ops; i++)
        atomic_init(&e->before[i], e->base.waiting[i]);
    init_platform(e);
    for (int32_t w = 0; w < e->base.worker_count; w++)
        if (init_worker(e, w) != XY_OK)
            return XY_ENOMEM;
    return exec_places_init(e);
}

/* ---- What cannot work is refused before the start ---- */

static xy_status_t check_task(const exec_tasks_t *e, xy_op_id_t op)
{
    /* A cache spills what it cannot hold. */
    uint64_t room = e->how->store != NULL ? e->base.capacity[1] : UINT64_MAX;

    if (e->how->run == NULL && xy_graph_op(e->base.graph, op)->code == NULL)
        return xy_fail(XY_EINVAL, "task %d has no function to run", op);
    return xy_task_check_fits(e->base.graph, op, room);
}

static xy_status_t check(const exec_tasks_t *e)
{
    xy_status_t st = XY_OK;

    for (int32_t i = 0; i < e->base.ops && st == XY_OK; i++)
        st = check_task(e, i);
    return st;
}

/* ---- Running ---- */

/* A pool with a worker of ours on each of its workers. Where there is a core for each, they are
 * pinned, and spin before they sleep: most waits are short. */
static xy_status_t pool_init(exec_tasks_t *e)
{
    int cpus[CPUS_MAX];
    bool is_alone = e->base.worker_count <= find_cpus(cpus);
    xy_pool_config_t config = {.workers = e->base.worker_count,
                               .cpus = is_alone ? cpus : NULL,
                               .spin_seconds = is_alone ? SPIN_SECONDS : 0,
                               .poll = exec_poll};
    xy_status_t st = xy_pool_create(&config, &e->pool);

    for (int32_t i = 0; i < e->base.worker_count && st == XY_OK; i++) {
        exec_worker_t *w = &e->workers[i];

        w->host = xy_pool_worker(e->pool, i);
        xy_worker_user_set(w->host, w);
        st = xy_fiber_create(w->host, exec_worker_main, w, &w->fiber);
    }
    return st;
}

/* Runs all tasks on the pool of workers and sums their times. */
static xy_status_t run_workers(exec_tasks_t *e)
{
    xy_status_t st = pool_init(e);

    if (st != XY_OK)
        return st;
    for (xy_op_id_t i = 0; i < e->base.ops; i++)
        if (e->base.waiting[i] == 0)
            xy_task_engine_ready(&e->base, i);
    st = xy_pool_start(e->pool);
    if (st != XY_OK) {
        pthread_mutex_lock(&e->lock);
        exec_fail(e, st);
        pthread_mutex_unlock(&e->lock);
    }
    xy_pool_join(e->pool);
    for (int32_t w = 0; w < e->base.worker_count; w++) {
        e->base.result.compute_bound += e->workers[w].busy / e->base.worker_count;
        e->base.result.tasks += e->workers[w].ran;
    }
    e->base.result.tasks_end = xy_now() - e->start;
    return e->status;
}

/* Checks the graph, creates the policy and runs all tasks; data are stored at the end. */
static xy_status_t run(exec_tasks_t *e)
{
    xy_status_t st = check(e);

    if (st != XY_OK)
        return st;
    e->start = xy_now();
    st = xy_task_engine_start(&e->base, &e->how->params);
    if (st == XY_OK && e->how->store != NULL)
        st = exec_store_start(e);
    if (st == XY_OK)
        st = run_workers(e);
    if (st == XY_OK)
        st = xy_task_policy_end(e->base.policy, e->base.state, 0, e->base.ops);
    if (st == XY_OK)
        exec_flush(e);
    if (e->how->store != NULL)
        exec_store_stop(e);
    e->base.result.makespan = xy_now() - e->start;
    return st == XY_OK ? e->status : st;
}

/* Run, then tell those who want to know. */
static xy_status_t run_recorded(exec_tasks_t *e)
{
    const xy_task_exec_t *how = e->how;
    const xy_task_observer_t *observer = how->observer;
    xy_task_memories_t kind = how->store != NULL ? XY_TASK_FILE : XY_TASK_CACHES;
    xy_task_trace_t *trace = NULL;
    xy_status_t closed, st = XY_OK;

    if (how->trace != NULL)
        st = xy_task_trace_open(how->trace, &e->base.view, kind, e->base.policy->name, observer,
                                &trace);
    if (st != XY_OK)
        return st;
    if (trace != NULL)
        observer = xy_task_trace_observer(trace);
    e->is_recording = observer != NULL;
    st = run(e);
    if (st == XY_OK && e->is_recording)
        st = exec_tell(e, observer);
    closed = xy_task_trace_close(trace);
    return st == XY_OK ? closed : st;
}

xy_status_t xy_task_execute(const xy_graph_t *graph, const xy_task_exec_t *how,
                            xy_task_result_t *result_p)
{
    int32_t workers = xy_task_exec_workers(how);
    exec_tasks_t e = {
        .base = {.driver = how->store == NULL ? &exec_cache_driver : &exec_store_driver,
                 .graph = graph,
                 .worker_count = workers,
                 .memory_count = how->store == NULL ? workers + 1 : 2},
        .how = how};
    xy_status_t st = xy_task_engine_find(&e.base, how->policy, how->eviction);

    if (st != XY_OK)
        return st;
    /* A cache has nothing to gather: a task taken early would only make the policy blind. */
    e.base.depth = how->store == NULL ? 1 : xy_task_pipeline_depth(e.base.policy, how->pipeline);
    st = init(&e) == XY_OK ? run_recorded(&e) : xy_fail_memory("preparing to run the tasks");
    cleanup(&e);
    if (st == XY_OK)
        *result_p = e.base.result;
    return st;
}
