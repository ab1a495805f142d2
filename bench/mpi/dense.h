/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by matmul.c and factor.c: instances, matrices, the plain kernel and what it takes. */
#ifndef BENCH_MPI_DENSE_H
#define BENCH_MPI_DENSE_H

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <xylem_matmul.h>

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

/* Seconds of a multiplication and addition in blocks of so many rows, the least of some turns. As
 * the library calls the kernel: a compiler that sees the number of rows makes other code of it. */
static double time_block(xylem_matmul_kernel kernel, void *arg, int rows, int width, int depth,
                         int turns)
{
    const volatile xylem_matmul_kernel called = kernel;
    double *a = make((size_t)rows * (size_t)depth), *b = make((size_t)depth * (size_t)width);
    double *c = make((size_t)rows * (size_t)width), least = INFINITY;
    int times = 1 + (1 << 14) / (width * depth);

    for (int turn = 0; turn < turns; turn++) {
        double start = MPI_Wtime();

        for (int i = 0; i < times; i++)
            called(rows, width, depth, a, depth, b, width, c, width, arg);
        least = fmin(least, MPI_Wtime() - start);
    }
    free(a);
    free(b);
    free(c);
    return least / times / rows / width / depth;
}

/* Seconds to add two elements of matrices with so many rows and columns, likewise. */
static double time_sum(int side)
{
    size_t count = (size_t)side * (size_t)side;
    double *a = make(count), *c = make(count), least = INFINITY;

    for (int turn = 0; turn < 40; turn++) {
        double start = MPI_Wtime();

        for (size_t i = 0; i < count; i++)
            c[i] += (turn % 2 == 0 ? 1 : -1) * a[i];
        least = fmin(least, MPI_Wtime() - start);
    }
    if (c[1] == 0.5) /* never true: the sums are computed */
        MPI_Abort(MPI_COMM_WORLD, 1);
    free(a);
    free(c);
    return least / (double)count;
}

#endif
