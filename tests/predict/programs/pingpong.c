/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks, sizes that double. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static char data[1 << 20];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int bytes = 1; bytes <= 1 << 20; bytes *= 2) {
        if (rank == 0 && size > 1) {
            MPI_Send(data, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(data, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
