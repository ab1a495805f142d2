/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with large counts. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double data[50] = {0}, sum[50];
    MPI_Count n = 50;

    MPI_Bcast_c(data, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Allreduce_c(data, sum, n / 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Send_c(data, n - 1, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Recv_c(sum, n, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
