/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many small calls of one kind, for what mpiexec --check costs each of them (bench/overhead.py).
 * Two ranks or more.
 *
 *   floods KIND [CALLS]
 *
 *   send         rank 0 sends to rank 1, a local variable of 4 bytes
 *   heap         the same, from blocks of the heap
 *   isend        Isend and Irecv of 64 elements of an array at a time, and Waitall
 *   persistent   the same with Startall
 *   any          all ranks send to rank 0, which receives from any source
 *   pingpong     Sendrecv between neighbours
 *   collective   Allreduce of 8 bytes
 *   icollective  Ibcast and Wait
 *   fence        puts of 8 bytes to the next rank, 64 between fences
 *   lock         lock, put, unlock
 *   allocate     malloc, send, free
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64 };

static int rank, size;

static void flood_send(int calls)
{
    int value = rank;

    for (int i = 0; i < calls; i++)
        if (rank == 0)
            MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        else if (rank == 1)
            MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void flood_heap(int calls)
{
    double *values[BATCH];

    for (int i = 0; i < BATCH; i++)
        values[i] = calloc(8, sizeof(double));
    for (int i = 0; i < calls; i++)
        if (rank == 0)
            MPI_Send(values[i % BATCH], 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        else if (rank == 1)
            MPI_Recv(values[i % BATCH], 8, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < BATCH; i++)
        free(values[i]);
}

static void flood_isend(int calls)
{
    static int values[BATCH];
    MPI_Request requests[BATCH];

    for (int i = 0; i < calls; i += BATCH) {
        for (int k = 0; k < BATCH && rank < 2; k++)
            if (rank == 0)
                MPI_Isend(&values[k], 1, MPI_INT, 1, k, MPI_COMM_WORLD, &requests[k]);
            else
                MPI_Irecv(&values[k], 1, MPI_INT, 0, k, MPI_COMM_WORLD, &requests[k]);
        if (rank < 2)
            MPI_Waitall(BATCH, requests, MPI_STATUSES_IGNORE);
    }
}

static void flood_persistent(int calls)
{
    static int values[BATCH];
    MPI_Request requests[BATCH];

    for (int k = 0; k < BATCH && rank < 2; k++)
        if (rank == 0)
            MPI_Send_init(&values[k], 1, MPI_INT, 1, k, MPI_COMM_WORLD, &requests[k]);
        else
            MPI_Recv_init(&values[k], 1, MPI_INT, 0, k, MPI_COMM_WORLD, &requests[k]);
    for (int i = 0; i < calls && rank < 2; i += BATCH) {
        MPI_Startall(BATCH, requests);
        MPI_Waitall(BATCH, requests, MPI_STATUSES_IGNORE);
    }
    for (int k = 0; k < BATCH && rank < 2; k++)
        MPI_Request_free(&requests[k]);
}

static void flood_any(int calls)
{
    int value = rank;

    for (int i = 0; i < calls / (size - 1); i++)
        for (int k = 1; k < size; k++)
            if (rank == 0)
                MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else if (rank == k)
                MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

static void flood_pingpong(int calls)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int mine = rank, other;

    for (int i = 0; i < calls; i++)
        MPI_Sendrecv(&mine, 1, MPI_INT, next, 0, &other, 1, MPI_INT, previous, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}

static void flood_collective(int calls)
{
    double mine = rank, sum;

    for (int i = 0; i < calls; i++)
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void flood_icollective(int calls)
{
    double value = rank;
    MPI_Request request;

    for (int i = 0; i < calls; i++) {
        MPI_Ibcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void flood_fence(int calls)
{
    double *memory, mine[BATCH] = {0};
    MPI_Win win;

    MPI_Win_allocate(sizeof(mine), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < calls; i += BATCH) {
        for (int k = 0; k < BATCH; k++)
            MPI_Put(&mine[k], 1, MPI_DOUBLE, (rank + 1) % size, k, 1, MPI_DOUBLE, win);
        MPI_Win_fence(0, win);
    }
    MPI_Win_free(&win);
}

static void flood_lock(int calls)
{
    double *memory, mine = rank;
    MPI_Win win;

    MPI_Win_allocate((MPI_Aint)((size_t)size * sizeof(double)), sizeof(double), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &memory, &win);
    for (int i = 0; i < calls; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % size, 0, win);
        MPI_Put(&mine, 1, MPI_DOUBLE, (rank + 1) % size, rank, 1, MPI_DOUBLE, win);
        MPI_Win_unlock((rank + 1) % size, win);
    }
    MPI_Win_free(&win);
}

static void flood_allocate(int calls)
{
    for (int i = 0; i < calls && rank < 2; i++) {
        int *value = calloc(4, sizeof(int));

        if (rank == 0)
            MPI_Send(value, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(value, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        free(value);
    }
}

static const struct {
    const char *name;
    void (*run)(int calls);
} kinds[] = {{"send", flood_send},
             {"heap", flood_heap},
             {"isend", flood_isend},
             {"persistent", flood_persistent},
             {"any", flood_any},
             {"pingpong", flood_pingpong},
             {"collective", flood_collective},
             {"icollective", flood_icollective},
             {"fence", flood_fence},
             {"lock", flood_lock},
             {"allocate", flood_allocate}};

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    int calls = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 100000;
    int found = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && size > 1; i++)
        if (strcmp(kinds[i].name, kind) == 0) {
            kinds[i].run(calls);
            found = 1;
        }
    MPI_Finalize();
    if (!found)
        fprintf(stderr, "usage: mpiexec -n 2 floods KIND [CALLS]\n");
    return found ? 0 : 2;
}
