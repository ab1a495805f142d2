/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes that a reduction adds. */
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size, mine, total, before = 0;
    double *x;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = 5 + rank;
    MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(&mine, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    x = calloc(total, sizeof(double));
    MPI_Bcast(x, total, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == size - 1 && size > 1)
        MPI_Send(x, before, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    if (rank == 0 && size > 1)
        MPI_Recv(x, total, MPI_DOUBLE, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(x);
    MPI_Finalize();
    return 0;
}
