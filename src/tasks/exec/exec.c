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
    for (int32_t m = 0; e->memories != NULL && m < e->memory_count; m++) {
        for (int32_t d = 0; e->memories[m].space.copies != NULL && d < e->data_count; d++)
            xy_free(e->memories[m].space.copies[d].own);
        xy_free(e->memories[m].gathering.slots);
        xy_task_memory_cleanup(&e->memories[m].space);
    }
    exec_record_cleanup(e);
    for (int32_t w = 0; e->workers != NULL && w < e->worker_count; w++)
        xy_free(e->workers[w].buffers);
    exec_places_cleanup(e);
    e->policy->destroy(e->state);
    xy_free(e->memories);
    xy_free(e->workers);
    xy_free(e->states);
    xy_free(e->memory_of);
    xy_free(e->speed);
    xy_free(e->latency);
    xy_free(e->rate);
    xy_free(e->capacity);
    xy_free(e->waiting);
    xy_free(e->before);
    xy_free(e->writers_left);
    xy_free(e->is_over);
    xy_task_uses_cleanup(&e->uses);
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->asked);
}

static xy_status_t init_memory(exec_tasks_t *e, int32_t memory)
{
    exec_memory_t *m = &e->memories[memory];
    size_t slots = (size_t)e->worker_count * (size_t)e->depth;

    m->gathering.slots = xy_calloc(slots, sizeof(*m->gathering.slots));
    if (m->gathering.slots == NULL ||
        xy_task_memory_init(&m->space, e->data_count, e->capacity[memory],
                            memory == 0 ? XY_TASK_HERE : 0) != XY_OK)
        return XY_ENOMEM;
    e->states[memory] = m->space.states;
    return XY_OK;
}

/* Allocates the arrays of the engine; cleanup() also frees a part of them. */
static xy_status_t init_arrays(exec_tasks_t *e)
{
    size_t memories = (size_t)e->memory_count, workers = (size_t)e->worker_count;
    size_t ops = (size_t)e->ops + 1, data = (size_t)e->data_count + 1;

    e->memories = xy_calloc(memories, sizeof(*e->memories));
    e->states = xy_calloc(memories, sizeof(*e->states));
    e->capacity = xy_calloc(memories, sizeof(*e->capacity));
    e->latency = xy_calloc(memories * memories, sizeof(*e->latency));
    e->rate = xy_calloc(memories * memories, sizeof(*e->rate));
    e->workers = xy_calloc(workers, sizeof(*e->workers));
    e->memory_of = xy_calloc(workers, sizeof(*e->memory_of));
    e->speed = xy_calloc(workers, sizeof(*e->speed));
    e->waiting = xy_calloc(ops, sizeof(*e->waiting));
    e->before = xy_calloc(ops, sizeof(*e->before));
    e->writers_left = xy_calloc(data, sizeof(*e->writers_left));
    e->is_over = xy_calloc(ops, sizeof(*e->is_over));
    return e->memories != NULL && e->states != NULL && e->capacity != NULL && e->latency != NULL &&
                   e->rate != NULL && e->workers != NULL && e->memory_of != NULL &&
                   e->speed != NULL && e->waiting != NULL && e->before != NULL &&
                   e->writers_left != NULL && e->is_over != NULL
               ? XY_OK
               : XY_ENOMEM;
}

/*
 * The view of policies. The figures only have to be of the right kind: a core reads its cache
 * several times faster than the main memory, and a disk is slower than that.
 */
static xy_status_t init_platform(exec_tasks_t *e)
{
    bool is_in_core = e->how->store == NULL;
    double rate = is_in_core ? 10e9 : 1e9, latency = is_in_core ? 1e-7 : 1e-4;

    for (int32_t i = 0; i < e->memory_count * e->memory_count; i++) {
        if (i % e->memory_count == i / e->memory_count)
            continue;
        e->latency[i] = latency;
        e->rate[i] = rate;
    }
    for (int32_t m = 1; m < e->memory_count; m++)
        e->capacity[m] = e->how->capacity > 0 ? e->how->capacity : xy_task_cache_bytes();
    for (int32_t m = 0; m < e->memory_count; m++)
        if (init_memory(e, m) != XY_OK)
            return XY_ENOMEM;
    e->view = (xy_task_view_t){
        .graph = e->graph,
        .workers = e->worker_count,
        .memories = e->memory_count,
        .memory_of = e->memory_of,
        .speed = e->speed,
        .capacity = e->capacity,
        .copies = (const uint8_t *const *)e->states,
        .transfer_latency = e->latency,
        .transfer_rate = e->rate,
        .now = &e->now,
    };
    return XY_OK;
}

