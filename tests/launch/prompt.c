/* SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Comm others;
    char name[32];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &others);
    if (rank == 0) {
        printf("your name? ");
        if (scanf("%31s", name) == 1)
            printf("hello %s\n", name);
    } else {
        MPI_Barrier(others);
        if (rank == 1)
            printf("others are done\n");
    }
    MPI_Comm_free(&others);
    MPI_Finalize();
    return 0;
}
