/* SPDX-License-Identifier: BSD-3-Clause */
/* A window that neighbours put into. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *memory, mine[10] = {0};
    MPI_Win window;

    MPI_Win_allocate(10 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &window);
    MPI_Win_fence(0, window);
    MPI_Put(mine, 10, MPI_DOUBLE, (rank + 1) % size, 0, 10, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Get(mine, 5, MPI_DOUBLE, (rank + 1) % size, 2, 5, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
