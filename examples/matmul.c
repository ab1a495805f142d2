/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A matrix product by the algorithm that is the fastest here.
 *
 *   mpicc -O2 matmul.c -lxylem_dense -lxylem -lm -o matmul && mpiexec -n 7 ./matmul 512
 *   mpiexec -n 7 ./matmul 512 strassen-cannon         by this one
 *   mpiexec -n 4 ./matmul 512 '' 1 1 1 3              rank 3 is three times as fast
 *
 * Ranks of different speeds are acted: a rank of speed 1 beside one of speed 3 computes each of its
 * products three times. With -DUSE_CBLAS and -lopenblas the products are those of a BLAS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <xylem_matmul.h>
#ifdef USE_CBLAS
#include <cblas.h>
#endif

enum { RANKS_MAX = 1024 };

/* C += A * B */
static void multiply(int m, int n, int k, const double *a, int lda, const double *b, int ldb,
                     double *c, int ldc)
{
#ifdef USE_CBLAS
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, lda, b, ldb, 1, c, ldc);
#else
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++)
            for (int j = 0; j < n; j++)
                c[i * ldc + j] += a[i * lda + l] * b[l * ldb + j];
#endif
}

/* A slow rank does the same again and again, into memory that does not count. */
static void kernel(int m, int n, int k, const double *a, int lda, const double *b, int ldb,
                   double *c, int ldc, void *arg)
{
    int again = *(const int *)arg;
    double *scratch = again > 0 ? calloc((size_t)m * (size_t)n, sizeof(double)) : NULL;

    for (int i = 0; i < again && scratch != NULL; i++)
        multiply(m, n, k, a, lda, b, ldb, scratch, n);
    free(scratch);
    multiply(m, n, k, a, lda, b, ldb, c, ldc);
}

static double *fill(int n, int start)
{
    double *x = malloc((size_t)n * (size_t)n * sizeof(double));

    if (x == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < n * n; i++)
        x[i] = (i + start) % 13 - 6;
    return x;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 256, rank, ranks, again, failed;
    double speeds[RANKS_MAX], most = 0, start, trace = 0, *a = NULL, *b = NULL, *c = NULL;
    xylem_matmul_options how = {.speeds = speeds, .kernel = kernel, .arg = &again};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    how.algorithm = argc > 2 && argv[2][0] != '\0' ? argv[2] : NULL;
    for (int i = 0; i < ranks && i < RANKS_MAX; i++) {
        speeds[i] = 1e9 * (argc > 3 + i ? atof(argv[3 + i]) : 1);
        most = speeds[i] > most ? speeds[i] : most;
    }
    again = (int)(most / speeds[rank] + 0.5) - 1;
    if (rank == 0 && n > 0) {
        a = fill(n, 0);
        b = fill(n, 5);
        c = fill(n, 0);
    }
    start = MPI_Wtime();
    failed = xylem_matmul(n, n, n, a, b, c, &how, MPI_COMM_WORLD);
    if (rank == 0 && !failed) {
        for (int i = 0; i < n; i++)
            trace += c[i * n + i];
        printf("%d x %d product on %d ranks: trace %.0f\n", n, n, ranks, trace);
        fprintf(stderr, "%.3f s\n", MPI_Wtime() - start);
    }
    free(a);
    free(b);
    free(c);
    MPI_Finalize();
    return failed;
}
