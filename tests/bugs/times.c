/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls at the wrong time: before MPI_Init, after MPI_Finalize, twice, or from the wrong thread. */
#include <pthread.h>
#include <unistd.h>

#include "bugs.h"

/* before: yes
 * ranks: 1
 * says: rank 0: MPI_Barrier was called before MPI_Init; call MPI_Init first (at @here) */
BUG(before_init)
{
    if (!wrong)
        MPI_Init(NULL, NULL);
    MPI_Barrier(world); // @here
    MPI_Finalize();
}

/* before: yes
 * ranks: 1
 * says: rank 0: MPI_Comm_rank was called after MPI_Finalize; move it before (at @here) */
BUG(after_finalize)
{
    MPI_Init(NULL, NULL);
    if (wrong)
        MPI_Finalize();
    MPI_Comm_rank(world, &rank); // @here
    MPI_Finalize();
}

/* before: yes
 * ranks: 2
 * says: rank *: MPI_Send was called before MPI_Init; call MPI_Init first (at @here) */
BUG(send_before_init)
{
    if (!wrong)
        MPI_Init(NULL, NULL);
    MPI_Send(numbers, 1, MPI_INT, MPI_PROC_NULL, 0, world); // @here
    MPI_Finalize();
}

/* before: yes
 * ranks: 1
 * says: rank 0: MPI_Comm_dup was called before MPI_Init; call MPI_Init first (at @here) */
BUG(dup_before_init)
{
    MPI_Comm made;

    if (!wrong)
        MPI_Init(NULL, NULL);
    MPI_Comm_dup(world, &made); // @here
    MPI_Comm_free(&made);
    MPI_Finalize();
}

/* before: yes
 * ranks: 3
 * says: rank *: MPI_Finalize was called before MPI_Init; call MPI_Init first (at @here) */
BUG(finalize_before_init)
{
    if (!wrong)
        MPI_Init(NULL, NULL);
    MPI_Finalize(); // @here
}

/* before: yes
 * ranks: 2
 * says: rank *: MPI_Barrier was called after MPI_Finalize; move it before (at @here) */
BUG(barrier_after_finalize)
{
    MPI_Init(NULL, NULL);
    if (wrong)
        MPI_Finalize();
    MPI_Barrier(world); // @here
    if (!wrong)
        MPI_Finalize();
}

/* before: yes
 * ranks: 1
 * says: rank 0: MPI_Finalize was called after MPI_Finalize; * (at @here) */
BUG(finalize_twice)
{
    MPI_Init(NULL, NULL);
    if (wrong)
        MPI_Finalize();
    MPI_Finalize(); // @here
}

/* before: yes
 * ranks: 1
 * says: rank 0: MPI_Comm_free was called after MPI_Finalize; move it before (at @here) */
BUG(free_after_finalize)
{
    MPI_Comm made;

    MPI_Init(NULL, NULL);
    MPI_Comm_dup(world, &made);
    if (wrong)
        MPI_Finalize();
    MPI_Comm_free(&made); // @here
    MPI_Finalize();
}

/* ranks: 1
 * code: 16
 * says: rank 0: MPI_Init: MPI was already initialized (MPI_ERR_OTHER; at @here) */
BUG(init_twice)
{
    int is_initialized;

    MPI_Initialized(&is_initialized);
    if (wrong || !is_initialized)
        MPI_Init(NULL, NULL); // @here
}

/* before: yes
 * ranks: 1
 * code: 16
 * says: rank 0: MPI_Init_thread: MPI was already initialized and finalized (MPI_ERR_OTHER; at
 * @here)
 */
BUG(init_after_finalize)
{
    int provided;

    MPI_Init(NULL, NULL);
    MPI_Finalize();
    if (wrong)
        MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided); // @here
}

/* before: yes
 * says: rank 1 ended with exit code 0 without calling MPI_Finalize */
BUG(no_finalize)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(world, &rank);
    if (!wrong || rank == 0)
        MPI_Finalize();
}

/* code: 3
 * says: rank 1 ended with exit code 3 without calling MPI_Finalize */
BUG(exit_early)
{
    if (wrong && rank == 1)
        exit(3);
    MPI_Barrier(world);
}

/* ranks: 5
 * code: 4
 * says: rank 4 ended with exit code 4 without calling MPI_Finalize */
BUG(underscore_exit_early)
{
    if (wrong && rank == 4)
        _exit(4);
    MPI_Barrier(world);
}

static void *call_rank(void *argument)
{
    (void)argument;
    MPI_Comm_rank(world, &rank); // @thread
    return NULL;
}

static void call_in_thread(int level)
{
    pthread_t thread;
    int provided;

    MPI_Init_thread(NULL, NULL, level, &provided);
    MPI_Comm_rank(world, &rank);
    pthread_create(&thread, NULL, call_rank, NULL);
    pthread_join(thread, NULL);
    MPI_Finalize();
}

/* before: yes
 * ranks: 1
 * says: rank 0: MPI_Comm_rank was called from a thread that is not a rank; only the thread that
 * runs main may call MPI, unless MPI_Init_thread is asked for MPI_THREAD_SERIALIZED or
 * MPI_THREAD_MULTIPLE (at @thread)
 */
BUG(thread_above_funneled)
{
    call_in_thread(wrong ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE);
}

/* before: yes
 * ranks: 3
 * says: rank *: MPI_Comm_rank was called from a thread that is not a rank; * (at @thread) */
BUG(thread_above_single)
{
    call_in_thread(wrong ? MPI_THREAD_SINGLE : MPI_THREAD_SERIALIZED);
}

static void *barrier(void *argument)
{
    (void)argument;
    MPI_Barrier(MPI_COMM_SELF); // @barrier
    return NULL;
}

/* before: yes
 * ranks: 2
 * says: rank *: MPI_Barrier was called from a thread that is not a rank; * (at @barrier) */
BUG(collective_in_thread)
{
    pthread_t thread;

    MPI_Init(NULL, NULL);
    if (wrong) {
        pthread_create(&thread, NULL, barrier, NULL);
        pthread_join(thread, NULL);
    } else {
        barrier(NULL);
    }
    MPI_Finalize();
}

static void *receive(void *argument)
{
    (void)argument;
    MPI_Recv(others, 1, MPI_INT, 0, 1, world, ignore); // @receive
    return NULL;
}

/* Two calls of one rank at the same time: one of them must wait until the other has returned.
 * before: yes
 * says: rank 0: * in MPI_Recv from rank 0, tag 1 on MPI_COMM_WORLD, at @receive
 * options: --workers 2 */
BUG(serialized_and_at_once)
{
    pthread_t thread;
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(world, &rank);
    if (rank == 0) {
        if (!wrong)
            MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
        pthread_create(&thread, NULL, receive, NULL);
        pthread_join(thread, NULL);
    }
    MPI_Finalize();
}

static void *bcast(void *argument)
{
    (void)argument;
    MPI_Bcast(others, 1, MPI_INT, 0, world); // @other
    return NULL;
}

/* before: yes
 * says: rank *: MPI_* was called on MPI_COMM_WORLD while another thread is in MPI_*; collectives of
 * one communicator follow each other
 * options: --workers 2 */
BUG(collectives_of_two_threads)
{
    pthread_t thread;
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(world, &rank);
    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, 1, 0, world, ignore); /* the threads of rank 1 wait for it */
    if (rank == 1) {
        pthread_create(&thread, NULL, bcast, NULL);
        if (!wrong)
            MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
        if (!wrong)
            pthread_join(thread, NULL);
    } else if (!wrong) {
        bcast(NULL);
    }
    MPI_Barrier(world);
    MPI_Finalize();
}
