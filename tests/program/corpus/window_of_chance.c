/* SPDX-License-Identifier: BSD-3-Clause */
/* A length by chance in the window of a neighbour. expect: asked */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, length, mine;
    MPI_Win window;
    char data[100], room[100];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = rand() % 100;
    MPI_Win_create(&mine, sizeof(mine), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Get(&length, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Sendrecv(data, mine, MPI_CHAR, (rank + size - 1) % size, 0, room, length, MPI_CHAR,
                 (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
