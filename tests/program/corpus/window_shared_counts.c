/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts in memory that ranks share, which are not followed. expect: refused */
#include <mpi.h>

int main(int argc, char **argv)
{
    int *count, *first, rank, size, unit;
    MPI_Aint bytes;
    MPI_Win window;
    char data[100] = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &count,
                            &window);
    *count = 1;
    MPI_Win_shared_query(window, (rank + 1) % size, &bytes, &unit, &first);
    MPI_Win_fence(0, window);
    *first = rank + 10;
    MPI_Win_fence(0, window);
    MPI_Sendrecv(data, *count, MPI_CHAR, (rank + 1) % size, 0, data + 50, 50, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
