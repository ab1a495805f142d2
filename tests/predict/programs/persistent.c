/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent requests. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static double data[2][600];
    MPI_Request requests[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    MPI_Send_init(data[0], 600, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(data[1], 600, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                  &requests[1]);
    for (int i = 0; i < 4; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Finalize();
    return 0;
}
