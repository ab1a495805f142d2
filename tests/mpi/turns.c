/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of ranks in virtual time, and what they wait for: messages, mutexes of all kinds,
 * conditions, barriers, semaphores, locks for readers, the end of one another, until a time. Each
 * rank prints its times to the last bit; run it with mpiexec --virtual (turns.sh).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 40 };

static int rank, size;
static double ends[THREADS];
static int sum, meetings;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;

static void run(void *(*function)(void *), int count)
{
    pthread_t threads[2 * THREADS];

    for (intptr_t t = 0; t < count; t++)
        CHECK(pthread_create(&threads[t], NULL, function, (void *)t) == 0);
    for (int t = 0; t < count; t++)
        CHECK(pthread_join(threads[t], NULL) == 0);
}

/* ---- Messages ---- */

static void *exchange(void *argument)
{
    int thread = (int)(intptr_t)argument, next = (rank + 1) % size, last = (rank + size - 1) % size;

    for (int i = 0; i < ROUNDS; i++) {
        int mine = 1000 * rank + 10 * i + thread, other = -1;

        usleep((useconds_t)(1 + (rank * 7 + thread * 3 + i) % 5));
        MPI_Sendrecv(&mine, 1, MPI_INT, next, thread, &other, 1, MPI_INT, last, thread,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(other == 1000 * last + 10 * i + thread);
        pthread_mutex_lock(&mutex);
        sum += thread;
        if (i % 10 == 3)
            usleep(2); /* the others wait for the mutex */
        pthread_mutex_unlock(&mutex);
        if (i % 7 == 0 && pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            meetings++;
    }
    ends[thread] = MPI_Wtime();
    return NULL;
}

static MPI_Request requests[THREADS];

/* Requests of another thread; in the order in which they are not completed. */
static void *wait_for_one(void *argument)
{
    int thread = (int)(intptr_t)argument;

    MPI_Wait(&requests[THREADS - 1 - thread], MPI_STATUS_IGNORE);
    ends[thread] = MPI_Wtime();
    return NULL;
}

static void hand_over(void)
{
    int values[THREADS], next = (rank + 1) % size, last = (rank + size - 1) % size;

    for (int t = 0; t < THREADS; t++)
        MPI_Irecv(&values[t], 1, MPI_INT, last, t, MPI_COMM_WORLD, &requests[t]);
    for (int t = 0; t < THREADS; t++) {
        usleep(20);
        MPI_Send(&t, 1, MPI_INT, next, t, MPI_COMM_WORLD);
    }
    run(wait_for_one, THREADS);
    for (int t = 0; t < THREADS; t++)
        CHECK(values[t] == t);
}

/* ---- Locks ---- */

static sem_t semaphore;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t checked, recursive;
static mtx_t c11_mutex;
static cnd_t c11_condition;
static int begun, readers, written;
static _Thread_local int own = 5;

static void begin_once(void)
{
    usleep(10); /* the others come meanwhile */
    begun++;
}

static void read_often(void)
{
    for (int i = 0; i < 5; i++) {
        pthread_rwlock_rdlock(&rwlock);
        readers++;
        usleep(5);
        readers--;
        pthread_rwlock_unlock(&rwlock);
    }
}

static void write_often(void)
{
    for (int i = 0; i < 5; i++) {
        int value;

        pthread_rwlock_wrlock(&rwlock);
        CHECK(readers == 0);
        usleep(5);
        CHECK(readers == 0);
        pthread_rwlock_unlock(&rwlock);
        pthread_spin_lock(&spinlock);
        value = written;
        usleep(1);
        written = value + 1;
        pthread_spin_unlock(&spinlock);
    }
}

static void *lock_often(void *argument)
{
    if ((intptr_t)argument % 2 == 0)
        read_often();
    else
        write_often();
    pthread_once(&once, begin_once);
    CHECK(begun == 1);
    own++;
    CHECK(own == 6);
    CHECK(pthread_mutex_lock(&checked) == 0);
    CHECK(pthread_mutex_lock(&checked) == EDEADLK);
    usleep(3);
    CHECK(pthread_mutex_unlock(&checked) == 0);
    CHECK(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0);
    usleep(3);
    CHECK(pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0);
    return NULL;
}

static void locks(void)
{
    pthread_mutexattr_t attributes;

    pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checked, &attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &attributes);
    run(lock_often, 2 * THREADS);
    CHECK(written == 5 * THREADS && own == 5);
}

/* ---- One waits for another ---- */

static void *post_late(void *result)
{
    usleep(100);
    sem_post(&semaphore);
    return result;
}

static int signal_c11(void *count)
{
    mtx_lock(&c11_mutex);
    ++*(int *)count;
    cnd_signal(&c11_condition);
    mtx_unlock(&c11_mutex);
    return 42;
}

static void *end_late(void *result)
{
    usleep(30);
    pthread_exit(result);
}

static void *count_late(void *count)
{
    usleep(40);
    ++*(atomic_int *)count;
    return NULL;
}

/* Without a call that waits: only locks are taken and given back. */
static void *set_flag(void *flag)
{
    pthread_mutex_lock(&mutex);
    *(int *)flag = 1;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *wait_for_ever(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    return NULL;
}

static struct timespec in(double seconds)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += (long)(1e9 * seconds);
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void ends_of_threads(void)
{
    atomic_int counted = 0;
    pthread_t thread;
    struct timespec limit;
    void *result = NULL;
    int there = 0;

    pthread_create(&thread, NULL, end_late, &there);
    limit = in(5e-6);
    CHECK(pthread_timedjoin_np(thread, &result, &limit) == ETIMEDOUT);
    while (pthread_tryjoin_np(thread, &result) == EBUSY)
        there++;
    CHECK(result == &there && there > 0);
    pthread_create(&thread, NULL, count_late, &counted);
    pthread_detach(thread);
    while (counted == 0)
        sched_yield();
    there = 0;
    pthread_create(&thread, NULL, set_flag, &there);
    for (int is_set = 0; !is_set;) {
        pthread_mutex_lock(&mutex);
        is_set = there;
        pthread_mutex_unlock(&mutex);
    }
    pthread_join(thread, NULL);
}

static void wake_ups(void)
{
    pthread_t thread;
    thrd_t c11;
    void *result = NULL;
    int count = 0, code = 0;

    sem_init(&semaphore, 0, 0);
    pthread_create(&thread, NULL, post_late, &count);
    sem_wait(&semaphore);
    CHECK(pthread_join(thread, &result) == 0 && result == &count);
    mtx_init(&c11_mutex, mtx_plain);
    cnd_init(&c11_condition);
    mtx_lock(&c11_mutex);
    thrd_create(&c11, signal_c11, &count);
    while (count == 0)
        cnd_wait(&c11_condition, &c11_mutex);
    mtx_unlock(&c11_mutex);
    CHECK(thrd_join(c11, &code) == thrd_success && code == 42);
}

/* The end of a limit takes no real time. */
static void limits(void)
{
    struct timespec limit = in(1000);
    double before = MPI_Wtime(), waited;

    pthread_mutex_lock(&mutex);
    CHECK(pthread_cond_timedwait(&condition, &mutex, &limit) == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
    waited = MPI_Wtime() - before;
    CHECK(waited > 999.999 && waited < 1000.001);
    limit = in(0.25);
    CHECK(sem_timedwait(&semaphore, &limit) == -1 && errno == ETIMEDOUT);
}

int main(int argc, char **argv)
{
    pthread_t left;
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    pthread_barrier_init(&barrier, NULL, THREADS);
    run(exchange, THREADS);
    CHECK(sum == ROUNDS * THREADS * (THREADS - 1) / 2 && meetings == (ROUNDS + 6) / 7);
    printf("%d: %a %a %a %a\n", rank, ends[0], ends[1], ends[2], ends[3]);
    hand_over();
    printf("%d: %a %a %a %a\n", rank, ends[0], ends[1], ends[2], ends[3]);
    locks();
    wake_ups();
    ends_of_threads();
    limits();
    CHECK(pthread_create(&left, NULL, wait_for_ever, NULL) == 0); /* it ends with its rank */
    usleep(5);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d: %a\n", rank, MPI_Wtime());
    MPI_Finalize();
    return 0;
}
