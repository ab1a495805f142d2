/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choices beside what all algorithms take, on a machine that is simulated:
 *
 *   mpiexec --virtual MACHINE --compute none -n P matmul_virtual MACHINE INSTANCES SEED [LEAST
 * MOST]
 *
 * Each instance has a size from LEAST to MOST (50 to 1600) and, every second one, ranks of
 * different speeds. The kernel computes nothing and takes its virtual time. A line for each
 * algorithm has what it was predicted to take and what it took, the time from a common start to the
 * end of rank 0; a line for each instance what was chosen, what was the best, their times, and the
 * processor time of the predictions as a part of the run. MATMUL_LOSS, MATMUL_ERROR and
 * MATMUL_PREDICTED: fail where the mean loss, the error of a simulation or that of a prediction
 * exceeds so many percent. DENSE_ROUTINE is "lu" or "cholesky" for these instead of a product.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <xylem_factor.h>
#include <xylem_mpi.h>

static uint64_t state;

static double uniform(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (double)(state * UINT64_C(0x2545f4914f6cdd1d) >> 11) * 0x1p-53;
}

static void kernel(int m, int n, int k, const double *a, int lda, const double *b, int ldb,
                   double *c, int ldc, void *arg)
{
    (void)a, (void)lda, (void)b, (void)ldb, (void)c, (void)ldc;
    xylem_compute(2.0 * m * n * k / *(const double *)arg);
}

/* The loops of factorisations, as predictions charge them. */
static void worked(double operations, void *arg)
{
    xylem_compute(operations / fmin(*(const double *)arg, 2e9));
}

typedef struct {
    int n, rank, ranks;
    double *a, *b, *c;
    int *pivots;
    double worst, predicted; /* the largest error of a simulation, of a prediction */
} instance_t;

/* ---- The routine ---- */

static const char *routine; /* NULL: the product */

static const char *const *names(void)
{
    return routine != NULL ? xylem_factor_algorithms : xylem_matmul_algorithms;
}

static double seconds_of(const instance_t *x, const xylem_matmul_options *o)
{
    return routine != NULL ? xylem_factor_seconds(routine, o->algorithm, x->n, x->ranks, o)
                           : xylem_matmul_seconds(o->algorithm, x->n, x->n, x->n, x->ranks, o);
}

static double simulated_of(const instance_t *x, const xylem_matmul_options *o)
{
    return routine != NULL ? xylem_factor_simulated(routine, o->algorithm, x->n, x->ranks, o)
                           : xylem_matmul_simulated(o->algorithm, x->n, x->n, x->n, x->ranks, o);
}

static const char *best_of(const instance_t *x, const xylem_matmul_options *o)
{
    return routine != NULL ? xylem_factor_best(routine, x->n, x->ranks, o, NULL)
                           : xylem_matmul_best(x->n, x->n, x->n, x->ranks, o, NULL);
}

/* Any number below 1: not of the series of instances, which is the same on all ranks. */
static double element(int i, int j)
{
    return fmod(sin(i * 12.9898 + j * 78.233) * 43758.5453, 1);
}

/* A factorisation begins with a matrix that has pivots, and a root, even where the kernel computes
 * nothing. */
static int run_routine(const instance_t *x, const xylem_matmul_options *o)
{
    if (routine == NULL)
        return xylem_matmul(x->n, x->n, x->n, x->a, x->b, x->c, o, MPI_COMM_WORLD);
    for (int i = 0; x->rank == 0 && i < x->n; i++)
        for (int j = 0; j < x->n; j++)
            x->a[(size_t)i * (size_t)x->n + (size_t)j] =
                element(i, j) + (strcmp(routine, "lu") != 0 && i == j) * x->n;
    return strcmp(routine, "lu") == 0 ? xylem_lu(x->n, x->a, x->pivots, o, MPI_COMM_WORLD)
                                      : xylem_cholesky(x->n, x->a, o, MPI_COMM_WORLD);
}

