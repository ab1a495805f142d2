/* SPDX-License-Identifier: BSD-3-Clause */
/* A value in memory that another rank has. expect: refused */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv)
{
    int *own, *first = NULL, rank, unit;
    MPI_Aint bytes;
    MPI_Win window;
    char data[100] = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
    if (rank == 0)
        *own = 7;
    MPI_Win_shared_query(window, 0, &bytes, &unit, &first);
    MPI_Win_fence(0, window);
    if (first != NULL)
        MPI_Bcast(data, *first + 1, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
