/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronous and buffered sends. */
#include <mpi.h>
static char data[300], space[4096 + MPI_BSEND_OVERHEAD];
int main(int argc, char **argv)
{
    int rank, size, bytes;
    void *back;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Buffer_attach(space, sizeof(space));
    if (rank % 2 == 0 && rank + 1 < size) {
        MPI_Ssend(data, 300, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
        MPI_Bsend(data, 200, MPI_CHAR, rank + 1, 1, MPI_COMM_WORLD);
    } else if (rank % 2 == 1) {
        MPI_Recv(data, 300, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, 300, MPI_CHAR, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Buffer_detach(&back, &bytes);
    MPI_Finalize();
    return 0;
}
