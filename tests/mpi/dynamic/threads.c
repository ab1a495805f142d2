/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of a rank spawn ranks while the rank itself waits for the threads, in one way after the
 * other: in the C library, in the kernel, and in a loop. The new ranks may come to the core that
 * the rank waits on.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../check.h"

enum { THREADS = 2, ROUNDS = 30, FEW = XYLEM_SANITIZED ? 2 : 4 };

static const char *program;
static MPI_Comm comms[THREADS];

/* How the end of a thread is told. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, held[THREADS];
static pthread_cond_t has_ended = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t started, ended;
static _Atomic int count, meets; /* threads that have ended; do they come to the barrier? */

static void *spawn(void *argument)
{
    MPI_Comm *comm = argument, child;
    int got = -1, init_level = MPI_THREAD_SINGLE;

    pthread_mutex_lock(&held[comm - comms]);
    sem_post(&started);
    MPI_Query_thread(&init_level);
    CHECK_EQUAL(init_level, MPI_THREAD_MULTIPLE);
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, *comm, &child, MPI_ERRCODES_IGNORE);
    MPI_Recv(&got, 1, MPI_INT, 0, 1, child, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 77);
    MPI_Comm_disconnect(&child);
    pthread_mutex_unlock(&held[comm - comms]);
    pthread_mutex_lock(&lock);
    atomic_fetch_add(&count, 1);
    pthread_cond_signal(&has_ended);
    pthread_mutex_unlock(&lock);
    syscall(SYS_futex, &count, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    sem_post(&ended);
    if (atomic_load(&meets))
        pthread_barrier_wait(&barrier);
    return NULL;
}

static void wait_condition(void)
{
    pthread_mutex_lock(&lock);
    while (atomic_load(&count) < THREADS)
        pthread_cond_wait(&has_ended, &lock);
    pthread_mutex_unlock(&lock);
}

static void wait_mutex(void)
{
    for (int i = 0; i < THREADS; i++) {
        pthread_mutex_lock(&held[i]);
        pthread_mutex_unlock(&held[i]);
    }
}

static void wait_semaphore(void)
{
    for (int i = 0; i < THREADS; i++)
        sem_wait(&ended);
    for (int i = 0; i < THREADS; i++)
        sem_post(&ended);
}

static void wait_futex(void)
{
    for (int seen; (seen = atomic_load(&count)) < THREADS;)
        syscall(SYS_futex, &count, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void wait_sleeping(void)
{
    while (atomic_load(&count) < THREADS)
        usleep(200);
}

static void wait_spinning(void)
{
    while (atomic_load_explicit(&count, memory_order_relaxed) < THREADS)
        continue;
}

static void wait_barrier(void)
{
    pthread_barrier_wait(&barrier);
}

/* They are joined then. */
static void wait_join(void) {}

static void run_threads(void (*wait)(void))
{
    pthread_t threads[THREADS];

    atomic_store(&count, 0);
    atomic_store(&meets, wait == wait_barrier);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, spawn, &comms[i]);
    for (int i = 0; i < THREADS; i++)
        sem_wait(&started);
    wait();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        sem_wait(&ended);
}

int main(int argc, char **argv)
{
    static void (*const waits[])(void) = {wait_join,     wait_barrier,   wait_condition,
                                          wait_mutex,    wait_semaphore, wait_futex,
                                          wait_sleeping, wait_spinning};
    MPI_Comm parent;
    int provided, value = 77;

    program = argv[0];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Send(&value, 1, MPI_INT, 0, 1, parent);
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    sem_init(&started, 0, 0);
    sem_init(&ended, 0, 0);
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        pthread_mutex_init(&held[i], NULL);
        MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
    }
    /* Without mpiexec nothing can be spawned. */
    if (getenv("PMI_SIZE") != NULL) {
        for (size_t w = 0; w < sizeof waits / sizeof waits[0]; w++)
            for (int round = 0; round < FEW; round++)
                run_threads(waits[w]);
        for (int round = 0; round < ROUNDS; round++)
            run_threads(wait_join);
    }
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
