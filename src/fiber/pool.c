/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pools: the workers' structures, their threads, and where these run.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fiber/fiber_private.h"
#include "fiber/sanitize.h"

static const size_t default_stack = (size_t)8 << 20;

static size_t align_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Initialize a worker from the configuration of its pool; its thread is not started. */
static void worker_init(xy_pool_t *pool, int index, uint32_t fenced)
{
    const xy_pool_config_t *config = &pool->config;
    xy_worker_t *w = &pool->workers[index];

    w->head.fenced = fenced;
    w->pool = pool;
    w->index = index;
    w->cpu = config->cpus == NULL ? -1 : config->cpus[index];
    atomic_init(&w->poll, config->poll);
    w->idle = config->idle;
    w->rest = config->rest;
    w->switched = config->switched;
    xy_worker_spin_set(w, config->spin_seconds > 0 ? config->spin_seconds : 0);
    w->stacks.size = align_up(config->stack_size == 0 ? default_stack : config->stack_size,
                              (size_t)sysconf(_SC_PAGESIZE));
    w->root.head.worker = w;
    w->root.state = FIBER_RUNNING;
}

static xy_status_t config_check(const xy_pool_config_t *config)
{
    if (config->workers < 1)
        return xy_fail(XY_EINVAL, "%d workers were requested; at least one is needed",
                       config->workers);
    if (config->stack_size > (SIZE_MAX >> 20))
        return xy_fail(XY_EINVAL, "a stack of %zu bytes is too large", config->stack_size);
    for (int i = 0; config->cpus != NULL && i < config->workers; i++)
        if (config->cpus[i] < 0 || (size_t)config->cpus[i] >= 8 * sizeof(fiber_cpuset_t))
            return xy_fail(XY_EINVAL, "worker %d was given core %d, a number that no machine has",
                           i, config->cpus[i]);
    return XY_OK;
}

xy_status_t xy_pool_create(const xy_pool_config_t *config, xy_pool_t **pool_p)
{
    uint32_t fenced = fiber_fence_init();
    xy_status_t st = config_check(config);
    size_t bytes;
    void *memory;
    xy_pool_t *pool;

    if (st != XY_OK)
        return st;
    bytes = sizeof(xy_pool_t) + (size_t)config->workers * sizeof(xy_worker_t) + XY_FIBER_LINE;
    memory = xy_calloc(1, bytes);
    if (memory == NULL)
        return xy_fail_memory("making workers");
    pool = (xy_pool_t *)(uintptr_t)align_up((uintptr_t)memory, XY_FIBER_LINE);
    pool->memory = memory;
    pool->workers = (xy_worker_t *)(pool + 1);
    pool->config = *config;
    for (int i = 0; i < config->workers; i++) {
        worker_init(pool, i, fenced);
        st = fiber_overflow_init(&pool->workers[i]);
        if (st != XY_OK) {
            xy_pool_destroy(pool);
            return st;
        }
    }
    pool->config.cpus = NULL; /* the caller's; each worker knows its own */
    *pool_p = pool;
    return XY_OK;
}

static void worker_cleanup(xy_worker_t *w)
{
    for (fiber_chunk_t *chunk = w->chunks, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        xy_free(chunk);
    }
    fiber_stacks_cleanup(&w->stacks);
    fiber_overflow_cleanup(w);
}

/* Prepare the calling thread to be worker `w`, and undo it. */
static void worker_enter(xy_worker_t *w)
{
    xy_worker_current = w;
    w->root.tsan = fiber_sanitize_self();
    fiber_overflow_enter(w);
}

static void worker_leave(xy_worker_t *w)
{
    fiber_overflow_leave(w);
    xy_worker_current = NULL;
}

void fiber_thread_stack(char **low_p, char **high_p)
{
    pthread_attr_t attr;
    void *low = NULL;
    size_t size = 0;

    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getstack(&attr, &low, &size);
        pthread_attr_destroy(&attr);
    }
    *low_p = low;
    *high_p = (char *)low + size;
}

static void *worker_main(void *arg)
{
    xy_worker_t *w = arg;

    if (FIBER_ASAN)
        fiber_thread_stack(&w->root.low, &w->root.high);
    worker_enter(w);
    fiber_worker_loop(w);
    worker_leave(w);
    return NULL;
}

static void cpuset_one(fiber_cpuset_t *cpus, int cpu)
{
    memset(cpus, 0, sizeof(*cpus));
    CPU_SET_S((size_t)cpu, sizeof(*cpus), &cpus->set);
}

/* Report why a worker's thread was not started, from the error code of pthreads. */
static xy_status_t fail_thread(int err, const xy_worker_t *w)
{
    if (err == EINVAL && w->cpu >= 0)
        return xy_fail(XY_EINVAL,
                       "worker %d cannot run on core %d: this process may not use that core (see "
                       "taskset -p, or the job's cpuset)",
                       w->index, w->cpu);
    if (err == EAGAIN)
        return xy_fail(XY_ELIMIT,
                       "cannot start worker %d: the limit on threads is reached; raise "
                       "it (ulimit -u, kernel.threads-max, the job's pids limit)",
                       w->index);
    return xy_fail(XY_EIO, "cannot start worker %d: %s", w->index, strerror(err));
}

