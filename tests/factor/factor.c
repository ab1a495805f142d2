/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xylem_lu and xylem_cholesky: all algorithms on as many ranks as this runs with, for many sizes
 * and blocks, beside LAPACK where its library is found; without it the product of the factors
 * counts.
 *
 *   factor          all
 *   factor refuse   what cannot be factored, with 3 ranks: each time one line says why
 */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xylem_factor.h>

typedef int (*getrf_fn)(int layout, int m, int n, double *a, int lda, int *pivots);
typedef int (*potrf_fn)(int layout, char which, int n, double *a, int lda);

enum { ROWS = 101 };

static int rank, ranks, bad, checked, compared;
static getrf_fn getrf;
static potrf_fn potrf;
static uint64_t state = 4711;

static double uniform(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (double)(state * UINT64_C(0x2545f4914f6cdd1d) >> 11) * 0x1p-53;
}

static void load_lapack(void)
{
    static const char *const names[] = {"liblapacke.so.3", "liblapacke.so", NULL};
    void *library = NULL;

    for (int i = 0; names[i] != NULL && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) {
        *(void **)&getrf = dlsym(library, "LAPACKE_dgetrf");
        *(void **)&potrf = dlsym(library, "LAPACKE_dpotrf");
    }
}

static double *make(int n)
{
    double *a = calloc((size_t)n * (size_t)n + 1, sizeof(*a));

    if (a == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return a;
}

static double *copy_of(const double *a, int n)
{
    return memcpy(make(n), a, (size_t)n * (size_t)n * sizeof(*a));
}

/* Any matrix; or a positive one, with NAN above the diagonal. */
static double *fill(int n, int is_lower)
{
    double *a = make(n);

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = is_lower && j > i ? NAN : uniform() - 0.5 + (is_lower && i == j) * n;
    return a;
}

/* The largest difference of two matrices, above the diagonal only where both have numbers. */
static double difference(const double *a, const double *b, int n)
{
    double most = 0;

    for (int i = 0; i < n * n; i++)
        if (!(isnan(a[i]) && isnan(b[i])))
            most = isnan(a[i]) || isnan(b[i]) ? INFINITY : fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* The product of the factors: P A, or A. */
static double *product(const double *f, int n, int is_lower)
{
    double *a = make(n);

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            int end = i < j ? i : j;

            for (int k = 0; k <= end; k++)
                sum += is_lower ? f[i * n + k] * f[j * n + k]
                                : (k == i ? 1 : f[i * n + k]) * f[k * n + j];
            a[i * n + j] = is_lower && j > i ? NAN : sum;
        }
    return a;
}

static void swap_rows(double *a, int n, const int *pivots)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double x = a[i * n + j];

            a[i * n + j] = a[(pivots[i] - 1) * n + j];
            a[(pivots[i] - 1) * n + j] = x;
        }
}

static void complain(const char *routine, const char *algorithm, int n, int block, double error)
{
    printf("WRONG: %s by %s, n %d, blocks of %d on %d ranks: %g\n", routine, algorithm, n, block,
           ranks, error);
    bad++;
}

/* The result of LU on rank 0 beside its matrix and LAPACK's. */
static double error_of_lu(const double *before, const double *after, const int *pivots, int n)
{
    double *a = copy_of(before, n), *b = product(after, n, 0), error;

    swap_rows(a, n, pivots);
    error = difference(a, b, n);
    if (getrf != NULL) {
        int *others = malloc((size_t)n * sizeof(*others));

        memcpy(a, before, (size_t)n * (size_t)n * sizeof(*a));
        getrf(ROWS, n, n, a, n, others);
        error = fmax(error, difference(a, after, n));
        error = memcmp(others, pivots, (size_t)n * sizeof(*others)) != 0 ? INFINITY : error;
        free(others);
        compared++;
    }
    free(a);
    free(b);
    return error;
}

static double error_of_cholesky(const double *before, const double *after, int n)
{
    double *a = copy_of(before, n), *b = product(after, n, 1), error = difference(a, b, n);

    if (potrf != NULL) {
        potrf(ROWS, 'L', n, a, n);
        error = fmax(error, difference(a, after, n));
        compared++;
    }
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            error = isnan(after[i * n + j]) ? error : INFINITY;
    free(a);
    free(b);
    return error;
}

