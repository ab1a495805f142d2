/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conditions, barriers and the end of threads: another thread waits for the process.
 *
 * The process's mutex stays with the worker that has locked it. The waiting thread uses a mutex P
 * of its own, which the process locks first: pthread_cond_wait gives P back when it has joined
 * those that wait, and only then does the process give back its mutex, so that no signal is lost.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <threads.h>

#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"
#include "process/libc/turns.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

typedef struct {
    pthread_cond_t *condition;
    pthread_mutex_t own;
    bool is_clock_given;
    clockid_t clock;
    const struct timespec *deadline; /* NULL: none */
    int code;
    process_blocked_t block;
} wait_t;

/* On the thread. `own` was locked for it. In virtual time the process has the deadline. */
static void wait_there(void *arg)
{
    wait_t *w = arg;

    if (w->deadline == NULL || process_runtime.clock != NULL)
        w->code = pthread_cond_wait(w->condition, &w->own);
    else if (w->is_clock_given)
        w->code = pthread_cond_clockwait(w->condition, &w->own, w->clock, w->deadline);
    else
        w->code = pthread_cond_timedwait(w->condition, &w->own, w->deadline);
    pthread_mutex_unlock(&w->own);
}

static bool is_woken(void *arg)
{
    wait_t *w = arg;

    return atomic_load_explicit(&w->block.is_done, memory_order_acquire);
}

/* Seconds until the deadline, by the clock that the condition was made with where none is given. */
static double seconds_left(const wait_t *w)
{
    enum { IS_MONOTONIC = 2 }; /* of the C library's own word */
    bool is_monotonic = w->is_clock_given ? w->clock == CLOCK_MONOTONIC
                                          : (w->condition->__data.__wrefs & IS_MONOTONIC) != 0;

    return process_seconds_until(is_monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME, w->deadline);
}

/* The time has passed on the process's clock: the thread is woken with all others that wait, which
 * may always happen to them. */
static void wait_in_virtual_time(wait_t *w)
{
    if (process_block_look(is_woken, w, fmax(0, seconds_left(w)), process_block_has_threads()))
        return;
    pthread_mutex_lock(&w->own);
    pthread_cond_broadcast(w->condition);
    pthread_mutex_unlock(&w->own);
    while (!is_woken(w))
        xy_thread_yield();
    w->code = ETIMEDOUT;
}

/* Of the C library's own word: between processes, maybe at several addresses. */
static bool is_shared(const pthread_cond_t *condition)
{
    return (condition->__data.__wrefs & 1) != 0;
}

static void unlock(void *mutex)
{
    pthread_mutex_unlock(mutex);
}

/* Threads that take turns with the caller signal. */
static void wait_in_turns(wait_t *w, pthread_mutex_t *mutex)
{
    double seconds = w->deadline != NULL ? fmax(0, seconds_left(w)) : INFINITY;
    int code;

    w->code = process_turn_release(w->condition, seconds, unlock, mutex) ? 0 : ETIMEDOUT;
    code = process_mutex_lock(mutex);
    if (code != 0)
        w->code = code;
}

/* False: there is no thread to be had. */
static bool wait_elsewhere(wait_t *w, pthread_mutex_t *mutex)
{
    int code;

    if (process_turns_are_taken() && !is_shared(w->condition)) {
        wait_in_turns(w, mutex);
        return true;
    }

    w->block = (process_blocked_t){.fn = wait_there, .arg = w};

    pthread_mutex_init(&w->own, NULL);
    pthread_mutex_lock(&w->own);
    if (!process_block_start(&w->block)) {
        pthread_mutex_unlock(&w->own);
        return false;
    }
    pthread_mutex_lock(&w->own);
    pthread_mutex_unlock(&w->own);
    pthread_mutex_unlock(mutex);
    if (w->deadline != NULL && process_runtime.clock != NULL)
        wait_in_virtual_time(w);
    else
        process_block_wait(&w->block);
    pthread_mutex_destroy(&w->own);
    code = process_mutex_lock(mutex);
    if (code != 0)
        w->code = code;
    return true;
}