/* Of this processor, not of the machine that is simulated. */
static double own_seconds(void)
{
    struct timespec t;

    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All ranks begin at one instant of the virtual clock. */
static double start_together(void)
{
    double now, start;

    now = MPI_Wtime();
    MPI_Allreduce(&now, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    start += 1;
    xylem_compute(start - MPI_Wtime());
    return MPI_Wtime();
}

static double measure(const instance_t *x, const xylem_matmul_options *o)
{
    double start = start_together(), seconds;

    if (run_routine(x, o) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    seconds = MPI_Wtime() - start;
    MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return seconds;
}

static void check_simulation(instance_t *x, const xylem_matmul_options *o, double took)
{
    double simulated;

    if (x->rank != 0 || getenv("MATMUL_ERROR") == NULL)
        return;
    simulated = simulated_of(x, o);
    x->worst = fmax(x->worst, fabs(simulated / took - 1));
}

/* The number of the algorithm that is chosen, on all ranks; what that takes. */
static int choose(const instance_t *x, const xylem_matmul_options *o, double *spent_p)
{
    double start = own_seconds();
    const char *name = x->rank == 0 ? best_of(x, o) : NULL;
    int chosen = 0;

    *spent_p = own_seconds() - start;
    if (x->rank == 0 && name == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    while (x->rank == 0 && strcmp(names()[chosen], name) != 0)
        chosen++;
    MPI_Bcast(&chosen, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return chosen;
}

/* All algorithms: the one that is chosen and the one of the least measured time. */
static double compare(instance_t *x, xylem_matmul_options o, int *is_same_p)
{
    double least = INFINITY, of_chosen = 0, spent;
    int best = -1, chosen = choose(x, &o, &spent);

    for (int i = 0; names()[i] != NULL; i++) {
        double expected = 0, took;

        o.algorithm = names()[i];
        if (x->rank == 0)
            expected = seconds_of(x, &o);
        MPI_Bcast(&expected, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (expected <= 0)
            continue;
        took = measure(x, &o);
        if (x->rank == 0)
            printf("  %s: %.4g s predicted, %.4g s\n", o.algorithm, expected, took);
        check_simulation(x, &o, took);
        x->predicted = fmax(x->predicted, fabs(expected / took - 1));
        if (took < least) {
            least = took;
            best = i;
        }
        if (i == chosen)
            of_chosen = took;
    }
    *is_same_p = chosen == best;
    if (x->rank == 0)
        printf("n %d: %s %.6g s, the best is %s %.6g s; predicted in %.3g %%\n", x->n,
               names()[chosen], of_chosen, names()[best], least, 100 * spent / least);
    return of_chosen / least - 1;
}

static double run_instance(instance_t *x, xylem_matmul_options *o, double *speeds, int i,
                           int *is_same_p)
{
    size_t bytes = (size_t)x->n * (size_t)x->n * sizeof(double);
    double loss;

    for (int r = 0; r < x->ranks; r++)
        speeds[r] = 1e9 * (i % 2 == 0 ? 4 : floor(1 + 8 * uniform()));
    x->a = x->b = x->c = NULL;
    x->pivots = NULL;
    if (x->rank == 0) {
        x->a = calloc(1, bytes);
        x->b = calloc(1, bytes);
        x->c = calloc(1, bytes);
        x->pivots = calloc((size_t)x->n, sizeof(*x->pivots));
    }
    o->arg = &speeds[x->rank];
    loss = compare(x, *o, is_same_p);
    free(x->a);
    free(x->b);
    free(x->c);
    free(x->pivots);
    return loss;
}

static double limit(const char *name)
{
    const char *text = getenv(name);

    return text != NULL ? strtod(text, NULL) : INFINITY;
}

int main(int argc, char **argv)
{
    instance_t x = {0};
    int instances, same = 0;
    double *speeds, loss = 0, least, most;
    xylem_matmul_options o = {
        .kernel = kernel, .worked = worked, .sum = -1}; /* sums take no virtual time */

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &x.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &x.ranks);
    if (argc < 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    routine = getenv("DENSE_ROUTINE");
    speeds = calloc((size_t)x.ranks, sizeof(*speeds));
    o.speeds = speeds;
    o.machine = argv[1];
    o.costs = "";
    instances = (int)strtol(argv[2], NULL, 10);
    state = strtoull(argv[3], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)x.ranks;
    least = argc > 5 ? strtod(argv[4], NULL) : 50;
    most = argc > 5 ? strtod(argv[5], NULL) : 1600;
    for (int i = 0; i < instances; i++) {
        int is_same;

        x.n = (int)(least * pow(most / least, uniform()));
        loss += run_instance(&x, &o, speeds, i, &is_same);
        same += is_same;
    }
    if (x.rank == 0)
        printf("%d ranks: %d of %d are the best, mean loss %.2f %%\n", x.ranks, same, instances,
               100 * loss / instances);
    if (x.worst > 0)
        printf("simulations differ by up to %.3g %%, predictions by up to %.3g %%\n", 100 * x.worst,
               100 * x.predicted);
    free(speeds);
    MPI_Finalize();
    return 100 * loss / instances > limit("MATMUL_LOSS") || 100 * x.worst > limit("MATMUL_ERROR") ||
           100 * x.predicted > limit("MATMUL_PREDICTED");
}
