/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks between processes (in shared memory, or in a library that they share) and between a process
 * and its threads. A process that waits for one tries again and again, and other processes of its
 * core run in between: the owner may be one of them. The owner of a lock, for those kinds that ask,
 * is the worker.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <unistd.h>

#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"
#include "process/libc/turns.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

typedef int (*try_fn)(void *object);

typedef struct {
    try_fn attempt;
    void *object;
    int busy, code;
    bool is_shared; /* between processes, maybe at several addresses */
} try_t;

static bool is_had(void *arg)
{
    try_t *t = arg;

    t->code = t->attempt(t->object);
    return t->code != t->busy;
}

static bool is_valid(const struct timespec *deadline)
{
    return deadline->tv_nsec >= 0 && deadline->tv_nsec < 1000000000L;
}

/* It may be one of its threads that has it, or another process. */
static int insist_in_virtual_time(try_t *t, clockid_t clock, const struct timespec *deadline)
{
    double seconds = deadline != NULL ? fmax(0, process_seconds_until(clock, deadline)) : -1;

    if (process_turns_are_taken() && !t->is_shared)
        return process_turn_wait_for(t->object, is_had, t, seconds >= 0 ? seconds : INFINITY)
                   ? t->code
                   : ETIMEDOUT;
    return process_block_look(is_had, t, seconds, process_block_has_threads()) ? t->code
                                                                               : ETIMEDOUT;
}

/* Until it is had, or `deadline` has passed (NULL: never). */
static int insist_on(try_t t, clockid_t clock, const struct timespec *deadline)
{
    unsigned round = 0;

    if (process_turns_are_taken())
        process_turn_begins();
    while (!is_had(&t)) {
        if (deadline != NULL && !is_valid(deadline))
            return EINVAL;
        if (process_runtime.clock != NULL)
            return insist_in_virtual_time(&t, clock, deadline);
        if (deadline != NULL && process_seconds_until(clock, deadline) <= 0)
            return ETIMEDOUT;
        process_back_off(&round);
    }
    return t.code;
}

static int insist(try_fn attempt, void *object, bool is_shared, clockid_t clock,
                  const struct timespec *deadline)
{
    return insist_on(
        (try_t){.attempt = attempt, .object = object, .busy = EBUSY, .is_shared = is_shared}, clock,
        deadline);
}

/* ---- Mutexes ---- */

static int try_mutex(void *mutex)
{
    return XY_NEXT(pthread_mutex_trylock)(mutex);
}

static bool is_shared(const pthread_mutex_t *mutex)
{
    enum { SHARED = 128 }; /* of the C library's own word */

    return (mutex->__data.__kind & SHARED) != 0;
}

/* One that checks its owner answers a process that has it already, and must be asked itself. With
 * turns the owner is the thread. */
static bool checks_owner(const pthread_mutex_t *mutex)
{
    return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK_NP &&
           (!process_turns_are_taken() || mutex->__data.__owner == gettid());
}

XY_INTERPOSE int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!XY_MAY_PARK() || checks_owner(mutex))
        return XY_NEXT(pthread_mutex_lock)(mutex);
    return insist(try_mutex, mutex, is_shared(mutex), CLOCK_REALTIME, NULL);
}

int process_mutex_lock(pthread_mutex_t *mutex)
{
    return insist(try_mutex, mutex, is_shared(mutex), CLOCK_REALTIME, NULL);
}

XY_INTERPOSE int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    int code = try_mutex(mutex);

    if (code == EBUSY && XY_MAY_PARK())
        process_yield();
    return code;
}

XY_INTERPOSE int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline)
{
    if (!XY_MAY_PARK() || checks_owner(mutex))
        return XY_NEXT(pthread_mutex_timedlock)(mutex, deadline);
    return insist(try_mutex, mutex, is_shared(mutex), CLOCK_REALTIME, deadline);
}

XY_INTERPOSE int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                                         const struct timespec *deadline)
{
    if (!XY_MAY_PARK() || checks_owner(mutex))
        return XY_NEXT(pthread_mutex_clocklock)(mutex, clock, deadline);
    return insist(try_mutex, mutex, is_shared(mutex), clock, deadline);
}

XY_INTERPOSE int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    int code = XY_NEXT(pthread_mutex_unlock)(mutex);

    process_turn_wake(mutex, 1);
    return code;
}

/* ---- The same in C11: the C library's mtx_t is a pthread_mutex_t ---- */

static int c11_code(int code)
{
    switch (code) {
    case 0:
        return thrd_success;
    case EBUSY:
        return thrd_busy;
    case ETIMEDOUT:
        return thrd_timedout;
    default:
        return thrd_error;
    }
}

XY_INTERPOSE int mtx_lock(mtx_t *mutex)
{
    if (!XY_MAY_PARK())
        return XY_NEXT(mtx_lock)(mutex);
    return c11_code(insist(try_mutex, mutex, false, CLOCK_REALTIME, NULL));
}

XY_INTERPOSE int mtx_trylock(mtx_t *mutex)
{
    int code = try_mutex(mutex);

    if (code == EBUSY && XY_MAY_PARK())
        process_yield();
    return c11_code(code);
}

