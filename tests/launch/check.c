/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with leaks: check CODE. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Comm twin;
    MPI_Info info;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    if (rank == 0)
        MPI_Info_create(&info);
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
