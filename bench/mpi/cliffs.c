/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of a call of every blocking collective for each power of two from 1 byte to 16 MiB: a
 * line "NAME BYTES SECONDS BUFFERS" each: the median of the repetitions, each the time of the
 * slowest rank, and the bytes of a rank's buffers. "copy" is a plain memcpy on every rank, for
 * comparison. BYTES is the vector of bcast and the reductions, and the block of one rank (or pair
 * of ranks) of the others. Sizes whose buffers exceed 1 GiB on all ranks together are left out.
 * Plain MPI.
 *
 *   cliffs REPETITIONS [NAME FIRST LAST]        of one collective (or "all"), FIRST to LAST bytes
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOTAL   (1LL << 30)
#define LONGEST (16LL << 20)
enum { MOST_REPETITIONS = 99, MOST_CALLS = 1000 };
static const double enough = 200e-6; /* seconds of a sample */

typedef struct {
    int rank, size, n;
    char *in, *out;
    int *counts, *places;
} data_t;

#define TYPE MPI_UINT8_T
#define COMM MPI_COMM_WORLD

static void bcast(const data_t *d)
{
    MPI_Bcast(d->in, d->n, TYPE, 0, COMM);
}
static void gather(const data_t *d)
{
    MPI_Gather(d->in, d->n, TYPE, d->out, d->n, TYPE, 0, COMM);
}
static void scatter(const data_t *d)
{
    MPI_Scatter(d->in, d->n, TYPE, d->out, d->n, TYPE, 0, COMM);
}
static void allgather(const data_t *d)
{
    MPI_Allgather(d->in, d->n, TYPE, d->out, d->n, TYPE, COMM);
}
static void alltoall(const data_t *d)
{
    MPI_Alltoall(d->in, d->n, TYPE, d->out, d->n, TYPE, COMM);
}
static void reduce(const data_t *d)
{
    MPI_Reduce(d->in, d->out, d->n, TYPE, MPI_SUM, 0, COMM);
}
static void allreduce(const data_t *d)
{
    MPI_Allreduce(d->in, d->out, d->n, TYPE, MPI_SUM, COMM);
}
static void scan(const data_t *d)
{
    MPI_Scan(d->in, d->out, d->n, TYPE, MPI_SUM, COMM);
}
static void exscan(const data_t *d)
{
    MPI_Exscan(d->in, d->out, d->n, TYPE, MPI_SUM, COMM);
}

static void copy(const data_t *d)
{
    memcpy(d->out, d->in, (size_t)d->n);
}

static void gatherv(const data_t *d)
{
    MPI_Gatherv(d->in, d->n, TYPE, d->out, d->counts, d->places, TYPE, 0, COMM);
}

static void scatterv(const data_t *d)
{
    MPI_Scatterv(d->in, d->counts, d->places, TYPE, d->out, d->n, TYPE, 0, COMM);
}

static void allgatherv(const data_t *d)
{
    MPI_Allgatherv(d->in, d->n, TYPE, d->out, d->counts, d->places, TYPE, COMM);
}

static void alltoallv(const data_t *d)
{
    MPI_Alltoallv(d->in, d->counts, d->places, TYPE, d->out, d->counts, d->places, TYPE, COMM);
}

static void reduce_scatter(const data_t *d)
{
    MPI_Reduce_scatter(d->in, d->out, d->counts, TYPE, MPI_SUM, COMM);
}

static void reduce_scatter_block(const data_t *d)
{
    MPI_Reduce_scatter_block(d->in, d->out, d->n, TYPE, MPI_SUM, COMM);
}

/* How many times the size a rank's buffers have: all ranks' blocks, or one. */
typedef struct {
    const char *name;
    void (*call)(const data_t *d);
    int has_all_in, has_all_out;
} collective_t;

