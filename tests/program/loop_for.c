/* SPDX-License-Identifier: BSD-3-Clause */
/* A for loop of messages with a size that grows. */
#include <mpi.h>
static char data[4096];
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int n = 1; n <= 4096; n *= 2) {
        if (rank == 0)
            MPI_Send(data, n, MPI_CHAR, size - 1, n, MPI_COMM_WORLD);
        if (rank == size - 1)
            MPI_Recv(data, n, MPI_CHAR, 0, n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
