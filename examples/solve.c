/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linear equations by LU on all ranks: rank 0 has the matrix, and solves with the factors.
 *
 *   mpicc -O2 solve.c -lxylem_dense -lxylem -lm -o solve && mpiexec -n 4 ./solve 512 [ALGORITHM]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <xylem_factor.h>

static double element(int i, int j)
{
    return (i * 7 + j * 13) % 11 - 5 + (i == j ? 40 : 0);
}

/* The right side whose solution is 1, 2, 3, ... */
static double right_side(int n, int i)
{
    double sum = 0;

    for (int j = 0; j < n; j++)
        sum += element(i, j) * (j + 1);
    return sum;
}

static void solve(int n, const double *lu, const int *pivots, double *x)
{
    for (int i = 0; i < n; i++) {
        double swapped = x[i];

        x[i] = x[pivots[i] - 1];
        x[pivots[i] - 1] = swapped;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            x[i] -= lu[i * n + j] * x[j];
    for (int i = n; i-- > 0;) {
        for (int j = i + 1; j < n; j++)
            x[i] -= lu[i * n + j] * x[j];
        x[i] /= lu[i * n + i];
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 200, rank, ranks, info;
    xylem_matmul_options options = {.algorithm = argc > 2 ? argv[2] : NULL};
    double *a = NULL, *x = NULL, error = 0;
    int *pivots = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) {
        a = malloc(sizeof(double) * n * n);
        x = malloc(sizeof(double) * n);
        pivots = malloc(sizeof(int) * n);
        for (int i = 0; i < n * n; i++)
            a[i] = element(i / n, i % n);
        for (int i = 0; i < n; i++)
            x[i] = right_side(n, i);
    }
    info = xylem_lu(n, a, pivots, &options, MPI_COMM_WORLD);
    if (rank == 0 && info == 0) {
        solve(n, a, pivots, x);
        for (int i = 0; i < n; i++)
            error = fmax(error, fabs(x[i] - (i + 1)));
        printf("%d equations on %d ranks: the largest error is %s 1e-9\n", n, ranks,
               error < 1e-9 ? "below" : "above");
    }
    free(a);
    free(x);
    free(pivots);
    MPI_Finalize();
    return info != 0;
}
