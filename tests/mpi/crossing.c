/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floods that cross: each rank sends another one so many messages that no ring between two cores
 * holds them, and each message wants an answer, which goes through a ring that is as full. Half of
 * the time collectives of many communicators go through the same rings.
 *
 *   mpiexec -n 2 crossing
 */
#include "check.h"

#include <stdlib.h>

enum { MESSAGES = 3000, ROUNDS = 4, COMMS = 40 };

static void cross(int rank, int size, MPI_Comm *comms, int collectives)
{
    static int out[MESSAGES], in[MESSAGES];
    static MPI_Request requests[2 * MESSAGES + COMMS];
    int to = (rank + size / 2) % size, from = (rank + size - size / 2) % size;

    for (int i = 0; i < MESSAGES; i++) {
        out[i] = rank * 7 + i;
        MPI_Irecv(&in[i], 1, MPI_INT, from, 1, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Issend(&out[i], 1, MPI_INT, to, 1, MPI_COMM_WORLD, &requests[MESSAGES + i]);
        if (collectives > 0 && i % (MESSAGES / COMMS) == 0)
            MPI_Ibarrier(comms[i / (MESSAGES / COMMS)],
                         &requests[2 * MESSAGES + i / (MESSAGES / COMMS)]);
    }
    MPI_Waitall(2 * MESSAGES + collectives, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MESSAGES; i++)
        CHECK_EQUAL(in[i], from * 7 + i);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS];
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int c = 0; c < COMMS; c++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
    for (int round = 0; round < ROUNDS; round++)
        cross(rank, size, comms, round % 2 * COMMS);
    for (int c = 0; c < COMMS; c++)
        MPI_Comm_free(&comms[c]);
    MPI_Finalize();
    return 0;
}
