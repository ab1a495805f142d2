/* SPDX-License-Identifier: BSD-3-Clause */
/* All send to one, which takes what comes first and answers. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    int value = 0;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    if (rank == size - 1) {
        for (int i = 0; i < 3 * (size - 1); i++) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Send(&value, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG + 10, MPI_COMM_WORLD);
        }
    } else {
        for (int i = 0; i < 3; i++) {
            MPI_Send(&value, 1, MPI_INT, size - 1, i, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_INT, size - 1, i + 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
