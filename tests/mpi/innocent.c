/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * innocent WHAT SEED: correct programs that look as if they were stuck, for a while. Ranks wait for
 * each other in chains whose last one computes, sleeps, polls, has a thread or a lock; nothing may
 * be reported about them. Times are random, some longer than the looks of --deadlock-after.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define world  MPI_COMM_WORLD
#define ignore MPI_STATUS_IGNORE

enum { LARGE = 1 << 16, TURNS = 8 };

static int rank, size;
static unsigned seed; /* the same on all ranks */
static int numbers[LARGE], others[LARGE];

static unsigned draw(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static void pause_ms(unsigned ms)
{
    struct timespec t = {.tv_nsec = (long)ms * 1000000};

    nanosleep(&t, NULL);
}

static void compute_ms(unsigned ms)
{
    double end = MPI_Wtime() + ms * 1e-3;

    while (MPI_Wtime() < end)
        continue;
}

/* Delay a rank that others wait for. */
static void dawdle(unsigned *state)
{
    unsigned ms = draw(state) % 24;
    int flag;

    switch (draw(state) % 3) {
    case 0:
        pause_ms(ms);
        break;
    case 1:
        compute_ms(ms);
        break;
    default:
        for (double end = MPI_Wtime() + ms * 1e-3; MPI_Wtime() < end;)
            MPI_Iprobe(MPI_ANY_SOURCE, 77, world, &flag, ignore);
    }
}

/* A token goes round; all others wait for it, in a circle with one gap. */
static void token(void)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int turns = size > 64 ? 1 : TURNS;

    for (int turn = 0; turn < turns; turn++) {
        if (rank > 0 || turn > 0)
            MPI_Recv(others, 1, MPI_INT, left, turn + (rank > 0), world, ignore);
        if (size <= 64 || rank % (size / 8) == 0)
            dawdle(&seed);
        MPI_Send(numbers, 1, MPI_INT, right, turn + 1, world);
    }
    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, left, turns, world, ignore);
}

/* Large messages, whose senders wait. */
static void large(void)
{
    int partner = rank ^ 1;

    for (int turn = 0; turn < TURNS && partner < size; turn++) {
        unsigned both = seed + (unsigned)(turn * 2 + rank / 2);
        bool first = draw(&both) % 2 == (unsigned)rank % 2;
        MPI_Request requests[2];

        dawdle(&seed);
        if (draw(&both) % 2 == 0) {
            MPI_Irecv(others, LARGE, MPI_INT, partner, turn, world, &requests[0]);
            MPI_Isend(numbers, LARGE, MPI_INT, partner, turn, world, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        } else if (first) {
            MPI_Send(numbers, LARGE, MPI_INT, partner, turn, world);
            MPI_Recv(others, LARGE, MPI_INT, partner, turn, world, ignore);
        } else {
            MPI_Recv(others, LARGE, MPI_INT, partner, turn, world, ignore);
            MPI_Ssend(numbers, LARGE, MPI_INT, partner, turn, world);
        }
    }
}

/* Workers ask a master, which takes from any and answers late. */
static void any(void)
{
    int asked = (size - 1) * TURNS, answer;
    MPI_Status status;

    if (rank > 0)
        for (int turn = 0; turn < TURNS; turn++) {
            MPI_Send(&turn, 1, MPI_INT, 0, 1, world);
            MPI_Probe(0, 2, world, ignore);
            MPI_Recv(&answer, 1, MPI_INT, 0, 2, world, ignore);
        }
    else
        while (asked-- > 0) {
            MPI_Recv(&answer, 1, MPI_INT, MPI_ANY_SOURCE, 1, world, &status);
            if (asked % 7 == 0)
                dawdle(&seed);
            MPI_Send(&answer, 1, MPI_INT, status.MPI_SOURCE, 2, world);
        }
}

/* One message of two comes from a rank that is late. */
static void several(void)
{
    MPI_Request requests[2];
    int index, left = (rank + size - 1) % size, right = (rank + 1) % size;

    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Irecv(&others[0], 1, MPI_INT, left, 1, world, &requests[0]);
        MPI_Irecv(&others[1], 1, MPI_INT, right, 2, world, &requests[1]);
        if (rank % 2 == turn % 2)
            dawdle(&seed);
        MPI_Send(numbers, 1, MPI_INT, right, 1, world);
        MPI_Waitany(2, requests, &index, ignore);
        MPI_Send(numbers, 1, MPI_INT, left, 2, world);
        MPI_Waitany(2, requests, &index, ignore);
    }
}

/* Collectives on communicators that overlap; some members have left, or have started and wait for
 * something else. */
