/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of one rank that call MPI at the same time, or without the level that they need. */
#include <pthread.h>
#include <time.h>

#include "bugs.h"

typedef void *(*thread_fn)(void *);

static void init(int level)
{
    int provided;

    MPI_Init_thread(NULL, NULL, level, &provided);
    MPI_Comm_rank(world, &rank);
}

static void run(thread_fn function, void *argument)
{
    pthread_t thread;

    pthread_create(&thread, NULL, function, argument);
    pthread_join(thread, NULL);
}

static void *exchange(void *argument)
{
    MPI_Request request;

    MPI_Irecv(others, 1, MPI_INT, 1 - rank, 0, world, &request); // @thread
    MPI_Send(numbers, 1, MPI_INT, 1 - rank, 0, world);
    MPI_Wait(&request, ignore);
    return argument;
}

/* before: yes
 * says: rank *: MPI_Irecv was called from a thread that is not a rank; * (at @thread) */
BUG(thread_receives_funneled)
{
    init(wrong ? MPI_THREAD_FUNNELED : MPI_THREAD_SERIALIZED);
    run(exchange, NULL);
    MPI_Finalize();
}

static void *make_window(void *argument)
{
    MPI_Win_create(numbers, 4, 4, MPI_INFO_NULL, MPI_COMM_SELF, argument); // @window
    return NULL;
}

/* before: yes
 * ranks: 1
 * says: rank 0: MPI_Win_create was called from a thread that is not a rank; * (at @window) */
BUG(thread_makes_window)
{
    MPI_Win win;

    init(wrong ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE);
    run(make_window, &win);
    MPI_Win_free(&win);
    MPI_Finalize();
}

/* Rank 1 calls two collectives at a time, while rank 0 does not come to the first. */
static void at_once(thread_fn first, thread_fn second, void *object)
{
    pthread_t thread;

    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, 1, 0, world, ignore);
    if (rank == 1) {
        pthread_create(&thread, NULL, first, object);
        if (!wrong) {
            MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
            pthread_join(thread, NULL);
        }
    } else if (!wrong) {
        first(object);
    }
    second(object);
}

static void *barrier(void *argument)
{
    MPI_Barrier(world);
    return argument;
}

static void *reduce(void *argument)
{
    MPI_Reduce(numbers, others, 1, MPI_INT, MPI_SUM, 0, world);
    return argument;
}

static void *gather(void *argument)
{
    MPI_Gather(numbers, 1, MPI_INT, others, 1, MPI_INT, 0, world);
    return argument;
}

static void *duplicate(void *argument)
{
    MPI_Comm comm;

    MPI_Comm_dup(world, &comm);
    MPI_Comm_free(&comm);
    return argument;
}

static void *barrier_of(void *argument)
{
    MPI_Barrier(*(MPI_Comm *)argument);
    return NULL;
}

static void *allreduce_of(void *argument)
{
    MPI_Allreduce(MPI_IN_PLACE, others, 1, MPI_INT, MPI_SUM, *(MPI_Comm *)argument);
    return NULL;
}

/* before: yes
 * says: rank 1: MPI_* was called on MPI_COMM_WORLD while another thread is in MPI_*; collectives of
 * one communicator follow each other
 * options: --workers 2 */
BUG(reduce_and_gather_at_once)
{
    init(MPI_THREAD_MULTIPLE);
    at_once(reduce, gather, NULL);
    MPI_Finalize();
}

/* before: yes
 * says: rank 1: MPI_* was called on MPI_COMM_WORLD while another thread is in MPI_*; collectives of
 * one communicator follow each other
 * options: --workers 2 */
BUG(same_collective_at_once)
{
    init(MPI_THREAD_MULTIPLE);
    at_once(barrier, barrier, NULL);
    MPI_Finalize();
}

/* before: yes
 * says: rank 1: MPI_* was called on MPI_COMM_WORLD while another thread is in MPI_*; collectives of
 * one communicator follow each other
 * options: --workers 2 */
BUG(dup_and_barrier_at_once)
{
    init(MPI_THREAD_MULTIPLE);
    at_once(barrier, duplicate, NULL);
    MPI_Finalize();
}

/* before: yes
 * says: rank 1: MPI_* was called on pair while another thread is in MPI_*; collectives of one
 * communicator follow each other
 * options: --workers 2 */
BUG(collectives_of_own_at_once)
{
    MPI_Comm comm;

    init(MPI_THREAD_MULTIPLE);
    MPI_Comm_dup(world, &comm);
    MPI_Comm_set_name(comm, "pair");
    at_once(barrier_of, allreduce_of, &comm);
    MPI_Comm_free(&comm);
    MPI_Finalize();
}

static MPI_Request shared;

static void *wait_for(void *argument)
{
    MPI_Status status;

    MPI_Wait(argument, &status); // @wait
    return NULL;
}

/* Rank 0 has a request that another thread waits for, and uses it in another call. */
static void use_twice(void (*use)(void), bool is_persistent)
{
    MPI_Request copy;
    pthread_t thread;

    init(MPI_THREAD_MULTIPLE);
    if (rank == 0) {
        if (is_persistent)
            MPI_Recv_init(others, 1, MPI_INT, 1, 0, world, &shared);
        else
            MPI_Irecv(others, 1, MPI_INT, 1, 0, world, &shared); // @start
        if (is_persistent)
            MPI_Start(&shared);
        copy = shared;
        pthread_create(&thread, NULL, wait_for, &copy);
        if (!wrong) {
            MPI_Send(numbers, 1, MPI_INT, 1, 1, world);
            pthread_join(thread, NULL);
        } else {
            /* The thread of the library is in MPI_Wait soon. */
            MPI_Recv(others + 9, 1, MPI_INT, 1, 2, world, ignore);
            use();
        }
        if (is_persistent)
            MPI_Request_free(&shared);
    } else if (wrong) {
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
        MPI_Send(numbers, 1, MPI_INT, 0, 2, world);
        MPI_Recv(others, 1, MPI_INT, 0, 1, world, ignore);
    } else {
        MPI_Recv(others, 1, MPI_INT, 0, 1, world, ignore);
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
    }
    MPI_Finalize();
}

static void start_again(void)
{
    MPI_Start(&shared); // @again
}

/* before: yes
 * code: 7
 * says: rank 0: MPI_Start: the request was started before and has not been completed since
 * (MPI_ERR_REQUEST; at @again) */
BUG(started_while_waited_for)
{
    use_twice(start_again, true);
}

static void *receive_one(void *argument)
{
    MPI_Recv(others, 1, MPI_INT, 1 - rank, 0, world, ignore); // @last
    return argument;
}

/* before: yes
 * says: rank *: MPI_Finalize at @finalize was called while another thread is in MPI_Recv at @last;
 * all threads must have returned from their calls, join them first */
BUG(finalized_beside_thread)
{
    const struct timespec pause = {.tv_nsec = 200000000};
    pthread_t thread;

    init(MPI_THREAD_MULTIPLE);
    pthread_create(&thread, NULL, receive_one, NULL);
    if (wrong) {
        nanosleep(&pause, NULL);
    } else {
        MPI_Send(numbers, 1, MPI_INT, 1 - rank, 0, world);
        pthread_join(thread, NULL);
    }
    MPI_Finalize(); // @finalize
}