/* Counts predecessors and pending writes, and initializes the workers. */
static xy_status_t init_workers(exec_tasks_t *e)
{
    const xy_access_t *a;

    for (int32_t i = 0; i < e->ops; i++) {
        int32_t n = xy_graph_accesses(e->graph, i, &a);

        e->most = n > e->most ? n : e->most;
        e->waiting[i] = xy_graph_predecessors(e->graph, i);
        atomic_init(&e->before[i], e->waiting[i]);
        for (int32_t k = 0; k < n; k++)
            e->writers_left[a[k].data] += (a[k].mode & XY_ACCESS_WRITE) ? 1 : 0;
    }
    e->most = e->most > 0 ? e->most : 1;
    e->left = e->ops;
    for (int32_t w = 0; w < e->worker_count; w++) {
        exec_worker_t *worker = &e->workers[w];

        e->memory_of[w] = e->how->store == NULL ? w + 1 : 1;
        e->speed[w] = 1;
        *worker = (exec_worker_t){.engine = e, .number = w, .memory = e->memory_of[w]};
        worker->seen = UINT32_MAX;
        worker->buffers =
            xy_calloc((size_t)EXEC_BATCH_MAX * (size_t)e->most, sizeof(*worker->buffers));
        xy_task_pipeline_init(&worker->pipeline);
        if (worker->buffers == NULL)
            return XY_ENOMEM;
    }
    return XY_OK;
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
    if (init_arrays(e) != XY_OK || init_platform(e) != XY_OK || init_workers(e) != XY_OK ||
        exec_places_init(e) != XY_OK)
        return XY_ENOMEM;
    if (e->eviction->is_by_next_use && e->policy->next_use == NULL)
        return xy_task_uses_init(&e->uses, e->graph);
    return XY_OK;
}

/* ---- What cannot work is refused before the start ---- */

static xy_status_t check_task(const exec_tasks_t *e, xy_op_id_t op)
{
    /* A cache spills what it cannot hold. */
    uint64_t room = e->how->store != NULL ? e->capacity[1] : UINT64_MAX;

    if (e->how->run == NULL && xy_graph_op(e->graph, op)->code == NULL)
        return xy_fail(XY_EINVAL, "task %d has no function to run", op);
    return xy_task_check_fits(e->graph, op, room);
}

static xy_status_t check(const exec_tasks_t *e)
{
    xy_status_t st = XY_OK;

    for (int32_t i = 0; i < e->ops && st == XY_OK; i++)
        st = check_task(e, i);
    return st;
}

/* ---- Running ---- */

/* A pool with a worker of ours on each of its workers. Where there is a core for each, they are
 * pinned, and spin before they sleep: most waits are short. */
static xy_status_t pool_init(exec_tasks_t *e)
{
    int cpus[CPUS_MAX];
    bool is_alone = e->worker_count <= find_cpus(cpus);
    xy_pool_config_t config = {.workers = e->worker_count,
                               .cpus = is_alone ? cpus : NULL,
                               .spin_seconds = is_alone ? SPIN_SECONDS : 0,
                               .poll = exec_poll};
    xy_status_t st = xy_pool_create(&config, &e->pool);

    for (int32_t i = 0; i < e->worker_count && st == XY_OK; i++) {
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
    for (xy_op_id_t i = 0; i < e->ops; i++)
        if (e->waiting[i] == 0)
            exec_announce(e, i);
    st = xy_pool_start(e->pool);
    if (st != XY_OK) {
        pthread_mutex_lock(&e->lock);
        exec_fail(e, st);
        pthread_mutex_unlock(&e->lock);
    }
    xy_pool_join(e->pool);
    for (int32_t w = 0; w < e->worker_count; w++) {
        e->result.compute_bound += e->workers[w].busy / e->worker_count;
        e->result.tasks += e->workers[w].ran;
    }
    e->result.tasks_end = exec_clock() - e->start;
    return e->status;
}

/* Checks the graph, creates the policy and runs all tasks; data are stored at the end. */
static xy_status_t run(exec_tasks_t *e)
{
    xy_task_params_t params = e->how->params;
    xy_status_t st = check(e);

    if (st != XY_OK)
        return st;
    params.alpha = params.alpha > 0 ? params.alpha : 1;
    params.beta = params.beta > 0 ? params.beta : 1;
    e->start = exec_clock();
    st = xy_task_policy_create(e->policy, &e->view, &params, &e->state);
    e->result.scheduling_seconds = exec_clock() - e->start;
    if (st == XY_OK && e->how->store != NULL)
        st = exec_store_start(e);
    if (st == XY_OK)
        st = run_workers(e);
    if (st == XY_OK)
        st = xy_task_policy_end(e->policy, e->state, 0, e->ops);
    if (st == XY_OK)
        exec_flush(e);
    if (e->how->store != NULL)
        exec_store_stop(e);
    e->result.makespan = exec_clock() - e->start;
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
        st = xy_task_trace_open(how->trace, &e->view, kind, e->policy->name, observer, &trace);
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
    exec_tasks_t e = {.graph = graph, .how = how};
    xy_status_t st = xy_task_policy_find_real(how->policy, &e.policy);

    if (st == XY_OK)
        st = xy_task_eviction_find(how->eviction != NULL ? how->eviction : e.policy->eviction,
                                   &e.eviction);
    if (st != XY_OK)
        return st;
    e.ops = xy_graph_ops(graph);
    e.data_count = xy_graph_data_count(graph);
    e.worker_count = xy_task_exec_workers(how);
    e.memory_count = how->store == NULL ? e.worker_count + 1 : 2;
    /* A cache has nothing to gather: a task taken early would only make the policy blind. */
    e.depth = how->store == NULL ? 1 : xy_task_pipeline_depth(e.policy, how->pipeline);
    e.result.policy = e.policy->name;
    st = init(&e) == XY_OK ? run_recorded(&e) : xy_fail_memory("preparing to run the tasks");
    cleanup(&e);
    if (st == XY_OK)
        *result_p = e.result;
    return st;
}
