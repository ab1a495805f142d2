/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers between messages. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    char c = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int i = 0; i < size; i++) {
        if (rank == i && size > 1)
            MPI_Send(&c, 1, MPI_CHAR, (i + 1) % size, 0, MPI_COMM_WORLD);
        if (rank == (i + 1) % size && size > 1)
            MPI_Recv(&c, 1, MPI_CHAR, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
