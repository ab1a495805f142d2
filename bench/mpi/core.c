/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of a message and of a collective. Plain MPI, so that it compiles with any MPI library.
 *
 *   core WHAT [WHAT...] --seconds S
 *
 * Each WHAT (latency, bandwidth:BYTES, barrier, allreduce:BYTES, bcast:BYTES, alltoall:BYTES,
 * start) prints one line `WHAT SECONDS` on rank 0: the median over rounds of the time of one
 * operation, each round timed by rank 0 between barriers. `bandwidth` also prints what memcpy does
 * with the same buffers, `memcpy:BYTES SECONDS`, measured in between.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 9 };

static int rank, size;
static double budget = 0.3; /* seconds for one measurement */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof(*v), compare);
    return v[n / 2];
}

/* One operation, done by every rank. */
typedef void (*step_fn)(char *a, char *b, int bytes);

static void latency(char *a, char *b, int bytes)
{
    if (rank == 0) {
        MPI_Send(a, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(b, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(b, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(a, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

static void bandwidth(char *a, char *b, int bytes)
{
    if (rank == 0)
        MPI_Send(a, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(b, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void barrier(char *a, char *b, int bytes)
{
    (void)a, (void)b, (void)bytes;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(char *a, char *b, int bytes)
{
    MPI_Allreduce(a, b, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void bcast(char *a, char *b, int bytes)
{
    (void)b;
    MPI_Bcast(a, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void alltoall(char *a, char *b, int bytes)
{
    MPI_Alltoall(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void copy(char *a, char *b, int bytes)
{
    if (rank == 0) {
        memcpy(b, a, (size_t)bytes);
        __asm__ volatile("" : : "r"(b) : "memory");
    }
}

static double time_of(step_fn step, int n, char *a, char *b, int bytes)
{
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < n; i++)
        step(a, b, bytes);
    if (step != copy)
        MPI_Barrier(MPI_COMM_WORLD);
    return (MPI_Wtime() - begin) / n;
}

/* How many operations make a round, agreed on by all. */
static int round_length(step_fn step, char *a, char *b, int bytes)
{
    double t = time_of(step, 2, a, b, bytes);
    double n;

    MPI_Bcast(&t, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* all must do the same */
    t = time_of(step, t > 1e-3 ? 2 : 20, a, b, bytes);
    n = budget / ROUNDS / t;
    n = n < 1 ? 1 : n > 2e6 ? 2e6 : n;
    MPI_Bcast(&n, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return (int)n;
}

static double measure(step_fn step, char *a, char *b, int bytes)
{
    double rounds[ROUNDS];
    int n = round_length(step, a, b, bytes);

    for (int i = 0; i < ROUNDS; i++)
        rounds[i] = time_of(step, n, a, b, bytes);
    return median(rounds, ROUNDS);
}

static const struct {
    const char *name;
    step_fn step;
    int blocks_per_rank; /* of `bytes`, in each buffer */
    double per_step;     /* operations in one step */
} kinds[] = {
    {"latency", latency, 0, 2},     {"bandwidth", bandwidth, 0, 1}, {"barrier", barrier, 0, 1},
    {"allreduce", allreduce, 0, 1}, {"bcast", bcast, 0, 1},         {"alltoall", alltoall, 1, 1},
};

static int run(const char *what)
{
    const char *colon = strchr(what, ':');
    int bytes = colon ? atoi(colon + 1) : 8;
    size_t length = colon ? (size_t)(colon - what) : strlen(what);

    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        size_t n = (size_t)bytes * (kinds[k].blocks_per_rank ? (size_t)size : 1);
        char *a, *b;
        double t;

        if (strlen(kinds[k].name) != length || strncmp(what, kinds[k].name, length) != 0)
            continue;
        a = malloc(n);
        b = malloc(n);
        memset(a, 0, n);
        memset(b, 0, n);
        t = measure(kinds[k].step, a, b, bytes) / kinds[k].per_step;
        if (rank == 0)
            printf("%s %.9g\n", what, t);
        if (kinds[k].step == bandwidth) {
            t = measure(copy, a, b, bytes);
            if (rank == 0)
                printf("memcpy:%d %.9g\n", bytes, t);
        }
        free(a);
        free(b);
        return 0;
    }
    return strcmp(what, "start") == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    int bad = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--seconds") == 0)
            budget = atof(argv[i + 1]);
    for (int i = 1; i < argc && strcmp(argv[i], "--seconds") != 0; i++)
        bad |= run(argv[i]);
    MPI_Finalize();
    return bad;
}
