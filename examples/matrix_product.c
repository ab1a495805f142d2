/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matrix product: distribute the work and collect the results.
 *
 *   mpicc -O2 matrix_product.c -o matrix_product && mpiexec -n 6 ./matrix_product 200
 *
 * C = A * B, with the rows of A and C shared among the ranks:
 *
 *        A            B            C
 *     [rank 0]                  [rank 0]       MPI_Scatterv   rows of A to their ranks
 *     [rank 1]  x  [ all of ] = [rank 1]       MPI_Bcast      all of B to all ranks
 *     [rank 2]     [   it   ]   [rank 2]       MPI_Gatherv    rows of C back to rank 0
 *
 * The "v" variants allow shares of different sizes: 200 is not a multiple of 6, and with more ranks
 * than rows some ranks have none.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *matrix(int rows, int columns)
{
    double *m = calloc((size_t)rows * (size_t)columns + 1, sizeof(double));

    if (m == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return m;
}

/* How many elements of the n x n matrix each rank has, and where they begin. */
static void deal(int n, int size, int *counts, int *starts)
{
    int row = 0;

    for (int r = 0; r < size; r++) {
        int rows = n / size + (r < n % size);

        counts[r] = rows * n;
        starts[r] = row * n;
        row += rows;
    }
}

static void multiply(int rows, int n, const double *a, const double *b, double *c)
{
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

/* Small whole numbers: their products and sums are exact, whatever the number of ranks. */
static void fill(int n, double *a, double *b)
{
    for (int i = 0; i < n * n; i++) {
        a[i] = i % 13 - 4;
        b[i] = i % 17 - 5;
    }
}

static void report(int n, const double *c)
{
    double trace = 0, checksum = 0;

    for (int i = 0; i < n; i++)
        trace += c[i * n + i];
    for (int i = 0; i < n * n; i++)
        checksum += c[i] * (i % 11);
    printf("%d x %d product: trace %.0f, checksum %.0f\n", n, n, trace, checksum);
}

int main(int argc, char **argv)
{
    int n, rank, size, rows;
    int *counts, *starts;
    double *a = NULL, *c = NULL, *b, *my_a, *my_c;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = argc > 1 ? atoi(argv[1]) : 200;
    counts = malloc((size_t)size * sizeof(int));
    starts = malloc((size_t)size * sizeof(int));
    if (counts == NULL || starts == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    deal(n, size, counts, starts);
    rows = counts[rank] / n;

    /* Only rank 0 has the whole of A and C; every rank has B and a few rows. */
    b = matrix(n, n);
    my_a = matrix(rows, n);
    my_c = matrix(rows, n);
    if (rank == 0) {
        a = matrix(n, n);
        c = matrix(n, n);
        fill(n, a, b);
    }

    MPI_Bcast(b, n * n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Scatterv(a, counts, starts, MPI_DOUBLE, my_a, rows * n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    multiply(rows, n, my_a, b, my_c);
    MPI_Gatherv(my_c, rows * n, MPI_DOUBLE, c, counts, starts, MPI_DOUBLE, 0, MPI_COMM_WORLD);

    if (rank == 0)
        report(n, c);
    free(a);
    free(b);
    free(c);
    free(my_a);
    free(my_c);
    free(counts);
    free(starts);
    MPI_Finalize();
    return 0;
}
