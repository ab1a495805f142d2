/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/io/io_pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "mpi/runtime/runtime.h"

enum { THREADS = 4 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t news;
    pthread_t threads[THREADS];
    int count, idle;
    bool is_ending;
    io_task_t *first, **end;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER};

/* With the lock held. */
static io_task_t *take(void)
{
    io_task_t *task = pool.first;

    if (task != NULL)
        pool.first = task->next;
    return task;
}

/* Thread of the pool: run tasks until the pool ends. */
static void *work(void *arg)
{
    io_task_t *task;

    (void)arg;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while ((task = take()) == NULL && !pool.is_ending) {
            pool.idle++;
            pthread_cond_wait(&pool.news, &pool.lock);
            pool.idle--;
        }
        if (task == NULL)
            break;
        pthread_mutex_unlock(&pool.lock);
        task->run(task);
        xy_pool_outside_add(mpi_job->pool, -1); /* the worker it is for has been woken */
        pthread_mutex_lock(&pool.lock);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

/* With the lock held: one more, if all are busy. False: there is none at all. Signals are for the
 * ranks. */
static bool grow(void)
{
    sigset_t all, before;

    if (pool.idle > 0 || pool.count == THREADS)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (mpi_caller_create_thread(&pool.threads[pool.count], work, NULL) == 0)
        pool.count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pool.count > 0;
}

void io_pool_submit(io_task_t *task)
{
    bool is_taken;

    task->next = NULL;
    xy_pool_outside_add(mpi_job->pool, 1);
    pthread_mutex_lock(&pool.lock);
    is_taken = grow();
    if (is_taken) {
        if (pool.first == NULL)
            pool.end = &pool.first;
        *pool.end = task;
        pool.end = &task->next;
        pthread_cond_signal(&pool.news);
    }
    pthread_mutex_unlock(&pool.lock);
    if (!is_taken) {
        task->run(task);
        xy_pool_outside_add(mpi_job->pool, -1);
    }
}

/* ---- Calls that wait ---- */

typedef struct {
    io_task_t task; /* first */
    void (*fn)(void *arg);
    void *arg;
    xy_fiber_t *fiber;
} call_t;

static void run_call(io_task_t *task)
{
    call_t *call = (call_t *)task;
    xy_fiber_t *fiber = call->fiber;

    call->fn(call->arg);
    xy_fiber_wake(fiber); /* the call may be gone after it */
}

void io_pool_call(void (*fn)(void *arg), void *arg)
{
    call_t call = {.task.run = run_call, .fn = fn, .arg = arg, .fiber = xy_fiber_self()};

    if (mpi_job->clock != NULL) {
        fn(arg);
        return;
    }
    io_pool_submit(&call.task);
    xy_fiber_park();
}

void io_pool_cleanup(void)
{
    pthread_mutex_lock(&pool.lock);
    pool.is_ending = true;
    pthread_cond_broadcast(&pool.news);
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < pool.count; i++)
        pthread_join(pool.threads[i], NULL);
    pool.count = pool.idle = 0;
    pool.is_ending = false;
}
