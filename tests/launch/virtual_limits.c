/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits with a limit in virtual time: the limit is one of the virtual clock, whatever waits.
 *
 *   mpiexec --virtual core:4 --compute none -n 2 virtual_limits
 *
 * Each rank prints when it was through.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "virtual_limits.c:%d: rank %d: failed: %s\n", __LINE__, rank,          \
                    #condition);                                                                   \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                          \
        }                                                                                          \
    } while (0)

static int rank, size;
static double began;

static void begin(void)
{
    began = MPI_Wtime();
}

/* Since begin(), but for some looks at a clock. */
static int took(double seconds)
{
    double now = MPI_Wtime() - began;

    return now >= seconds && now < seconds + 1e-6;
}

static struct timespec in(clockid_t clock, long seconds)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_sec += seconds;
    return t;
}

static void check_conditions(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t plain = PTHREAD_COND_INITIALIZER, monotonic;
    pthread_condattr_t attributes;
    struct timespec t;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&monotonic, &attributes);
    pthread_mutex_lock(&mutex);
    begin();
    t = in(CLOCK_REALTIME, 100);
    CHECK(pthread_cond_timedwait(&plain, &mutex, &t) == ETIMEDOUT && took(100));
    begin();
    t = in(CLOCK_MONOTONIC, 20);
    CHECK(pthread_cond_timedwait(&monotonic, &mutex, &t) == ETIMEDOUT && took(20));
    begin();
    t = in(CLOCK_MONOTONIC, 3);
    CHECK(pthread_cond_clockwait(&plain, &mutex, CLOCK_MONOTONIC, &t) == ETIMEDOUT && took(3));
    begin();
    t.tv_sec = 0; /* long ago */
    CHECK(pthread_cond_timedwait(&plain, &mutex, &t) == ETIMEDOUT && took(0));
    CHECK(pthread_mutex_trylock(&mutex) == EBUSY); /* it was locked again */
    pthread_mutex_unlock(&mutex);
    pthread_cond_destroy(&monotonic);
    pthread_condattr_destroy(&attributes);
}

static void check_locks(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    int word = 7;
    sem_t semaphore;
    struct timespec t = {0};

    sem_init(&semaphore, 0, 0);
    pthread_mutex_lock(&mutex);
    pthread_rwlock_rdlock(&lock);
    begin();
    t = in(CLOCK_REALTIME, 50);
    CHECK(sem_timedwait(&semaphore, &t) == -1 && errno == ETIMEDOUT && took(50));
    t = in(CLOCK_REALTIME, 50);
    CHECK(pthread_mutex_timedlock(&mutex, &t) == ETIMEDOUT);
    t = in(CLOCK_REALTIME, 50);
    CHECK(pthread_rwlock_timedwrlock(&lock, &t) == ETIMEDOUT && took(150));
    begin();
    t = (struct timespec){2, 500000000}; /* from now on */
    CHECK(syscall(SYS_futex, &word, FUTEX_WAIT, 7, &t, NULL, 0) == -1 && errno == ETIMEDOUT);
    CHECK(took(2.5));
    t = in(CLOCK_MONOTONIC, 2);
    CHECK(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 7, &t, NULL, -1) == -1 &&
          errno == ETIMEDOUT && took(4.5));
    sem_destroy(&semaphore);
}

static void check_descriptors(void)
{
    int pipes[2], events = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    struct timeval limit = {0, 40000};
    fd_set set;

    CHECK(pipe(pipes) == 0 && epoll_ctl(events, EPOLL_CTL_ADD, pipes[0], &event) == 0);
    begin();
    CHECK(poll(&(struct pollfd){.fd = pipes[0], .events = POLLIN}, 1, 30) == 0 && took(0.03));
    begin();
    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    CHECK(select(pipes[0] + 1, &set, NULL, NULL, &limit) == 0 && took(0.04));
    CHECK(!FD_ISSET(pipes[0], &set) && limit.tv_sec == 0 && limit.tv_usec == 0);
    begin();
    CHECK(epoll_wait(events, &event, 1, 20) == 0 && took(0.02));
    close(pipes[0]);
    close(pipes[1]);
    close(events);
}

/* Data that another rank writes after a hundredth of a second is read then. */
static void check_other_rank(void)
{
    int pipes[2] = {-1, -1};
    char byte = 1;

    if (rank == 0)
        CHECK(pipe(pipes) == 0); /* all ranks are one process here */
    MPI_Bcast(pipes, 2, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    begin();
    if (rank == 0) {
        CHECK(poll(&(struct pollfd){.fd = pipes[0], .events = POLLIN}, 1, 9000) == 1);
        CHECK(MPI_Wtime() - began > 0.01 && MPI_Wtime() - began < 0.0101);
        CHECK(read(pipes[0], &byte, 1) == 1);
    } else if (rank == size - 1) {
        usleep(10010);
        CHECK(write(pipes[1], &byte, 1) == 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        close(pipes[0]);
        close(pipes[1]);
    }
}

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    int is_ready;
} shared = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void *work(void *unused)
{
    struct timespec pause = {0, 5000000}; /* in real time */

    nanosleep(&pause, NULL);
    pthread_mutex_lock(&shared.mutex);
    shared.is_ready = 1;
    pthread_cond_signal(&shared.condition);
    nanosleep(&pause, NULL);
    pthread_mutex_unlock(&shared.mutex);
    return unused;
}

/* While a thread of the rank works, virtual time stands still, or nearly so. */
static void check_threads(void)
{
    struct timespec t = in(CLOCK_REALTIME, 1000);
    pthread_t thread;

    begin();
    CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
    pthread_mutex_lock(&shared.mutex);
    while (!shared.is_ready)
        CHECK(pthread_cond_timedwait(&shared.condition, &shared.mutex, &t) == 0);
    pthread_mutex_unlock(&shared.mutex);
    CHECK(pthread_timedjoin_np(thread, NULL, &t) == 0);
    CHECK(MPI_Wtime() - began < 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_conditions();
    check_locks();
    check_descriptors();
    if (size > 1)
        check_other_rank();
    errno = 0;
    CHECK(clock_gettime(77, &(struct timespec){0}) == -1 && errno == EINVAL);
    printf("rank %d through at %.9f\n", rank, MPI_Wtime());
    check_threads();
    MPI_Finalize();
    return 0;
}
