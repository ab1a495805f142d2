/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deadlocks with threads, and what looks like one.
 *
 *   threads_deadlock all       the main thread of each rank and a thread of it wait for nothing
 *   threads_deadlock late      all wait but one thread, which sends after a while
 *   threads_deadlock join      the main thread waits for the end of a thread that waits for nothing
 *   threads_deadlock idle      the main thread waits for nothing, and a thread for a condition
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "check.h"

static int rank, size;

static void *wait_for_nothing(void *unused)
{
    int value;

    (void)unused;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void *wait_for_condition(void *unused)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

    (void)unused;
    pthread_mutex_lock(&mutex);
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    return NULL;
}

static void *send_late(void *unused)
{
    int value = 17;

    (void)unused;
    sleep(1);
    for (int r = 0; r < size; r++)
        for (int tag = 7; tag <= 8; tag++)
            MPI_Send(&value, 1, MPI_INT, r, tag, MPI_COMM_WORLD);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    const char *what = argc > 1 ? argv[1] : "";
    int provided, value = 0, is_late = strcmp(what, "late") == 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(pthread_create(&threads[0], NULL,
                         strcmp(what, "idle") == 0 ? wait_for_condition : wait_for_nothing,
                         NULL) == 0);
    if (strcmp(what, "join") == 0)
        CHECK(pthread_join(threads[0], NULL) == 0);
    if (is_late && rank == size - 1)
        CHECK(pthread_create(&threads[1], NULL, send_late, NULL) == 0);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(value == 17);
    CHECK(pthread_join(threads[0], NULL) == 0);
    if (is_late && rank == size - 1)
        CHECK(pthread_join(threads[1], NULL) == 0);
    MPI_Finalize();
    return 0;
}
