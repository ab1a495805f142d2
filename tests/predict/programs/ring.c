/* SPDX-License-Identifier: BSD-3-Clause */
/* A token goes around, receives before sends where the rank is odd. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    int token = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int i = 0; i < 5; i++) {
        if (rank % 2 == 0) {
            MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&token, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