static bool is_valid(const struct timespec *deadline)
{
    return deadline->tv_nsec >= 0 && deadline->tv_nsec < 1000000000L;
}

XY_INTERPOSE int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    wait_t w = {.condition = condition};

    if (!XY_MAY_PARK() || !wait_elsewhere(&w, mutex))
        return XY_NEXT(pthread_cond_wait)(condition, mutex);
    return w.code;
}

XY_INTERPOSE int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                        const struct timespec *deadline)
{
    wait_t w = {.condition = condition, .deadline = deadline};

    if (!is_valid(deadline) || !XY_MAY_PARK() || !wait_elsewhere(&w, mutex))
        return XY_NEXT(pthread_cond_timedwait)(condition, mutex, deadline);
    return w.code;
}

XY_INTERPOSE int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                        clockid_t clock, const struct timespec *deadline)
{
    wait_t w = {
        .condition = condition, .is_clock_given = true, .clock = clock, .deadline = deadline};

    if (!is_valid(deadline) || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) ||
        !XY_MAY_PARK() || !wait_elsewhere(&w, mutex))
        return XY_NEXT(pthread_cond_clockwait)(condition, mutex, clock, deadline);
    return w.code;
}

/* The C library's cnd_t and mtx_t are those of POSIX threads. */
XY_INTERPOSE int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    wait_t w = {.condition = (pthread_cond_t *)condition};

    if (!XY_MAY_PARK() || !wait_elsewhere(&w, (pthread_mutex_t *)mutex))
        return XY_NEXT(cnd_wait)(condition, mutex);
    return w.code == 0 ? thrd_success : thrd_error;
}

XY_INTERPOSE int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *deadline)
{
    wait_t w = {.condition = (pthread_cond_t *)condition, .deadline = deadline};

    if (!is_valid(deadline) || !XY_MAY_PARK() || !wait_elsewhere(&w, (pthread_mutex_t *)mutex))
        return XY_NEXT(cnd_timedwait)(condition, mutex, deadline);
    return w.code == 0 ? thrd_success : w.code == ETIMEDOUT ? thrd_timedout : thrd_error;
}

XY_INTERPOSE int pthread_cond_signal(pthread_cond_t *condition)
{
    process_turn_wake(condition, 1);
    return XY_NEXT(pthread_cond_signal)(condition);
}

XY_INTERPOSE int pthread_cond_broadcast(pthread_cond_t *condition)
{
    process_turn_wake(condition, PROCESS_TURN_ALL);
    return XY_NEXT(pthread_cond_broadcast)(condition);
}

XY_INTERPOSE int cnd_signal(cnd_t *condition)
{
    process_turn_wake(condition, 1);
    return XY_NEXT(cnd_signal)(condition);
}

XY_INTERPOSE int cnd_broadcast(cnd_t *condition)
{
    process_turn_wake(condition, PROCESS_TURN_ALL);
    return XY_NEXT(cnd_broadcast)(condition);
}

/* ---- Barriers ---- */

/* The C library's own words. */
enum { BARRIER_COUNT = 2, BARRIER_IS_SHARED = 3 };

/* The last one of a round wakes the others: those that wait are the round. */
static int meet_in_turns(const unsigned *barrier)
{
    if ((unsigned)process_turn_waiting(barrier) + 1 < barrier[BARRIER_COUNT]) {
        process_turn_wait(barrier, INFINITY);
        return 0;
    }
    process_turn_wake(barrier, PROCESS_TURN_ALL);
    return PTHREAD_BARRIER_SERIAL_THREAD;
}

typedef struct {
    pthread_barrier_t *barrier;
    int code;
} barrier_t;

static void meet_there(void *arg)
{
    barrier_t *b = arg;

    b->code = pthread_barrier_wait(b->barrier);
}

XY_INTERPOSE int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    barrier_t b = {.barrier = barrier};

    if (!XY_MAY_PARK())
        return XY_NEXT(pthread_barrier_wait)(barrier);
    if (process_turns_are_taken() &&
        ((const unsigned *)(const void *)barrier)[BARRIER_IS_SHARED] == 0)
        return meet_in_turns((const unsigned *)(const void *)barrier);
    process_block_run(meet_there, &b);
    return b.code;
}

