/* SPDX-License-Identifier: BSD-3-Clause */
/* Cyclic rows of an elimination: the owner of each pivot broadcasts what is right of it. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const int n = 25;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double **row = malloc(n * sizeof(double *)), *pivot = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++) {
        row[i] = NULL;
        if (i % size != rank)
            continue;
        row[i] = malloc(n * sizeof(double));
        for (int j = 0; j < n; j++)
            row[i][j] = i == j ? n : 1.0 / (1 + i + j);
    }
    for (int k = 0; k < n - 1; k++) {
        double *p = k % size == rank ? row[k] : pivot;

        MPI_Bcast(p + k, n - k, MPI_DOUBLE, k % size, MPI_COMM_WORLD);
        for (int i = k + 1; i < n; i++)
            if (row[i] != NULL) {
                double f = row[i][k] / p[k];
                for (int j = k; j < n; j++)
                    row[i][j] -= f * p[j];
            }
    }
    for (int i = 0; i < n; i++)
        free(row[i]);
    free(row);
    MPI_Finalize();
    return 0;
}
