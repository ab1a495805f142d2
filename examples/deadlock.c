/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deadlock: a program with a mistake, and the report about it.
 *
 *   mpicc -g deadlock.c -o deadlock && mpiexec -n 4 ./deadlock
 *
 * Neighbours exchange their numbers, and each receives before it sends: all ranks wait in MPI_Recv,
 * and none reaches MPI_Send. Many MPI libraries hang here. Ways to fix it: use MPI_Sendrecv instead
 * of the two calls; or MPI_Irecv, MPI_Send, then MPI_Wait; or let one of the two send first.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, partner, number;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    partner = rank % 2 == 0 ? rank + 1 : rank - 1;
    if (partner == size)
        partner = MPI_PROC_NULL;

    MPI_Recv(&number, 1, MPI_INT, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&rank, 1, MPI_INT, partner, 0, MPI_COMM_WORLD);

    printf("rank %d received %d\n", rank, number);
    MPI_Finalize();
    return 0;
}
