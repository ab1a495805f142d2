/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matrix products by all algorithms on the cores that are here, and which one is chosen before:
 *
 *   mpiexec -n P matmul SEED INSTANCES REPETITIONS LEAST MOST
 *
 * Ranks share cores as mpiexec places them, and have different speeds: a rank of speed 1/3 computes
 * each of its products three times. The chooser knows the machine, the speeds, what the kernel
 * takes for blocks of some widths and depths (from products of a few rows on one rank alone,
 * before) and what adding two elements takes, likewise. All algorithms of an instance run one after
 * the other, in turn. Printed are one line for each of them, with the least time of all turns, and
 * the choice:
 *
 *   n,ranks,algorithm,predicted,measured,chosen
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dense.h"

enum { ALGORITHMS = 5, SIDE = 256 };

typedef struct {
    int again;            /* that this rank computes each product */
    double speed;         /* of one that computes it once, flop/s */
    const double *speeds; /* of all */
    double *scratch;
    size_t room; /* elements of it */
} slow_t;

/* A slow rank does the same again, into memory that does not count. */
static void kernel(int m, int n, int k, const double *a, int lda, const double *b, int ldb,
                   double *c, int ldc, void *arg)
{
    slow_t *slow = arg;
    size_t count = (size_t)m * (size_t)n;

    if (slow->again > 0 && slow->room < count) {
        free(slow->scratch);
        slow->scratch = make(count);
        slow->room = count;
    }
    for (int i = 0; i < slow->again; i++)
        multiply(m, n, k, a, lda, b, ldb, slow->scratch, n);
    multiply(m, n, k, a, lda, b, ldb, c, ldc);
}

/* ---- What the kernel takes ----
 *
 * By the width of a block, which decides how it is vectorised and aligned, and its depth, which
 * decides what stays in the cache: two depths for each factor of two. Rows take the same each.
 * Widths are measured in groups of RESIDUES neighbours, one group every STRIDE, because odd ones
 * take longer; in between the next group below and above with the same remainder count. */

enum { RESIDUES = 4, STRIDE = 16, GROUPS = 52, DEPTHS = 11, ROWS = 16, TURNS = 3 };
#define DEPTH_FIRST 32.0

static double per_step[DEPTHS][GROUPS][RESIDUES]; /* seconds of a multiplication and addition */

static int width_of(int group, int residue)
{
    return group * STRIDE + residue > 0 ? group * STRIDE + residue : RESIDUES;
}

static void measure_kernel(void)
{
    slow_t none = {0};

    for (int d = 0; d < DEPTHS; d++)
        for (int g = 0; g < GROUPS; g++)
            for (int r = 0; r < RESIDUES; r++)
                per_step[d][g][r] = time_block(kernel, &none, ROWS, width_of(g, r),
                                               (int)(DEPTH_FIRST * exp2(d / 2.0)), TURNS);
}

/* A row takes its beginning and then each element: between two widths its time is on a straight
 * line, and the time of a step is not. */
static double at_width(int d, int width)
{
    int g = width / STRIDE < GROUPS - 2 ? width / STRIDE : GROUPS - 2, r = width % RESIDUES;
    int from = width_of(g, r), to = width_of(g + 1, r);
    double t = (double)(width - from) / (to - from);

    return ((1 - t) * from * per_step[d][g][r] + t * to * per_step[d][g + 1][r]) / width;
}

static double kernel_seconds(int m, int n, int k, int rank, void *arg)
{
    const slow_t *slow = arg;
    double d = fmin(fmax(2 * log2(k / DEPTH_FIRST), 0), DEPTHS - 1);
    int below = d < DEPTHS - 1 ? (int)d : DEPTHS - 2;
    double step = (1 - (d - below)) * at_width(below, n) + (d - below) * at_width(below + 1, n);

    return step * m * n * k * slow->speed / slow->speeds[rank];
}

/* ---- What this core does in a second ---- */

typedef struct {
    double speed, sum; /* flop/s; seconds of a sum */
} core_t;