XY_INTERPOSE int mtx_timedlock(mtx_t *mutex, const struct timespec *deadline)
{
    if (!XY_MAY_PARK())
        return XY_NEXT(mtx_timedlock)(mutex, deadline);
    return c11_code(insist(try_mutex, mutex, false, CLOCK_REALTIME, deadline));
}

XY_INTERPOSE int mtx_unlock(mtx_t *mutex)
{
    int code = XY_NEXT(mtx_unlock)(mutex);

    process_turn_wake(mutex, 1);
    return code;
}

/* ---- Locks for readers and a writer ---- */

static int try_read(void *lock)
{
    return pthread_rwlock_tryrdlock(lock);
}

static int try_write(void *lock)
{
    return pthread_rwlock_trywrlock(lock);
}

XY_INTERPOSE int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    if (!XY_MAY_PARK())
        return XY_NEXT(pthread_rwlock_rdlock)(lock);
    return insist(try_read, lock, lock->__data.__shared != 0, CLOCK_REALTIME, NULL);
}

XY_INTERPOSE int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    if (!XY_MAY_PARK())
        return XY_NEXT(pthread_rwlock_wrlock)(lock);
    return insist(try_write, lock, lock->__data.__shared != 0, CLOCK_REALTIME, NULL);
}

XY_INTERPOSE int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *deadline)
{
    if (!XY_MAY_PARK())
        return XY_NEXT(pthread_rwlock_timedrdlock)(lock, deadline);
    return insist(try_read, lock, lock->__data.__shared != 0, CLOCK_REALTIME, deadline);
}

XY_INTERPOSE int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *deadline)
{
    if (!XY_MAY_PARK())
        return XY_NEXT(pthread_rwlock_timedwrlock)(lock, deadline);
    return insist(try_write, lock, lock->__data.__shared != 0, CLOCK_REALTIME, deadline);
}

XY_INTERPOSE int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    int code = XY_NEXT(pthread_rwlock_unlock)(lock);

    process_turn_wake(lock, PROCESS_TURN_ALL);
    return code;
}

static int try_spin(void *lock)
{
    return pthread_spin_trylock(lock);
}

XY_INTERPOSE int pthread_spin_lock(pthread_spinlock_t *lock)
{
    if (!XY_MAY_PARK())
        return XY_NEXT(pthread_spin_lock)(lock);
    return insist(try_spin, (void *)(uintptr_t)lock, false, CLOCK_REALTIME, NULL);
}

XY_INTERPOSE int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    int code = XY_NEXT(pthread_spin_unlock)(lock);

    process_turn_wake((const void *)(uintptr_t)lock, 1);
    return code;
}

/* ---- Semaphores: -1 with errno ---- */

/* The C library's own word behind the value: 0 for one of a process alone. */
static bool is_shared_semaphore(const sem_t *semaphore)
{
    return ((const int *)(const void *)semaphore)[sizeof(long) / sizeof(int)] != 0;
}

static int try_semaphore(void *semaphore)
{
    return XY_NEXT(sem_trywait)(semaphore) == 0 ? 0 : errno;
}

static int wait_semaphore(sem_t *semaphore, clockid_t clock, const struct timespec *deadline)
{
    int code = insist_on((try_t){.attempt = try_semaphore,
                                 .object = semaphore,
                                 .busy = EAGAIN,
                                 .is_shared = is_shared_semaphore(semaphore)},
                         clock, deadline);

    if (code == 0)
        return 0;
    errno = code;
    return -1;
}

XY_INTERPOSE int sem_wait(sem_t *semaphore)
{
    if (!XY_MAY_PARK())
        return XY_NEXT(sem_wait)(semaphore);
    return wait_semaphore(semaphore, CLOCK_REALTIME, NULL);
}

XY_INTERPOSE int sem_trywait(sem_t *semaphore)
{
    int code = try_semaphore(semaphore);

    if (code == EAGAIN && XY_MAY_PARK())
        process_yield();
    errno = code != 0 ? code : errno;
    return code == 0 ? 0 : -1;
}

XY_INTERPOSE int sem_timedwait(sem_t *semaphore, const struct timespec *deadline)
{
    if (!XY_MAY_PARK())
        return XY_NEXT(sem_timedwait)(semaphore, deadline);
    return wait_semaphore(semaphore, CLOCK_REALTIME, deadline);
}

XY_INTERPOSE int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *deadline)
{
    if (!XY_MAY_PARK())
        return XY_NEXT(sem_clockwait)(semaphore, clock, deadline);
    return wait_semaphore(semaphore, clock, deadline);
}

XY_INTERPOSE int sem_post(sem_t *semaphore)
{
    int code = XY_NEXT(sem_post)(semaphore);

    process_turn_wake(semaphore, 1);
    return code;
}

/* ---- Once ---- */

static bool is_begun(void *once)
{
    enum { STATES = 3, IN_PROGRESS = 1 }; /* of the C library's own word */

    return (*(const int *)once & STATES) != IN_PROGRESS;
}

XY_INTERPOSE int pthread_once(pthread_once_t *once, void (*function)(void))
{
    int code;

    if (process_turns_are_taken())
        process_turn_wait_for(once, is_begun, once, INFINITY);
    code = XY_NEXT(pthread_once)(once, function);
    process_turn_wake(once, PROCESS_TURN_ALL);
    return code;
}