static void meet(void)
{
    MPI_Comm pair, half;
    MPI_Request request;
    unsigned all = seed;

    MPI_Comm_split(world, rank / 2, rank, &pair);
    MPI_Comm_split(world, rank % 2, rank, &half);
    for (int turn = 0; turn < TURNS; turn++) {
        int root = (int)(draw(&all) % (unsigned)size);
        unsigned own = seed + (unsigned)(rank + turn * size);

        if (draw(&own) % 2 == 0)
            dawdle(&own);
        MPI_Bcast(numbers, draw(&all) % 2 == 0 ? 1 : LARGE, MPI_INT, root, world);
        MPI_Ibarrier(pair, &request);
        MPI_Barrier(half);
        if (rank % 2 == 0 && rank + 1 < size)
            MPI_Send(numbers, 1, MPI_INT, rank + 1, 9, world);
        else if (rank % 2 == 1)
            MPI_Recv(others, 1, MPI_INT, rank - 1, 9, world, ignore);
        MPI_Wait(&request, ignore);
        MPI_Iallreduce(numbers, others, 1, MPI_INT, MPI_MAX, world, &request);
        if (draw(&own) % 2 == 0)
            dawdle(&own);
        MPI_Wait(&request, ignore);
        MPI_Reduce(numbers, others, 4, MPI_INT, MPI_MAX, root, world);
    }
    MPI_Comm_free(&pair);
    MPI_Comm_free(&half);
}

/* Every rank but one polls and does nothing else, until the last one is ready. */
static void poll(void)
{
    MPI_Request request;
    int flag = 0;

    for (int turn = 0; turn < 3; turn++, flag = 0) {
        if (rank == turn % size)
            pause_ms(100);
        MPI_Ibarrier(world, &request);
        while (!flag)
            MPI_Test(&request, &flag, ignore);
    }
}

/* The clock ends what no message does. */
static void give_up(void)
{
    double end = MPI_Wtime() + 0.15;
    MPI_Request request;
    int flag = 0;

    MPI_Irecv(others, 1, MPI_INT, (rank + 1) % size, 1, world, &request);
    while (!flag && MPI_Wtime() < end)
        MPI_Test(&request, &flag, ignore);
    MPI_Send(numbers, 1, MPI_INT, (rank + size - 1) % size, 1, world);
    MPI_Wait(&request, ignore);
}

static void *send_late(void *unused)
{
    (void)unused;
    pause_ms(draw(&seed) % 40);
    MPI_Send(numbers, 1, MPI_INT, (rank + 1) % size, 1, world);
    return NULL;
}

/* All ranks wait for each other in a circle; their threads send. */
static void threads(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, send_late, NULL);
    MPI_Recv(others, 1, MPI_INT, (rank + size - 1) % size, 1, world, ignore);
    pthread_join(thread, NULL);
}

/* A request of the program's own, which its thread ends. */
static int query(void *unused, MPI_Status *status)
{
    (void)unused;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int forget(void *unused)
{
    (void)unused;
    return MPI_SUCCESS;
}

static int cancel(void *unused, int is_complete)
{
    (void)unused;
    (void)is_complete;
    return MPI_SUCCESS;
}

static void *complete_late(void *request)
{
    pause_ms(draw(&seed) % 40);
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}

static void own(void)
{
    MPI_Request request;
    pthread_t thread;
    MPI_Request copy;

    MPI_Grequest_start(query, forget, cancel, NULL, &request);
    copy = request;
    pthread_create(&thread, NULL, complete_late, &copy);
    MPI_Wait(&request, ignore);
    pthread_join(thread, NULL);
    MPI_Barrier(world);
}

/* One has the lock, and takes its time. */
static void locks(void)
{
    int *memory;
    MPI_Win win;

    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, world, &memory, &win);
    for (int turn = 0; turn < 3; turn++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, turn % size, 0, win);
        if (rank % 4 == 0)
            dawdle(&seed);
        MPI_Accumulate(numbers, 1, MPI_INT, turn % size, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock(turn % size, win);
        if (rank == turn)
            dawdle(&seed);
        MPI_Win_fence(0, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    }
    MPI_Win_free(&win);
}

static const struct {
    const char *name;
    void (*run)(void);
    int level;
} all[] = {{"token", token, MPI_THREAD_SINGLE},
           {"large", large, MPI_THREAD_SINGLE},
           {"any", any, MPI_THREAD_SINGLE},
           {"several", several, MPI_THREAD_SINGLE},
           {"meet", meet, MPI_THREAD_SINGLE},
           {"poll", poll, MPI_THREAD_SINGLE},
           {"give_up", give_up, MPI_THREAD_SINGLE},
           {"threads", threads, MPI_THREAD_MULTIPLE},
           {"own", own, MPI_THREAD_MULTIPLE},
           {"locks", locks, MPI_THREAD_SINGLE},
           {NULL, NULL, 0}};

int main(int argc, char **argv)
{
    int i = 0, provided;

    while (argc > 1 && all[i].name != NULL && strcmp(all[i].name, argv[1]) != 0)
        i++;
    if (argc < 3 || all[i].name == NULL) {
        fprintf(stderr, "usage: %s WHAT SEED\n", argv[0]);
        return 99;
    }
    MPI_Init_thread(&argc, &argv, all[i].level, &provided);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    seed = (unsigned)strtoul(argv[2], NULL, 10);
    all[i].run();
    MPI_Finalize();
    return 0;
}
