/* SPDX-License-Identifier: BSD-3-Clause */
/* check CODE: a program with leaks. check race: one that waits for ever if rank
 * 0 takes the message of rank 2 first. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void race(int rank)
{
    int number;

    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank > 0)
        return;
    MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&number, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Comm twin;
    MPI_Info info;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && strcmp(argv[1], "race") == 0) {
        race(rank);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    if (rank == 0)
        MPI_Info_create(&info);
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
