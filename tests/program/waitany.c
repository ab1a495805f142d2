/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that finish in any order. */
#include <mpi.h>
static char data[64][64];
int main(int argc, char **argv)
{
    int rank, size, index;
    MPI_Request r[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        for (int i = 1; i < size; i++)
            MPI_Irecv(data[i], 64, MPI_CHAR, i, 0, MPI_COMM_WORLD, &r[i - 1]);
        for (int i = 1; i < size; i++) {
            MPI_Waitany(size - 1, r, &index, MPI_STATUS_IGNORE);
            MPI_Send(data[0], index + 1, MPI_CHAR, index + 1, 1, MPI_COMM_WORLD);
        }
    } else {
        MPI_Send(data[0], rank, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(data[0], 64, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
