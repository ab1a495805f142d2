/* SPDX-License-Identifier: BSD-3-Clause */
/* A function that returns early where there is nothing to do. */
#include <mpi.h>

static int step(int stage, int rank, int size)
{
    int x = 0;

    if (rank >= 2 * stage)
        return 0;
    if (rank >= stage) {
        MPI_Recv(&x, 1, MPI_INT, rank - stage, stage, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return x;
    }
    if (rank + stage < size)
        MPI_Send(&x, 1, MPI_INT, rank + stage, stage, MPI_COMM_WORLD);
    return 1;
}

int main(int argc, char **argv)
{
    int rank, size;
    int x = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int stage = 1; stage < size; stage *= 2)
        x += step(stage, rank, size);
    MPI_Finalize();
    return 0;
}