static const collective_t collectives[] = {
    {"copy", copy, 0, 0},
    {"bcast", bcast, 0, 0},
    {"gather", gather, 0, 1},
    {"gatherv", gatherv, 0, 1},
    {"scatter", scatter, 1, 0},
    {"scatterv", scatterv, 1, 0},
    {"allgather", allgather, 0, 1},
    {"allgatherv", allgatherv, 0, 1},
    {"alltoall", alltoall, 1, 1},
    {"alltoallv", alltoallv, 1, 1},
    {"reduce", reduce, 0, 0},
    {"allreduce", allreduce, 0, 0},
    {"reduce_scatter", reduce_scatter, 1, 0},
    {"reduce_scatter_block", reduce_scatter_block, 1, 0},
    {"scan", scan, 0, 0},
    {"exscan", exscan, 0, 0},
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* `calls` calls on all ranks: seconds of one, on the slowest. */
static double sample(const collective_t *c, const data_t *d, int calls)
{
    double begin, seconds;

    MPI_Barrier(COMM);
    begin = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        c->call(d);
    MPI_Barrier(COMM); /* work that ranks which leave early have left to do counts */
    seconds = (MPI_Wtime() - begin) / calls;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, COMM);
    return seconds;
}

static double measure(const collective_t *c, const data_t *d, int repetitions)
{
    double samples[MOST_REPETITIONS], once = sample(c, d, 2);
    int calls = once > enough ? 1 : (int)(enough / once) + 1;

    if (calls > MOST_CALLS)
        calls = MOST_CALLS;
    for (int i = 0; i < repetitions; i++)
        samples[i] = sample(c, d, calls);
    qsort(samples, (size_t)repetitions, sizeof(double), by_value);
    return samples[repetitions / 2];
}

static long long bytes_of(const collective_t *c, int size, long long n)
{
    return n * ((c->has_all_in ? size : 1) + (c->has_all_out ? size : 1));
}

/* One buffer for all sizes, touched before any is measured. */
static void run(const collective_t *c, data_t *d, int repetitions, long long first, long long last)
{
    while (last > first && bytes_of(c, d->size, last) * d->size > TOTAL)
        last /= 2;
    d->in = calloc((size_t)last, (size_t)(c->has_all_in ? d->size : 1));
    d->out = calloc((size_t)last, (size_t)(c->has_all_out ? d->size : 1));
    if (d->in == NULL || d->out == NULL)
        MPI_Abort(COMM, 1);
    memset(d->in, 1, (size_t)last * (size_t)(c->has_all_in ? d->size : 1));
    memset(d->out, 1, (size_t)last * (size_t)(c->has_all_out ? d->size : 1));
    for (long long n = first; n <= last; n *= 2) {
        double seconds;

        d->n = (int)n;
        for (int r = 0; r < d->size; r++) {
            d->counts[r] = (int)n;
            d->places[r] = r * (int)n;
        }
        if (n == first)
            measure(c, d, repetitions); /* the first calls make what later ones find */
        seconds = measure(c, d, repetitions);
        if (d->rank == 0) {
            printf("%s %lld %.4g %lld\n", c->name, n, seconds, bytes_of(c, d->size, n));
            fflush(stdout);
        }
    }
    free(d->in);
    free(d->out);
}

int main(int argc, char **argv)
{
    data_t d;
    int repetitions = argc > 1 ? atoi(argv[1]) : 5;
    long long first = argc > 4 ? atoll(argv[3]) : 1, last = argc > 4 ? atoll(argv[4]) : LONGEST;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(COMM, &d.rank);
    MPI_Comm_size(COMM, &d.size);
    d.counts = malloc((size_t)d.size * sizeof(int));
    d.places = malloc((size_t)d.size * sizeof(int));
    if (repetitions < 1 || repetitions > MOST_REPETITIONS || first < 1 || last < first ||
        d.counts == NULL || d.places == NULL) {
        fprintf(stderr, "usage: cliffs REPETITIONS [NAME FIRST LAST]\n");
        MPI_Abort(COMM, 2);
    }
    for (size_t i = 0; i < sizeof(collectives) / sizeof(collectives[0]); i++)
        if (argc <= 4 || strcmp(argv[2], "all") == 0 || strcmp(argv[2], collectives[i].name) == 0)
            run(&collectives[i], &d, repetitions, first, last);
    free(d.counts);
    free(d.places);
    MPI_Finalize();
    return 0;
}
