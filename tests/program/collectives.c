/* SPDX-License-Identifier: BSD-3-Clause */
/* Rooted and unrooted collectives of many sizes. */
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size;
    double *a, *b;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    a = calloc(64 * size, sizeof(double));
    b = calloc(64 * size, sizeof(double));
    for (int n = 1; n <= 64; n *= 4) {
        MPI_Allgather(a, n, MPI_DOUBLE, b, n, MPI_DOUBLE, MPI_COMM_WORLD);
        MPI_Alltoall(a, n, MPI_DOUBLE, b, n, MPI_DOUBLE, MPI_COMM_WORLD);
        MPI_Scatter(a, n, MPI_DOUBLE, b, n, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
        MPI_Reduce(a, b, n, MPI_DOUBLE, MPI_SUM, n % size, MPI_COMM_WORLD);
        MPI_Allreduce(a, b, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
