/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronous, ready and standard sends of all sizes. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static char data[1 << 18];
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int n = 1; n <= 1 << 18; n *= 64) {
        if (rank == 1) {
            MPI_Irecv(data, n, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
            MPI_Recv(data, n, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (rank == 0 && size > 1) {
            MPI_Ssend(data, n, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            MPI_Rsend(data, n, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