static core_t measure_core(void)
{
    slow_t none = {0};

    return (core_t){2 / time_block(kernel, &none, SIDE, SIDE, SIDE / 2, 5), time_sum(SIDE)};
}

/* ---- An instance ---- */

typedef struct {
    int n, rank, ranks;
    slow_t slow;
    double *a, *b, *c, *speeds;
} instance_t;

static double run(const instance_t *x, const xylem_matmul_options *o)
{
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    if (xylem_matmul(x->n, x->n, x->n, x->a, x->b, x->c, o, MPI_COMM_WORLD) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return MPI_Wtime() - start;
}

static void print(const instance_t *x, const double *predicted, const double *measured)
{
    int chosen = -1;

    for (int i = 0; i < ALGORITHMS; i++)
        if (predicted[i] > 0 && (chosen < 0 || predicted[i] < predicted[chosen]))
            chosen = i;
    for (int i = 0; i < ALGORITHMS; i++) {
        if (predicted[i] <= 0)
            continue;
        printf("%d,%d,%s,%.6g,%.6g,%d\n", x->n, x->ranks, xylem_matmul_algorithms[i], predicted[i],
               measured[i], i == chosen);
    }
    fflush(stdout);
}

static void run_instance(const instance_t *x, xylem_matmul_options *o, int repetitions)
{
    double predicted[ALGORITHMS] = {0}, measured[ALGORITHMS];

    for (int i = 0; x->rank == 0 && i < ALGORITHMS; i++)
        predicted[i] =
            xylem_matmul_seconds(xylem_matmul_algorithms[i], x->n, x->n, x->n, x->ranks, o);
    MPI_Bcast(predicted, ALGORITHMS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ALGORITHMS; i++)
        measured[i] = INFINITY;
    for (int turn = 0; turn < repetitions; turn++)
        for (int i = 0; i < ALGORITHMS; i++) {
            o->algorithm = xylem_matmul_algorithms[i];
            if (predicted[i] > 0)
                measured[i] = fmin(measured[i], run(x, o));
        }
    o->algorithm = NULL;
    if (x->rank == 0)
        print(x, predicted, measured);
}

int main(int argc, char **argv)
{
    instance_t x = {0};
    xylem_matmul_options o = {
        .kernel = kernel, .seconds = kernel_seconds, .costs = getenv("MATMUL_COSTS")};
    core_t core = {0};
    double least, most;
    int instances, repetitions;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &x.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &x.ranks);
    if (argc < 6)
        MPI_Abort(MPI_COMM_WORLD, 2);
    state = strtoull(argv[1], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)x.ranks;
    instances = atoi(argv[2]);
    repetitions = atoi(argv[3]);
    least = atof(argv[4]);
    most = atof(argv[5]);
    x.speeds = make((size_t)x.ranks);
    if (x.rank == 0) {
        core = measure_core();
        measure_kernel();
    }
    MPI_Bcast(&core, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    o.speeds = x.speeds;
    o.sum = core.sum;
    o.arg = &x.slow;
    x.slow = (slow_t){.speed = core.speed, .speeds = x.speeds};
    for (int i = 0; i < instances; i++) {
        x.n = (int)(least * pow(most / least, uniform()));
        for (int r = 0; r < x.ranks; r++) {
            int again = (int)(4 * uniform());

            x.speeds[r] = core.speed / (1 + again);
            x.slow.again = r == x.rank ? again : x.slow.again;
        }
        if (x.rank == 0) {
            x.a = make((size_t)x.n * (size_t)x.n);
            x.b = make((size_t)x.n * (size_t)x.n);
            x.c = make((size_t)x.n * (size_t)x.n);
        }
        run_instance(&x, &o, repetitions);
        free(x.slow.scratch);
        x.slow.scratch = NULL;
        x.slow.room = 0;
        free(x.a);
        free(x.b);
        free(x.c);
        x.a = x.b = x.c = NULL;
    }
    free(x.speeds);
    MPI_Finalize();
    return 0;
}
