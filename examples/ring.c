/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring: messages between two ranks.
 *
 *   mpicc ring.c -o ring && mpiexec -n 5 ./ring
 *
 * A token travels 0 -> 1 -> 2 -> ... -> 0, and every rank adds its number to it. Each receive waits
 * for its message; nothing else orders the ranks.
 *
 * Rank 0 must not use MPI_Send here: that call may block until the message is received, and with a
 * single rank the receiver is the rank that blocks. MPI_Isend returns at once; after MPI_Wait the
 * buffer may be used again.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const int tag = 7; /* a label that the receiver asks for */
    int rank, size, left, right;
    long token, start = 0;
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;

    if (rank == 0) {
        MPI_Isend(&start, 1, MPI_LONG, right, tag, MPI_COMM_WORLD, &request);
        MPI_Recv(&token, 1, MPI_LONG, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        printf("the token passed %d ranks and brings back %ld\n", size, token);
    } else {
        MPI_Recv(&token, 1, MPI_LONG, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        token += rank;
        MPI_Send(&token, 1, MPI_LONG, right, tag, MPI_COMM_WORLD);
    }

    MPI_Finalize();
    return 0;
}
