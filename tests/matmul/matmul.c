/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xylem_matmul: every algorithm, on as many ranks as this runs with, in many shapes and with ranks
 * of different speeds, against the product by definition. Elements are small whole numbers: sums
 * are exact, in any order.
 *
 *   matmul          all
 *   matmul refuse   what cannot be computed, with 4 ranks: each time one line says why; and what
 *                   is not predicted
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xylem_matmul.h>

static int rank, ranks, bad;

static double element(int i, int j, int of)
{
    return (i * 7 + j * 13 + of * 5) % 11 - 5;
}

static double *fill(int rows, int columns, int of)
{
    double *x = malloc(((size_t)rows * (size_t)columns + 1) * sizeof(*x));

    if (x == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            x[i * columns + j] = element(i, j, of);
    return x;
}

static int is_right(int m, int n, int k, const double *c)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;

            for (int l = 0; l < k; l++)
                sum += element(i, l, 1) * element(l, j, 2);
            if (sum != c[i * n + j])
                return 0;
        }
    return 1;
}

static int check(int m, int n, int k, const xylem_matmul_options *o)
{
    double *a = rank == 0 ? fill(m, k, 1) : NULL, *b = rank == 0 ? fill(k, n, 2) : NULL;
    double *c = rank == 0 ? fill(m, n, 3) : NULL; /* the old contents do not count */
    int failed = xylem_matmul(m, n, k, a, b, c, o, MPI_COMM_WORLD);

    if (failed == 0 && rank == 0 && !is_right(m, n, k, c)) {
        printf("WRONG: %s, %d x %d x %d on %d ranks\n",
               o->algorithm != NULL ? o->algorithm : "chosen", m, n, k, ranks);
        bad++;
    }
    free(a);
    free(b);
    free(c);
    return failed;
}

static void check_shapes(const char *algorithm, const double *speeds)
{
    static const int shapes[][4] = {{1, 1, 1, 0},    {5, 7, 3, 2},    {16, 16, 16, 4},
                                    {33, 20, 50, 7}, {2, 60, 1, 128}, {60, 2, 9, 1},
                                    {64, 31, 40, 16}};

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        xylem_matmul_options o = {
            .algorithm = algorithm, .speeds = speeds, .block = shapes[i][3], .share = INFINITY};

        if (check(shapes[i][0], shapes[i][1], shapes[i][2], &o) != 0)
            bad++;
    }
}

/* The time of a kernel is predicted by the size of blocks: all blocks of B lie in one piece. */
static void dense_kernel(int m, int n, int k, const double *a, int lda, const double *b, int ldb,
                         double *c, int ldc, void *arg)
{
    *(int *)arg += ldb != n;
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++)
            for (int j = 0; j < n; j++)
                c[i * ldc + j] += a[i * lda + l] * b[l * ldb + j];
}

static void check_blocks(const char *algorithm, const double *speeds)
{
    int strided = 0;
    xylem_matmul_options o = {.algorithm = algorithm,
                              .speeds = speeds,
                              .block = 16,
                              .kernel = dense_kernel,
                              .arg = &strided,
                              .share = INFINITY};

    bad += check(64, 31, 40, &o) != 0;
    if (strided > 0) {
        printf("WRONG: %s, rank %d of %d: %d blocks of B are not dense\n", algorithm, rank, ranks,
               strided);
        bad++;
    }
}

/* A product that would wait for its prediction is not predicted, so its time is not stored; one
 * that is predicted is. */
static void check_share(void)
{
    const char *history = getenv("XYLEM_HISTORY");
    double one = 1;

    for (int predicts = 0; predicts < 2; predicts++) {
        xylem_matmul_options o = {.learns = 1, .share = predicts ? INFINITY : 1e-12};
        FILE *file;

        if (rank == 0 && !predicts)
            remove(history);
        bad += xylem_matmul(1, 1, 1, &one, &one, &one, &o, MPI_COMM_WORLD) != 0;
        file = rank == 0 ? fopen(history, "r") : NULL;
        if (rank == 0 && (file != NULL) != predicts) {
            printf("WRONG: %s\n", predicts ? "nothing was stored" : "it was predicted");
            bad++;
        }
        if (file != NULL)
            fclose(file);
    }
}

static void note_depth(int m, int n, int k, const double *a, int lda, const double *b, int ldb,
                       double *c, int ldc, void *arg)
{
    (void)m, (void)n, (void)a, (void)lda, (void)b, (void)ldb, (void)c, (void)ldc;
    *(int *)arg = k;
}

/* Without a prediction, products whose parts take less than some messages are for strassen-cannon,
 * which halves them. */
static void check_guess(void)
{
    static const double latency[] = {1, 1e-9};
    double one[64] = {0};

    for (int i = 0; i < 2; i++) {
        int depth = 0;
        xylem_matmul_options o = {
            .share = 1e-12, .latency = latency[i], .kernel = note_depth, .arg = &depth};

        bad += xylem_matmul(8, 8, 8, one, one, one, &o, MPI_COMM_WORLD) != 0;
        if (rank == 0 && (depth == 8) != (i == 1)) {
            printf("WRONG: with messages of %g s the kernel has a depth of %d\n", latency[i],
                   depth);
            bad++;
        }
    }
}

/* Every one is refused on all ranks. */
static void check_refused(void)
{
    static const int sizes[][3] = {{0, 5, 5}, {5, -1, 5}, {65536, 65536, 1}};
    const double idle[] = {1e9, 0, 1e9, 1e9};
    const xylem_matmul_options options[] = {
        {.algorithm = "magic"},     {.algorithm = "strassen-cannon"}, {.speeds = idle},
        {.costs = "/no/costs.xml"}, {.machine = "no-such-machine"},
    };
    double one = 1;
    int refused = 0, tried = 0;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++, tried++)
        refused += xylem_matmul(sizes[i][0], sizes[i][1], sizes[i][2], &one, &one, &one, NULL,
                                MPI_COMM_WORLD) != 0;
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++, tried++)
        refused += xylem_matmul(1, 1, 1, &one, &one, &one, &options[i], MPI_COMM_WORLD) != 0;
    for (int i = 0; i < 3; i++, tried++)
        refused += xylem_matmul(1, 1, 1, i == 0 ? NULL : &one, i == 1 ? NULL : &one,
                                i == 2 ? NULL : &one, NULL, MPI_COMM_WORLD) != 0;
    bad += refused != tried;
    fflush(stderr);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("refused %d of %d\n", refused, tried);
}

int main(int argc, char **argv)
{
    double *speeds;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    speeds = malloc((size_t)ranks * sizeof(*speeds));
    for (int i = 0; i < ranks; i++)
        speeds[i] = 1e9 * (1 + i * 5 % 7);
    if (argc > 1) {
        check_share();
        check_refused();
    } else {
        for (int i = 0; xylem_matmul_algorithms[i] != NULL; i++) {
            const char *name = xylem_matmul_algorithms[i];

            if (strcmp(name, "strassen-cannon") == 0 && ranks < 7)
                continue;
            check_shapes(name, NULL);
            check_shapes(name, speeds);
            check_blocks(name, speeds);
        }
        check_shapes(NULL, speeds);
        check_shapes(NULL, NULL);
        if (ranks >= 7)
            check_guess();
        if (rank == 0 && bad == 0)
            printf("right on %d ranks\n", ranks);
    }
    free(speeds);
    MPI_Finalize();
    return bad > 0;
}
