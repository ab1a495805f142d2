/* SPDX-License-Identifier: BSD-3-Clause */
/* A problem size that rank 0 reads and sends to the others. */
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size, setup[2] = {0, 0};
    double *x;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        setup[0] = argc > 1 ? atoi(argv[1]) : 40;
        setup[1] = 3;
    }
    MPI_Bcast(setup, 2, MPI_INT, 0, MPI_COMM_WORLD);
    x = calloc(setup[0] * size, sizeof(double));
    for (int i = 0; i < setup[1]; i++)
        MPI_Gather(rank == 0 ? MPI_IN_PLACE : (void *)x, setup[0], MPI_DOUBLE, x, setup[0],
                   MPI_DOUBLE, 0, MPI_COMM_WORLD);
    free(x);
    MPI_Finalize();
    return 0;
}
