/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels with sizes of their own. */
#include <mpi.h>
#include <stdlib.h>
void smooth(double *x, int n, int times);
void smooth(double *x, int n, int times)
{
    for (int t = 0; t < times; t++)
        for (int i = 1; i < n - 1; i++)
            x[i] = (x[i - 1] + x[i + 1]) / 2;
}
int main(int argc, char **argv)
{
    int rank, size, n = argc > 1 ? atoi(argv[1]) : 100;
    double *x = calloc(n, sizeof(double));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < size; i++) {
        smooth(x, n / (rank + 1), i);
        MPI_Bcast(x, n, MPI_DOUBLE, i, MPI_COMM_WORLD);
    }
    free(x);
    MPI_Finalize();
    return 0;
}
