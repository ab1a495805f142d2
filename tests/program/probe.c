/* SPDX-License-Identifier: BSD-3-Clause */
/* A size that is asked before it is received. */
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size, count;
    MPI_Status status;
    double *x;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == size - 1) {
        for (int i = 0; i < size - 1; i++) {
            MPI_Probe(i, 0, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_DOUBLE, &count);
            x = calloc(count, sizeof(double));
            MPI_Recv(x, count, MPI_DOUBLE, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(x, count / 2, MPI_DOUBLE, i, 1, MPI_COMM_WORLD);
            free(x);
        }
    } else {
        x = calloc(100, sizeof(double));
        MPI_Send(x, 10 + 10 * (rank % 9), MPI_DOUBLE, size - 1, 0, MPI_COMM_WORLD);
        MPI_Recv(x, 100, MPI_DOUBLE, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        free(x);
    }
    MPI_Finalize();
    return 0;
}
