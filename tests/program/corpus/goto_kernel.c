/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame of a kernel: arguments are checked on one rank, all leave together. arguments: 3 20 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void bail_out(int error)
{
    int any;

    MPI_Allreduce(&error, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any) {
        MPI_Finalize();
        exit(1);
    }
}

int main(int argc, char **argv)
{
    int rank, size, iterations, n, error = 0, root = 0;
    double *x = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == root) {
        if (argc != 3) {
            printf("Usage: %s <iterations> <length>\n", *argv);
            error = 1;
            goto ENDOFTESTS;
        }
        iterations = atoi(*++argv);
        if (iterations < 1) {
            error = 1;
            goto ENDOFTESTS;
        }
        n = atoi(*++argv);
        if (n < size) {
            error = 1;
            goto ENDOFTESTS;
        }
    ENDOFTESTS:;
    }
    bail_out(error);
    MPI_Bcast(&n, 1, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Bcast(&iterations, 1, MPI_INT, root, MPI_COMM_WORLD);
    x = malloc(n * sizeof(double));
    if (!x)
        error = 1;
    bail_out(error);
    for (int i = 0; i < iterations; i++)
        MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    free(x);
    MPI_Finalize();
    return 0;
}
