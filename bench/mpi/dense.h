/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by matmul.c and factor.c: instances, matrices and the plain kernel. */
#ifndef BENCH_MPI_DENSE_H
#define BENCH_MPI_DENSE_H

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

static uint64_t state; /* of uniform() */

static double uniform(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (double)(state * UINT64_C(0x2545f4914f6cdd1d) >> 11) * 0x1p-53;
}

static double *make(size_t count)
{
    double *x = malloc((count + 1) * sizeof(*x));

    if (x == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < count; i++)
        x[i] = (double)(i % 13) - 6;
    return x;
}

static void multiply(int m, int n, int k, const double *a, int lda, const double *b, int ldb,
                     double *restrict c, int ldc)
{
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++)
            for (int j = 0; j < n; j++)
                c[i * ldc + j] += a[i * lda + l] * b[l * ldb + j];
}

#endif
