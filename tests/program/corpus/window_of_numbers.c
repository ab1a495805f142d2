/* SPDX-License-Identifier: BSD-3-Clause */
/* A length among the numbers of a large window, which are not followed. expect: asked */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    double *field, first;
    MPI_Win window;
    char data[1000], room[1000];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(1000 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &field,
                     &window);
    for (int i = 0; i < 1000; i++)
        field[i] = i + rank;
    MPI_Win_fence(0, window);
    MPI_Get(&first, 1, MPI_DOUBLE, (rank + 1) % size, 7, 1, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Sendrecv(data, (int)first, MPI_CHAR, (rank + 1) % size, 0, room, 1000, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