/* Start and name the thread of a worker, pinned to its core if it has one. */
static xy_status_t thread_start(xy_worker_t *w)
{
    pthread_attr_t attr;
    fiber_cpuset_t cpus;
    char name[16];
    int err = pthread_attr_init(&attr);

    if (err != 0)
        return fail_thread(err, w);
    if (w->cpu >= 0) {
        cpuset_one(&cpus, w->cpu);
        err = pthread_attr_setaffinity_np(&attr, sizeof(cpus), &cpus.set);
    }
    if (err == 0)
        err = pthread_create(&w->thread, &attr, worker_main, w);
    pthread_attr_destroy(&attr);
    if (err != 0)
        return fail_thread(err, w);
    snprintf(name, sizeof(name), "xylem-w%d", w->index % 100000);
    pthread_setname_np(w->thread, name);
    return XY_OK;
}

/* Pin the calling thread, which is worker 0, and remember its affinity in the pool. */
static xy_status_t pin_self(xy_pool_t *pool)
{
    xy_worker_t *w = &pool->workers[0];
    fiber_cpuset_t cpus;
    int err;

    w->thread = pthread_self(); /* debuggers find the worker of a rank by it */
    pool->is_pinned = false;
    if (w->cpu < 0)
        return XY_OK;
    cpuset_one(&cpus, w->cpu);
    err = pthread_getaffinity_np(pthread_self(), sizeof(cpus), &pool->affinity_before.set);
    if (err == 0)
        err = pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus.set);
    if (err != 0)
        return fail_thread(err, w);
    pool->is_pinned = true;
    return XY_OK;
}

static void unpin_self(xy_pool_t *pool)
{
    if (pool->is_pinned)
        pthread_setaffinity_np(pthread_self(), sizeof(pool->affinity_before),
                               &pool->affinity_before.set);
    pool->is_pinned = false;
}

void xy_pool_destroy(xy_pool_t *pool)
{
    if (pool == NULL)
        return;
    if (pool->is_adopted) {
        worker_leave(&pool->workers[0]);
        unpin_self(pool);
    }
    for (int i = 0; i < pool->config.workers; i++)
        worker_cleanup(&pool->workers[i]);
    xy_free(pool->memory);
}

static void run_prepare(xy_pool_t *pool)
{
    atomic_store(&pool->is_stopping, false);
    atomic_store(&pool->is_stuck_said, false);
    for (int i = 0; i < pool->config.workers; i++) {
        pool->workers[i].is_stopped = false;
        pool->workers[i].last = NULL;
    }
}

/* Threads for the workers from `first` on. When one cannot start, all are stopped. Returns
 * how many workers have a thread, those before `first` included. */
static int threads_start(xy_pool_t *pool, int first, xy_status_t *st_p)
{
    int started = first;

    run_prepare(pool);
    while (started < pool->config.workers && *st_p == XY_OK) {
        *st_p = thread_start(&pool->workers[started]);
        started += *st_p == XY_OK;
    }
    if (*st_p != XY_OK)
        xy_pool_stop(pool);
    return started;
}

static void threads_join(xy_pool_t *pool, int first, int started)
{
    for (int i = first; i < started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    for (int i = started; i < pool->config.workers; i++)
        fiber_mail_drain(&pool->workers[i]); /* unread wake-ups */
}

xy_status_t xy_pool_start(xy_pool_t *pool)
{
    xy_status_t st = XY_OK;

    if (pool->is_adopted)
        return xy_fail(XY_EINVAL, "a pool that adopted a thread cannot be started");
    if (atomic_load(&pool->live) == 0)
        return XY_OK;
    pool->started = threads_start(pool, 0, &st);
    return st;
}

void xy_pool_join(xy_pool_t *pool)
{
    if (pool->started > 0)
        threads_join(pool, 0, pool->started);
    pool->started = 0;
}

xy_status_t xy_pool_run(xy_pool_t *pool)
{
    xy_status_t st;
    int started;

    if (xy_worker_current != NULL || pool->is_adopted)
        return xy_fail(XY_EINVAL, "a pool cannot be run by a thread that is a worker already");
    if (atomic_load(&pool->live) == 0)
        return XY_OK;
    st = pin_self(pool);
    if (st != XY_OK)
        return st;
    started = threads_start(pool, 1, &st);
    worker_main(&pool->workers[0]); /* ends at once when the pool is stopped */
    threads_join(pool, 1, started);
    unpin_self(pool);
    return st;
}

xy_status_t xy_pool_adopt(xy_pool_t *pool, xy_fiber_t **fiber_p)
{
    xy_worker_t *w = &pool->workers[0];
    xy_fiber_t *fiber = &w->adopted;
    xy_status_t st;

    if (pool->config.workers != 1 || xy_worker_current != NULL || pool->is_adopted)
        return xy_fail(XY_EINVAL, "only a new pool of one worker can adopt a thread, and the "
                                  "thread must not be a worker");
    st = pin_self(pool);
    if (st != XY_OK)
        return st;
    fiber_thread_stack(&fiber->low, &fiber->high);
    fiber->head.worker = w;
    fiber->state = FIBER_RUNNING;
    fiber->priority = XY_FIBER_PRIORITY_DEFAULT;
    fiber->is_held = true;
    worker_enter(w);
    fiber->tsan = w->root.tsan;
    pool->is_adopted = true;
    w->head.current = fiber;
    w->last = fiber;
    atomic_fetch_add(&pool->live, 1);
    *fiber_p = fiber;
    return XY_OK;
}

xy_worker_t *xy_pool_worker(xy_pool_t *pool, int index)
{
    return &pool->workers[index];
}

void *xy_pool_user(const xy_pool_t *pool)
{
    return pool->config.user;
}
