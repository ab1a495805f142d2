/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LU or Cholesky by all algorithms on the cores that are here, and which one is chosen before:
 *
 *   DENSE_ROUTINE=lu mpiexec -n P factor SEED INSTANCES REPETITIONS LEAST MOST
 *
 * Ranks share cores as mpiexec places them. The chooser knows the machine and how fast the kernel
 * multiplies blocks of some depths and adds matrices, which rank 0 measures before. All algorithms
 * of an instance run one after the other, in turns. Lines as those of matmul.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xylem_factor.h>

#include "dense.h"

enum { ALGORITHMS = 4, ROWS = 64, DEPTHS = 4, WIDTHS = 4, TURNS = 15 };

static const char *routine;
static int rank, ranks;

static void kernel(int m, int n, int k, const double *a, int lda, const double *b, int ldb,
                   double *c, int ldc, void *arg)
{
    (void)arg;
    multiply(m, n, k, a, lda, b, ldb, c, ldc);
}

/* ---- What the kernel takes: for some depths and widths ---- */

static const double depths[DEPTHS] = {2, 8, 32, 128}, widths[WIDTHS] = {8, 32, 128, 512};
static double per_step[DEPTHS][WIDTHS];
static double sum; /* of two elements */

/* The place of x between the points, as a number of points. */
static double place(const double *points, int count, double x)
{
    double at = log(fmax(x, 1) / points[0]) / log(points[1] / points[0]);

    return fmin(fmax(at, 0), count - 1.001);
}

static double seconds_of(int m, int n, int k, int of, void *arg)
{
    double d = place(depths, DEPTHS, k), w = place(widths, WIDTHS, n), s = d - (int)d,
           t = w - (int)w;
    const double *low = &per_step[(int)d][(int)w], *high = &per_step[(int)d + 1][(int)w];

    (void)of, (void)arg;
    return (double)m * n * k *
           ((1 - s) * ((1 - t) * low[0] + t * low[1]) + s * ((1 - t) * high[0] + t * high[1]));
}

/* ---- Instances ---- */

static void fill(double *a, int n)
{
    for (int i = 0; i < n * n; i++)
        a[i] = uniform() - 0.5;
    for (int i = 0; i < n && strcmp(routine, "cholesky") == 0; i++)
        a[i * n + i] += n;
}

/* The seconds of an algorithm, from a common start to the end of the last rank. */
static double measure(const char *algorithm, const double *from, double *a, int *pivots, int n)
{
    xylem_matmul_options o = {.algorithm = algorithm, .kernel = kernel};
    double start, took;

    if (rank == 0)
        memcpy(a, from, (size_t)n * (size_t)n * sizeof(*a));
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    if ((strcmp(routine, "lu") == 0 ? xylem_lu(n, a, pivots, &o, MPI_COMM_WORLD)
                                    : xylem_cholesky(n, a, &o, MPI_COMM_WORLD)) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    took = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return took;
}

static void run_instance(int n, int repetitions)
{
    size_t count = rank == 0 ? (size_t)n * (size_t)n : 0;
    double *from = make(count), *a = make(count), least[ALGORITHMS];
    int *pivots = malloc(((size_t)n + 1) * sizeof(*pivots));
    xylem_matmul_options o = {
        .kernel = kernel, .seconds = seconds_of, .sum = sum, .costs = getenv("MATMUL_COSTS")};
    const char *chosen = rank == 0 ? xylem_factor_best(routine, n, ranks, &o, NULL) : "";

    if (rank == 0)
        fill(from, n);
    for (int i = 0; i < ALGORITHMS; i++)
        least[i] = INFINITY;
    for (int turn = 0; turn < repetitions; turn++)
        for (int i = 0; i < ALGORITHMS; i++)
            if (ranks >= 4 || strncmp(xylem_factor_algorithms[i], "grid", 4) != 0)
                least[i] = fmin(least[i], measure(xylem_factor_algorithms[i], from, a, pivots, n));
    for (int i = 0; i < ALGORITHMS && rank == 0; i++)
        if (isfinite(least[i]))
            printf("%d,%d,%s,%g,%g,%d\n", n, ranks, xylem_factor_algorithms[i],
                   xylem_factor_seconds(routine, xylem_factor_algorithms[i], n, ranks, &o),
                   least[i], strcmp(chosen, xylem_factor_algorithms[i]) == 0);
    free(from);
    free(a);
    free(pivots);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    routine = getenv("DENSE_ROUTINE");
    if (argc < 6 || routine == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
    state = strtoull(argv[1], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)ranks;
    if (rank == 0)
        sum = time_sum(atoi(argv[5]));
    for (int d = 0; d < DEPTHS && rank == 0; d++)
        for (int w = 0; w < WIDTHS; w++)
            per_step[d][w] = time_block(kernel, NULL, ROWS, (int)widths[w], (int)depths[d], TURNS);
    for (int i = 0; i < atoi(argv[2]); i++) {
        double least = strtod(argv[4], NULL), most = strtod(argv[5], NULL);
        int n = (int)(least * pow(most / least, uniform()));

        MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
        run_instance(n, atoi(argv[3]));
    }
    MPI_Finalize();
    return 0;
}