/* ---- The end of threads ---- */

typedef struct {
    pthread_t thread;
    void **value;
    bool is_timed;
    clockid_t clock;
    const struct timespec *deadline;
    int code;
} join_t;

/* A sanitizer that stands before this library has seen the call already, and forgets a thread at
 * the first. */
static void join_there(void *arg)
{
    join_t *j = arg;

    if (j->is_timed)
        j->code = XY_NEXT(pthread_clockjoin_np)(j->thread, j->value, j->clock, j->deadline);
    else
        j->code = XY_NEXT(pthread_join)(j->thread, j->value);
}

static bool is_joined(void *arg)
{
    join_t *j = arg;

    j->code = XY_NEXT(pthread_tryjoin_np)(j->thread, j->value);
    return j->code != EBUSY;
}

/* It ends in a turn of its own; what the kernel does then takes no time. */
static bool join_in_turns(join_t *j, double seconds)
{
    if (!process_turns_are_taken())
        return false;
    j->code = ETIMEDOUT;
    if (process_thread_await_end(j->thread, seconds))
        j->code = XY_NEXT(pthread_join)(j->thread, j->value);
    return true;
}

static void join(join_t *j)
{
    if (!join_in_turns(j, INFINITY))
        process_block_run(join_there, j);
}

static int join_until(join_t *j)
{
    if (is_valid(j->deadline) &&
        join_in_turns(j, fmax(0, process_seconds_until(j->clock, j->deadline))))
        return j->code;
    if (j->deadline == NULL || !is_valid(j->deadline) || process_runtime.clock == NULL)
        process_block_run(join_there, j);
    else if (!process_block_look(is_joined, j,
                                 fmax(0, process_seconds_until(j->clock, j->deadline)), true))
        return ETIMEDOUT;
    return j->code;
}

XY_INTERPOSE int pthread_join(pthread_t thread, void **value)
{
    join_t j = {.thread = thread, .value = value};

    if (!XY_MAY_JOIN())
        return XY_NEXT(pthread_join)(thread, value);
    join(&j);
    return j.code;
}

XY_INTERPOSE int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock,
                                      const struct timespec *deadline)
{
    join_t j = {
        .thread = thread, .value = value, .is_timed = true, .clock = clock, .deadline = deadline};

    if (!XY_MAY_JOIN())
        return XY_NEXT(pthread_clockjoin_np)(thread, value, clock, deadline);
    return join_until(&j);
}

XY_INTERPOSE int pthread_timedjoin_np(pthread_t thread, void **value,
                                      const struct timespec *deadline)
{
    join_t j = {.thread = thread,
                .value = value,
                .is_timed = true,
                .clock = CLOCK_REALTIME,
                .deadline = deadline};

    if (!XY_MAY_JOIN())
        return XY_NEXT(pthread_timedjoin_np)(thread, value, deadline);
    return join_until(&j);
}

XY_INTERPOSE int pthread_tryjoin_np(pthread_t thread, void **value)
{
    join_t j = {.thread = thread, .value = value};
    int code;

    if (process_turns_are_taken()) {
        process_yield();
        join_in_turns(&j, 0);
        return j.code == ETIMEDOUT ? EBUSY : j.code;
    }
    code = XY_NEXT(pthread_tryjoin_np)(thread, value);
    if (code == EBUSY && XY_MAY_JOIN())
        process_yield();
    return code;
}

/* The C11 function of a thread returns an int where the other returns a pointer. */
XY_INTERPOSE int thrd_join(thrd_t thread, int *result)
{
    void *value = NULL;
    join_t j = {.thread = thread, .value = &value};

    if (!XY_MAY_JOIN())
        return XY_NEXT(thrd_join)(thread, result);
    join(&j);
    if (result != NULL)
        *result = (int)(intptr_t)value;
    return j.code == 0 ? thrd_success : thrd_error;
}
