/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel with three sizes between messages. */
#include <mpi.h>

void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                 const double *a, int lda, const double *b, int ldb, double beta, double *c,
                 int ldc);

int main(int argc, char **argv)
{
    int rank, size;
    static double a[120 * 40], b[40 * 60], c[120 * 60];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int i = 0; i < 3; i++) {
        cblas_dgemm(101, 111, 111, 120, 60 - i, 40, 1, a, 40, b, 60, 0, c, 60);
        MPI_Allreduce(MPI_IN_PLACE, c, 120 * 60, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
