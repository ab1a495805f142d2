/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Do nonblocking collectives overlap with computation? Plain MPI, so that it compiles with any MPI
 * library.
 *
 *   nbc [--size BYTES,...] [--collective NAME,...] [--mode cpu-exploit|equivalent-compute]
 *       [--kernel product|addition] [--work SIZE] [--factor F] [--kernels N,...] [--repetitions N]
 *       [--limit SECONDS] [--json]
 *
 * Three times, each from the first rank's beginning to the last one's end, median over the
 * repetitions, one after the other in each repetition, barriers in between:
 *   t_comm   start and wait, nothing between
 *   t_comp   the computation alone
 *   t_ovrl   start, computation, wait
 * overlap = 100 * (t_comm + t_comp - t_ovrl) / min(t_comm, t_comp), the median over the repetitions
 * of what three times in a row give (a machine changes its speed), cut to 0 .. 100; t_ovrl and its
 * ratio to t_comm + t_comp stand beside it, because a percentage of 0 can hide a slowdown. The
 * computation is timed alone, never inside the overlapped loop.
 *
 * cpu-exploit: the computation is sized to last F (1) times t_comm, or is --kernels of the
 * program's small kernels, a number for each collective and size: what another library computed.
 * equivalent-compute: the work of all ranks together is that of one product (or sum) of matrices of
 * size --work, so that runs with different numbers of ranks compare. After the
 * --limit (5 s) the repetitions of a collective end, but for three. Every result is checked
 * against the blocking collective.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size;

/* ---- The computation ---------------------------------------------------------------------- */

enum { TILE = 12 }; /* all three fit in the first cache; a multiple of 4 */
static _Alignas(64) double tile_a[TILE * TILE], tile_b[TILE * TILE], tile_c[TILE * TILE];

/* One product of small matrices: high intensity, in cache. The sums stay in registers: through
 * memory the speed would hang on where the loader puts the matrices. */
static void product(void)
{
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j += 4) {
            const double *a = &tile_a[i * TILE], *b = &tile_b[j];
            double s0 = 0, s1 = 0, s2 = 0, s3 = 0, *c = &tile_c[i * TILE + j];

            for (int k = 0; k < TILE; k++, b += TILE) {
                s0 += a[k] * b[0];
                s1 += a[k] * b[1];
                s2 += a[k] * b[2];
                s3 += a[k] * b[3];
            }
            c[0] += s0;
            c[1] += s1;
            c[2] += s2;
            c[3] += s3;
        }
}

/* Sums of the same matrices: low intensity. */
static void addition(void)
{
    for (int r = 0; r < TILE; r++)
        for (int i = 0; i < TILE * TILE; i++)
            tile_c[i] = tile_a[i] + tile_b[i] + tile_c[i] * 0x1p-10;
}

static void (*kernel)(void) = product;

static void compute(long times)
{
    for (long i = 0; i < times; i++)
        kernel();
}

/* ---- The collectives ---------------------------------------------------------------------- */

typedef struct {
    char *send, *receive;
    int bytes; /* of one contribution, a multiple of 8 */
    int *counts, *displs, *byte_displs;
    MPI_Datatype *types;
} data_t;

#define W MPI_COMM_WORLD
#define N (d->bytes / 8)
#define S d->send
#define R d->receive
#define T MPI_DOUBLE

/* Each pair in its two forms; buffers are large enough for `size` contributions. */
#define PAIR(name, blocking, nonblocking)                                                          \
    static void name##_b(data_t *d)                                                                \
    {                                                                                              \
        blocking;                                                                                  \
    }                                                                                              \
    static void name##_n(data_t *d, MPI_Request *q)                                                \
    {                                                                                              \
        nonblocking;                                                                               \
    }

PAIR(barrier, (void)d; MPI_Barrier(W), (void)d; MPI_Ibarrier(W, q))
PAIR(bcast, MPI_Bcast(R, N, T, 0, W), MPI_Ibcast(R, N, T, 0, W, q))
PAIR(gather, MPI_Gather(S, N, T, R, N, T, 0, W), MPI_Igather(S, N, T, R, N, T, 0, W, q))
PAIR(gatherv, MPI_Gatherv(S, N, T, R, d->counts, d->displs, T, 0, W),
     MPI_Igatherv(S, N, T, R, d->counts, d->displs, T, 0, W, q))
PAIR(scatter, MPI_Scatter(S, N, T, R, N, T, 0, W), MPI_Iscatter(S, N, T, R, N, T, 0, W, q))
PAIR(scatterv, MPI_Scatterv(S, d->counts, d->displs, T, R, N, T, 0, W),
     MPI_Iscatterv(S, d->counts, d->displs, T, R, N, T, 0, W, q))