/* A result is right up to the rounding of factors that may grow. */
static void check(int n, const xylem_matmul_options *o, int is_lower)
{
    double *a = rank == 0 ? fill(n, is_lower) : NULL, *before = a != NULL ? copy_of(a, n) : NULL;
    int *pivots = rank == 0 ? malloc((size_t)n * sizeof(*pivots)) : NULL;
    int info = is_lower ? xylem_cholesky(n, a, o, MPI_COMM_WORLD)
                        : xylem_lu(n, a, pivots, o, MPI_COMM_WORLD);
    double error = 0;

    if (rank == 0)
        error = is_lower ? error_of_cholesky(before, a, n) : error_of_lu(before, a, pivots, n);
    if (info != 0 || !(error < 1e-10 * n))
        complain(is_lower ? "cholesky" : "lu", o->algorithm != NULL ? o->algorithm : "choice", n,
                 o->block, info != 0 ? info : error);
    checked++;
    free(a);
    free(before);
    free(pivots);
}

/* All sizes with all blocks in soak, else a third of the pairs. */
static void check_sizes(const char *algorithm)
{
    static const int sizes[] = {1, 2, 7, 16, 33, 50, 97};
    static const int blocks[] = {1, 2, 3, 5, 8, 11, 16, 24, 40, 97, 200, 0};
    size_t step = getenv("XYLEM_SOAK") != NULL ? 1 : 3;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (size_t k = (i + (size_t)ranks) % step; k < sizeof(blocks) / sizeof(blocks[0]);
             k += step) {
            xylem_matmul_options o = {
                .algorithm = algorithm, .block = blocks[k], .share = INFINITY};

            check(sizes[i], &o, 0);
            check(sizes[i], &o, 1);
        }
}

/* A column of zeros has no pivot, and an indefinite matrix no root; all ranks know which one. */
static void check_info(const char *algorithm)
{
    enum { N = 30, AT = 17 };
    xylem_matmul_options o = {.algorithm = algorithm, .block = 4};
    double *a = rank == 0 ? fill(N, 0) : NULL;
    int pivots[N], info;

    for (int i = 0; a != NULL && i < N; i++)
        a[i * N + AT] = 0;
    info = xylem_lu(N, a, pivots, &o, MPI_COMM_WORLD);
    if (info != AT + 1)
        complain("a singular lu", algorithm, N, 4, info);
    free(a);
    a = rank == 0 ? fill(N, 1) : NULL;
    if (a != NULL)
        a[AT * N + AT] = -1;
    info = xylem_cholesky(N, a, &o, MPI_COMM_WORLD);
    if (info != AT + 1)
        complain("an indefinite cholesky", algorithm, N, 4, info);
    free(a);
}

static void check_refused(void)
{
    const xylem_matmul_options options[] = {{.algorithm = "magic"}, {.algorithm = "grid"}};
    double one = 1;
    int pivot, refused = 0, tried = 4;

    refused += xylem_lu(0, &one, &pivot, NULL, MPI_COMM_WORLD) == -1;
    refused += xylem_cholesky(50000, &one, NULL, MPI_COMM_WORLD) == -1;
    refused += xylem_cholesky(1, NULL, NULL, MPI_COMM_WORLD) == -1;
    refused += xylem_lu(1, &one, NULL, NULL, MPI_COMM_WORLD) == -1;
    for (int i = 0; i < 2; i++, tried++)
        refused += xylem_lu(1, &one, &pivot, &options[i], MPI_COMM_WORLD) == -1;
    bad += refused != tried;
    fflush(stderr);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("refused %d of %d\n", refused, tried);
}

int main(int argc, char **argv)
{
    int all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0 && argc < 2)
        load_lapack();
    if (argc > 1)
        check_refused();
    for (int i = 0; argc < 2 && xylem_factor_algorithms[i] != NULL; i++)
        if (ranks >= 4 || strncmp(xylem_factor_algorithms[i], "grid", 4) != 0) {
            check_sizes(xylem_factor_algorithms[i]);
            check_info(xylem_factor_algorithms[i]);
        }
    if (argc < 2)
        check_sizes(NULL);
    MPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all == 0 && argc < 2)
        printf("%d right on %d ranks, %d as LAPACK\n", checked, ranks, compared);
    MPI_Finalize();
    return bad > 0;
}
