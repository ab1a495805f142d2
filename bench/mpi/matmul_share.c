/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of delaying predictions until products have taken long enough (the option `share`):
 *
 *   mpiexec --virtual MACHINE --compute none -n P matmul_share MACHINE [N...]
 *
 * For each size, series of products of that size alone, in virtual time, which is exact: all by
 * `share`, as xylem_matmul() does without options, beside as many that know the best from the
 * beginning; ranks are all alike, and then every second one is a quarter as fast. Printed is what
 * the first, the first ten and the first hundred lose, in percent.
 */
#include <stdio.h>
#include <stdlib.h>
#include <xylem_matmul.h>
#include <xylem_mpi.h>

enum { SERIES = 100 };

static void kernel(int m, int n, int k, const double *a, int lda, const double *b, int ldb,
                   double *c, int ldc, void *arg)
{
    (void)a, (void)lda, (void)b, (void)ldb, (void)c, (void)ldc;
    xylem_compute(2.0 * m * n * k / *(const double *)arg); /* the speed of this rank */
}

/* The products from the first to the last of these numbers. */
static double run(int n, int first, int last, const double *in, double *out,
                  const xylem_matmul_options *o)
{
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int i = first; i < last; i++)
        if (xylem_matmul(n, n, n, in, in, out, o, MPI_COMM_WORLD) != 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - start;
}

static void series(int n, int rank, int ranks, double slower, const char *machine)
{
    double *speeds = malloc((size_t)ranks * sizeof(*speeds));
    double *in = rank == 0 ? calloc((size_t)n * (size_t)n, sizeof(*in)) : NULL;
    double *out = rank == 0 ? calloc((size_t)n * (size_t)n, sizeof(*out)) : NULL;
    xylem_matmul_options o = {.kernel = kernel,
                              .sum = -1,
                              .speeds = speeds,
                              .machine = machine,
                              .costs = "",
                              .arg = &speeds[rank]};
    xylem_matmul_options knows = o;
    static const int ends[] = {1, 10, SERIES};
    double took = 0, least = 0;
    char name[32] = "";
    const char *best;

    for (int r = 0; r < ranks; r++)
        speeds[r] = r % 2 == 0 ? 4e9 : 4e9 / slower;
    best = rank == 0 ? xylem_matmul_best(n, n, n, ranks, &o, NULL) : NULL;
    if (rank == 0)
        snprintf(name, sizeof(name), "%s", best != NULL ? best : "");
    MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
    knows.algorithm = name;
    for (int i = 0; i < 3; i++) {
        int first = i > 0 ? ends[i - 1] : 0;

        took += run(n, first, ends[i], in, out, &o);
        least += run(n, first, ends[i], in, out, &knows);
        if (rank == 0)
            printf("%s%.2f", i > 0 ? "," : "", 100 * (took / least - 1));
    }
    if (rank == 0)
        printf(",%d,%d,%g,%s\n", n, ranks, slower, name);
    free(speeds);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    static const int usual[] = {50, 100, 200, 400, 800};
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0)
        puts("first,ten,hundred,n,ranks,slower,best");
    if (argc < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int slower = 1; slower <= 4; slower += 3) {
        for (int i = 2; i < argc; i++)
            series((int)strtol(argv[i], NULL, 10), rank, ranks, slower, argv[1]);
        for (int i = 0; argc == 2 && i < 5; i++)
            series(usual[i], rank, ranks, slower, argv[1]);
    }
    MPI_Finalize();
    return 0;
}
