/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking collectives that overlap with messages. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static double data[3000], sum[3000];
    MPI_Request requests[2];
    int x = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int i = 0; i < 3; i++) {
        MPI_Iallreduce(data, sum, 3000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
        MPI_Ibcast(&x, 1, MPI_INT, i % size, MPI_COMM_WORLD, &requests[1]);
        MPI_Sendrecv_replace(data, 10, MPI_DOUBLE, (rank + 1) % size, 0, (rank + size - 1) % size,
                             0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