PAIR(allgather, MPI_Allgather(S, N, T, R, N, T, W), MPI_Iallgather(S, N, T, R, N, T, W, q))
PAIR(allgatherv, MPI_Allgatherv(S, N, T, R, d->counts, d->displs, T, W),
     MPI_Iallgatherv(S, N, T, R, d->counts, d->displs, T, W, q))
PAIR(alltoall, MPI_Alltoall(S, N, T, R, N, T, W), MPI_Ialltoall(S, N, T, R, N, T, W, q))
PAIR(alltoallv, MPI_Alltoallv(S, d->counts, d->displs, T, R, d->counts, d->displs, T, W),
     MPI_Ialltoallv(S, d->counts, d->displs, T, R, d->counts, d->displs, T, W, q))
PAIR(alltoallw,
     MPI_Alltoallw(S, d->counts, d->byte_displs, d->types, R, d->counts, d->byte_displs, d->types,
                   W),
     MPI_Ialltoallw(S, d->counts, d->byte_displs, d->types, R, d->counts, d->byte_displs, d->types,
                    W, q))
PAIR(reduce, MPI_Reduce(S, R, N, T, MPI_SUM, 0, W), MPI_Ireduce(S, R, N, T, MPI_SUM, 0, W, q))
PAIR(allreduce, MPI_Allreduce(S, R, N, T, MPI_SUM, W), MPI_Iallreduce(S, R, N, T, MPI_SUM, W, q))
PAIR(reduce_scatter, MPI_Reduce_scatter(S, R, d->counts, T, MPI_SUM, W),
     MPI_Ireduce_scatter(S, R, d->counts, T, MPI_SUM, W, q))
PAIR(reduce_scatter_block, MPI_Reduce_scatter_block(S, R, N, T, MPI_SUM, W),
     MPI_Ireduce_scatter_block(S, R, N, T, MPI_SUM, W, q))
PAIR(scan, MPI_Scan(S, R, N, T, MPI_SUM, W), MPI_Iscan(S, R, N, T, MPI_SUM, W, q))
PAIR(exscan, MPI_Exscan(S, R, N, T, MPI_SUM, W), MPI_Iexscan(S, R, N, T, MPI_SUM, W, q))

#define ENTRY(name)                                                                                \
    {                                                                                              \
#name, name##_b, name##_n                                                                  \
    }
static const struct {
    const char *name;
    void (*blocking)(data_t *d);
    void (*start)(data_t *d, MPI_Request *q);
} collectives[] = {
    ENTRY(barrier),
    ENTRY(bcast),
    ENTRY(gather),
    ENTRY(gatherv),
    ENTRY(scatter),
    ENTRY(scatterv),
    ENTRY(allgather),
    ENTRY(allgatherv),
    ENTRY(alltoall),
    ENTRY(alltoallv),
    ENTRY(alltoallw),
    ENTRY(reduce),
    ENTRY(allreduce),
    ENTRY(reduce_scatter),
    ENTRY(scan),
    ENTRY(exscan),
    {"reduce_scatter_block", reduce_scatter_block_b, reduce_scatter_block_n},
};
enum { COLLECTIVES = sizeof(collectives) / sizeof(collectives[0]) };

/* ---- The data ----------------------------------------------------------------------------- */

static size_t whole(const data_t *d)
{
    return (size_t)d->bytes * (size_t)size;
}

static void fill(data_t *d)
{
    double *v = (double *)(void *)d->send;

    for (size_t i = 0; i < whole(d) / 8; i++)
        v[i] = (double)((i * 7 + (size_t)rank * 13) % 101);
    memset(d->receive, 0, whole(d));
    if (rank == 0)
        memcpy(d->receive, d->send, (size_t)d->bytes); /* the data that a broadcast sends */
}

static void data_init(data_t *d, int bytes)
{
    d->bytes = bytes;
    d->send = malloc(whole(d));
    d->receive = malloc(whole(d));
    d->counts = malloc(3 * (size_t)size * sizeof(int));
    d->displs = d->counts + size;
    d->byte_displs = d->displs + size;
    d->types = malloc((size_t)size * sizeof(*d->types));
    for (int r = 0; r < size; r++) {
        d->counts[r] = bytes / 8;
        d->displs[r] = r * (bytes / 8);
        d->byte_displs[r] = r * bytes;
        d->types[r] = MPI_DOUBLE;
    }
}

static void data_cleanup(data_t *d)
{
    free(d->send);
    free(d->receive);
    free(d->counts);
    free(d->types);
}

