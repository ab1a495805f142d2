/* SPDX-License-Identifier: BSD-3-Clause */
/* The size comes from a file: it is asked for. expect: asked */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, n = 10;
    FILE *f;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        f = fopen("input.txt", "r");
        if (f) {
            if (fscanf(f, "%d", &n) != 1)
                n = 10;
            fclose(f);
        }
    }
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    double *x = malloc(n * sizeof(double));
    MPI_Bcast(x, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    free(x);
    MPI_Finalize();
    return 0;
}
