/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned receives that a communication core begins: the receiver is in its own code when the
 * head of the message comes, and all partitions have been sent by then. Rank 0 receives, the others
 * send.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { ROUNDS = XYLEM_SANITIZED ? 40 : 300, PARTITIONS = 24, LENGTH = 500, SENDERS = 8 };

static int data[SENDERS][PARTITIONS * LENGTH];

static int value(int sender, int round, int i)
{
    return 1000000 * sender + 1000 * round + i % 997;
}

/* No call that lets the library work. */
static void compute(double seconds)
{
    double end = MPI_Wtime() + seconds;

    while (MPI_Wtime() < end)
        continue;
}

static void receive(int senders, int round)
{
    MPI_Request requests[SENDERS];

    for (int s = 0; s < senders; s++) {
        memset(data[s], 0, sizeof(data[s]));
        MPI_Precv_init(data[s], PARTITIONS, LENGTH, MPI_INT, s + 1, 1, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &requests[s]);
    }
    MPI_Startall(senders, requests);
    compute(2e-4);
    MPI_Waitall(senders, requests, MPI_STATUSES_IGNORE);
    for (int s = 0; s < senders; s++) {
        for (int i = 0; i < PARTITIONS * LENGTH; i++)
            CHECK_EQUAL(data[s][i], value(s + 1, round, i));
        MPI_Request_free(&requests[s]);
    }
}

static void send(int rank, int round)
{
    MPI_Request request;

    for (int i = 0; i < PARTITIONS * LENGTH; i++)
        data[0][i] = value(rank, round, i);
    MPI_Psend_init(data[0], PARTITIONS, LENGTH, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
    MPI_Start(&request);
    for (int p = 0; p < PARTITIONS; p++)
        MPI_Pready(p, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= SENDERS + 1);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 0)
            receive(size - 1, round);
        else
            send(rank, round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