/* The nonblocking form must leave what the blocking one leaves. */
static int is_right(int k, data_t *d)
{
    char *expected = malloc(whole(d));
    MPI_Request request;
    int good, all;

    fill(d);
    collectives[k].blocking(d);
    memcpy(expected, d->receive, whole(d));
    fill(d);
    collectives[k].start(d, &request);
    compute(10);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    good = memcmp(expected, d->receive, whole(d)) == 0;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    free(expected);
    return all;
}

/* ---- Measuring ---------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

typedef struct {
    double median, mean, min, max;
} times_t;

static times_t summary(double *v, int n)
{
    times_t t = {0};

    qsort(v, (size_t)n, sizeof(*v), compare);
    for (int i = 0; i < n; i++)
        t.mean += v[i] / n;
    t.median = v[n / 2];
    t.min = v[0];
    t.max = v[n - 1];
    return t;
}

/* MPI_Wtime may begin at another moment in each process. */
static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One repetition of start (when `communicate`), computation, wait: from the first rank that begins
 * to the last that ends. Ranks that share a core take turns, so the longest time of one rank would
 * not do. All ranks are on one machine and read one clock. */
static double once(int k, data_t *d, int communicate, long times)
{
    MPI_Request request;
    double own[2], most[2]; /* minus the beginning, and the end */

    MPI_Barrier(MPI_COMM_WORLD);
    own[0] = -now();
    if (communicate)
        collectives[k].start(d, &request);
    compute(times);
    if (communicate)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    own[1] = now();
    MPI_Allreduce(own, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most[1] + most[0];
}

typedef enum { COMM, COMP, OVRL, PHASES } phase_t;

/* The hidden share of the shorter of communication and computation. */
static double share_of(double comm, double comp, double ovrl)
{
    return (comm + comp - ovrl) / (comm < comp ? comm : comp);
}

/* All three in turn, so that what disturbs the machine disturbs each of them alike. The first
 * repetition is for warming up. `limit` seconds are enough. Returns the overlap, 0 .. 1. */
static double measure(int k, data_t *d, long times, int repetitions, double limit,
                      times_t result[PHASES])
{
    int room = repetitions + 1, done = 0, is_over = 0;
    double *v = malloc((PHASES + 1) * (size_t)room * sizeof(*v)), begin = now(), share;

    for (; done <= repetitions && !is_over; done++) {
        for (int p = 0; p < PHASES; p++)
            v[p * room + done] = once(k, d, p != COMP, p == COMM ? 0 : times);
        v[PHASES * room + done] = share_of(v[done], v[room + done], v[2 * room + done]);
        is_over = done >= 3 && now() - begin > limit;
        MPI_Bcast(&is_over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    for (int p = 0; p < PHASES; p++)
        result[p] = summary(v + p * room + 1, done - 1);
    share = summary(v + PHASES * room + 1, done - 1).median;
    free(v);
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

enum { SAMPLES = 5 }; /* for sizing */

/* A first idea of t_comm. */
static double probe(int k, data_t *d)
{
    double v[SAMPLES];

    once(k, d, 1, 0);
    for (int i = 0; i < SAMPLES; i++)
        v[i] = once(k, d, 1, 0);
    return summary(v, SAMPLES).median;
}

/* How many kernels last `seconds` when all ranks compute at the same time. */
static long times_for(double seconds, data_t *d)
{
    long times = 16;
    double v[SAMPLES] = {once(0, d, 0, times)}, result;

    while (v[0] < 2e-3 && times < 1L << 30) {
        times *= 4;
        v[0] = once(0, d, 0, times);
    }
    for (int i = 1; i < SAMPLES; i++)
        v[i] = once(0, d, 0, times);
    result = seconds * (double)times / summary(v, SAMPLES).median;
    MPI_Bcast(&result, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return result < 1 ? 1 : lround(result);
}

static struct {
    const char *sizes, *names, *mode, *kernels;
    int repetitions, json;
    double work, factor, limit;
} options = {"1048576", NULL, "cpu-exploit", NULL, 15, 0, 512, 1, 5};

static long local_work(void)
{
    /* local size = cbrt(work^3 / ranks) for the product, sqrt(work^2 / ranks) for the sum */
    double local = kernel == product ? cbrt(pow(options.work, 3) / size)
                                     : sqrt(options.work * options.work / size);
    double times = kernel == product ? pow(local / TILE, 3) : pow(local / TILE, 2) / TILE;

    return times < 1 ? 1 : (long)times;
}

static void print_json(int k, int bytes, long times, const times_t t[PHASES], double share,
                       int right)
{
    static const char *const names[PHASES] = {"t_comm", "t_comp", "t_ovrl"};

    printf("{\"collective\": \"%s\", \"ranks\": %d, \"bytes\": %d, \"kernels\": %ld",
           collectives[k].name, size, bytes, times);
    for (int p = 0; p < PHASES; p++)
        printf(", \"%s\": %.9g, \"%s_mean\": %.9g, \"%s_min\": %.9g, \"%s_max\": %.9g", names[p],
               t[p].median, names[p], t[p].mean, names[p], t[p].min, names[p], t[p].max);
    printf(", \"overlap\": %.1f, \"ratio\": %.4f, \"right\": %s}\n", share,
           t[OVRL].median / (t[COMM].median + t[COMP].median), right ? "true" : "false");
}

static void report(int k, int bytes, long times, const times_t t[PHASES], double share, int right)
{
    double comm = t[COMM].median, comp = t[COMP].median, ovrl = t[OVRL].median;

    if (rank != 0)
        return;
    if (options.json)
        print_json(k, bytes, times, t, 100 * share, right);
    else
        printf("%-22s %9d %12.1f %12.1f %12.1f %9.3f %8.0f %%%s\n", collectives[k].name, bytes,
               comm * 1e6, comp * 1e6, ovrl * 1e6, ovrl / (comm + comp), 100 * share,
               right ? "" : "  WRONG RESULT");
    fflush(stdout);
}

/* How much to compute: what the options say, or what lasts as long as the collective does. */
static long choose_times(int k, data_t *d)
{
    if (options.kernels != NULL) {
        char *end;
        long times = strtol(options.kernels, &end, 10);

        options.kernels = *end == ',' ? end + 1 : options.kernels;
        return times;
    }
    if (strcmp(options.mode, "equivalent-compute") == 0)
        return local_work();
    return times_for(options.factor * probe(k, d), d);
}

static int run(int k, int bytes)
{
    data_t d;
    times_t t[PHASES];
    double share;
    long times;
    int right;

    data_init(&d, bytes);
    right = is_right(k, &d);
    times = choose_times(k, &d);
    share = measure(k, &d, times, options.repetitions, options.limit, t);
    report(k, bytes, times, t, share, right);
    data_cleanup(&d);
    return right;
}

static int is_chosen(const char *name)
{
    size_t n = strlen(name);

    if (options.names == NULL)
        return 1;
    for (const char *p = options.names; (p = strstr(p, name)) != NULL; p += n)
        if ((p == options.names || p[-1] == ',') && (p[n] == ',' || p[n] == '\0'))
            return 1;
    return 0;
}

static int parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (strcmp(argv[i], "--json") == 0) {
            options.json = 1;
            continue;
        }
        if (value == NULL)
            return 0;
        if (strcmp(argv[i], "--size") == 0)
            options.sizes = value;
        else if (strcmp(argv[i], "--collective") == 0)
            options.names = value;
        else if (strcmp(argv[i], "--mode") == 0)
            options.mode = value;
        else if (strcmp(argv[i], "--kernel") == 0)
            kernel = strcmp(value, "addition") == 0 ? addition : product;
        else if (strcmp(argv[i], "--kernels") == 0)
            options.kernels = value;
        else if (strcmp(argv[i], "--limit") == 0)
            options.limit = strtod(value, NULL);
        else if (strcmp(argv[i], "--work") == 0)
            options.work = strtod(value, NULL);
        else if (strcmp(argv[i], "--factor") == 0)
            options.factor = strtod(value, NULL);
        else if (strcmp(argv[i], "--repetitions") == 0)
            options.repetitions = (int)strtol(value, NULL, 10);
        else
            return 0;
        i++;
    }
    return options.repetitions > 0;
}

int main(int argc, char **argv)
{
    int right = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!parse(argc, argv)) {
        if (rank == 0)
            fprintf(stderr, "nbc: a wrong option; the beginning of nbc.c tells which there are\n");
        MPI_Finalize();
        return 2;
    }
    for (int i = 0; i < TILE * TILE; i++)
        tile_a[i] = tile_b[i] = 1.0 / (i + 1);
    if (rank == 0 && !options.json)
        printf("%-22s %9s %12s %12s %12s %9s %10s\n", "collective", "bytes", "t_comm us",
               "t_comp us", "t_ovrl us", "ratio", "overlap");
    for (int k = 0; k < COLLECTIVES; k++)
        for (const char *s = options.sizes; is_chosen(collectives[k].name) && s != NULL;
             s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL)
            right &= run(k, (int)strtol(s, NULL, 10) / 8 * 8);
    MPI_Finalize();
    return !right;
}
