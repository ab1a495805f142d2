/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choices beside what all algorithms take, on a machine that is simulated:
 *
 *   mpiexec --virtual MACHINE --compute none -n P matmul_virtual LATENCY BANDWIDTH INSTANCES [LOSS]
 *
 * Each instance has a size and, every second one, ranks of different speeds. The kernel computes
 * nothing and takes its virtual time. Printed are, for each instance, what was chosen, what was the
 * best and their times; at the end how often they agree and the mean loss. LOSS: fail beyond this
 * mean.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xylem_matmul.h>
#include <xylem_mpi.h>

static uint64_t state = 20240229;

static int below(int n)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (int)((state * UINT64_C(0x2545f4914f6cdd1d) >> 33) % (uint64_t)n);
}

static void kernel(int m, int n, int k, const double *a, int lda, const double *b, int ldb,
                   double *c, int ldc, void *arg)
{
    (void)a, (void)lda, (void)b, (void)ldb, (void)c, (void)ldc;
    xylem_compute(2.0 * m * n * k / *(const double *)arg);
}

typedef struct {
    int n, rank, ranks;
    double *a, *b, *c;
} instance_t;

static double measure(const instance_t *x, const xylem_matmul_options *o)
{
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    if (xylem_matmul(x->n, x->n, x->n, x->a, x->b, x->c, o, MPI_COMM_WORLD) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - start;
}

/* All algorithms: the one of the least predicted and the one of the least measured time. */
static double compare(const instance_t *x, xylem_matmul_options o, int *is_same_p)
{
    const char *best = "", *chosen = "";
    double least = 0, predicted = 0, of_chosen = 0;

    for (int i = 0; xylem_matmul_algorithms[i] != NULL; i++) {
        double expected, took;

        o.algorithm = xylem_matmul_algorithms[i];
        expected = xylem_matmul_seconds(o.algorithm, x->n, x->n, x->n, x->ranks, &o);
        if (expected <= 0)
            continue;
        took = measure(x, &o);
        if (x->rank == 0 && getenv("MATMUL_ALL") != NULL)
            printf("  %s: %.3g s predicted, %.3g s\n", o.algorithm, expected, took);
        if (least == 0 || took < least) {
            least = took;
            best = o.algorithm;
        }
        if (predicted == 0 || expected < predicted) {
            predicted = expected;
            chosen = o.algorithm;
            of_chosen = took;
        }
    }
    *is_same_p = chosen == best;
    if (x->rank == 0)
        printf("n %d: %s %.4g s, the best is %s %.4g s\n", x->n, chosen, of_chosen, best, least);
    return of_chosen / least - 1;
}

static double run_instance(instance_t *x, xylem_matmul_options *o, double *speeds, int i,
                           int *is_same_p)
{
    size_t bytes;
    double loss;

    x->n = 50 << below(5);
    x->n += below(x->n);
    bytes = (size_t)x->n * (size_t)x->n * sizeof(double);
    for (int r = 0; r < x->ranks; r++)
        speeds[r] = 1e9 * (i % 2 == 0 ? 4 : 1 + below(8));
    x->a = x->b = x->c = NULL;
    if (x->rank == 0) {
        x->a = calloc(1, bytes);
        x->b = calloc(1, bytes);
        x->c = calloc(1, bytes);
    }
    o->arg = &speeds[x->rank];
    loss = compare(x, *o, is_same_p);
    free(x->a);
    free(x->b);
    free(x->c);
    return loss;
}

int main(int argc, char **argv)
{
    instance_t x = {0};
    int instances, same = 0;
    double *speeds, loss = 0;
    xylem_matmul_options o = {.kernel = kernel, .sum = -1}; /* sums take no virtual time */

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &x.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &x.ranks);
    if (argc < 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    speeds = calloc((size_t)x.ranks, sizeof(*speeds));
    o.speeds = speeds;
    o.latency = strtod(argv[1], NULL);
    o.bandwidth = strtod(argv[2], NULL);
    instances = (int)strtol(argv[3], NULL, 10);
    for (int i = 0; i < instances; i++) {
        int is_same;

        loss += run_instance(&x, &o, speeds, i, &is_same);
        same += is_same;
    }
    if (x.rank == 0)
        printf("%d ranks: %d of %d are the best, mean loss %.2f %%\n", x.ranks, same, instances,
               100 * loss / instances);
    free(speeds);
    MPI_Finalize();
    return argc > 4 && 100 * loss / instances > strtod(argv[4], NULL);
}
