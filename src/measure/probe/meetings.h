/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of the two processes that are measured.
 */
#ifndef XY_MEASURE_PROBE_MEETINGS_H
#define XY_MEASURE_PROBE_MEETINGS_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trips.h"

enum { BCAST = 4096, SMALL = 64, LONG = 64 << 10, MEETINGS = 11 };

static void twice_barrier(const game_t *g)
{
    (void)g;
    MPI_Barrier(duo);
    MPI_Barrier(duo);
}

static void twice_small_bcast(const game_t *g)
{
    char *buffer = g->is_first ? g->out : g->in;

    MPI_Bcast(buffer, SMALL, MPI_CHAR, 0, duo);
    MPI_Bcast(buffer, SMALL, MPI_CHAR, 0, duo);
}

static void twice_allreduce(const game_t *g)
{
    for (int i = 0; i < 2; i++)
        MPI_Allreduce(g->out, g->in, BCAST / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, duo);
}

static void twice_small_allreduce(const game_t *g)
{
    for (int i = 0; i < 2; i++)
        MPI_Allreduce(g->out, g->in, SMALL / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, duo);
}

static void twice_small_reduce(const game_t *g)
{
    for (int i = 0; i < 2; i++)
        MPI_Reduce(g->out, g->in, SMALL / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, 0, duo);
}

static void twice_small_scatter(const game_t *g)
{
    for (int i = 0; i < 2; i++)
        MPI_Scatter(g->out, SMALL, MPI_CHAR, g->in, SMALL, MPI_CHAR, 0, duo);
}

static void twice_small_gather(const game_t *g)
{
    for (int i = 0; i < 2; i++)
        MPI_Gather(g->out, SMALL, MPI_CHAR, g->in, SMALL, MPI_CHAR, 0, duo);
}

/* The first broadcasts what it has got from the second. */
static void twice_small_bcast_back(const game_t *g)
{
    for (int i = 0; i < 2; i++) {
        if (g->is_first)
            MPI_Recv(g->in, SMALL, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(g->out, SMALL, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
        MPI_Bcast(g->in, SMALL, MPI_CHAR, 0, duo);
    }
}

static void twice_copy(const game_t *g)
{
    for (int i = 0; i < 2; i++) {
        memcpy(g->in, g->out, BCAST);
        __asm__ volatile("" : : "r"(g->in) : "memory"); /* not to be left out */
    }
}

static void twice_add(const game_t *g)
{
    for (int i = 0; i < 2; i++)
        MPI_Reduce_local(g->out, g->in, BCAST / (int)sizeof(double), MPI_DOUBLE, MPI_SUM);
}

static double time_meeting(const game_t *g, void (*trip)(const game_t *), double seconds)
{
    pool_t pool = {0};
    double values[TIMINGS_MAX];

    time_trips(g, trip, 100, RUNS_MIN, seconds, &pool);
    for (int i = 0; i < pool.count && i < TIMINGS_MAX; i++)
        values[i] = pool.timing[i].seconds;
    free(pool.timing);
    return pool.count > 0 ? median(values, pool.count < TIMINGS_MAX ? pool.count : TIMINGS_MAX) : 0;
}

/* The time that the sender of a stream needs for one message: fewer than any library keeps before
 * its sends wait, and then until all have come. 0: sends wait. */
static double time_issue(const game_t *g)
{
    enum { RUNS = 40, MANY = 64 };
    double times[RUNS];

    if (g->eager > 0 && SMALL > g->eager)
        return 0;
    for (int run = 0; run < RUNS; run++) {
        double begin;

        meet(g, 1);
        begin = MPI_Wtime();
        for (int i = 0; i < MANY; i++)
            if (g->is_first)
                MPI_Send(g->out, SMALL, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD);
            else
                MPI_Recv(g->in, SMALL, MPI_CHAR, g->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        times[run] = (MPI_Wtime() - begin) / MANY;
    }
    return median(times, RUNS);
}

/* Seconds of one. Buffers have room for LONG bytes. */
static void measure_meetings(const game_t *g, double seconds, double times[MEETINGS])
{
    times[0] = time_meeting(g, twice_barrier, seconds);
    times[1] = time_meeting(g, twice_copy, seconds / 10);
    memset(g->in, 0, LONG); /* numbers */
    memset(g->out, 0, LONG);
    times[2] = time_meeting(g, twice_add, seconds / 10);
    times[3] = time_meeting(g, twice_allreduce, seconds);
    times[4] = time_meeting(g, twice_small_bcast, seconds);
    times[5] = time_meeting(g, twice_small_allreduce, seconds);
    times[6] = time_issue(g);
    times[7] = time_meeting(g, twice_small_reduce, seconds);
    times[8] = time_meeting(g, twice_small_scatter, seconds);
    times[9] = time_meeting(g, twice_small_gather, seconds);
    times[10] = time_meeting(g, twice_small_bcast_back, seconds);
}

/* ---- The pace of a program ---- */

/* Some microseconds of sums, as programs make them, in the second cache. */
static void compute(const double *x, const double *y)
{
    for (int turn = 0; turn < 4; turn++) {
        double sum = 0;

        for (int i = 0; i < LONG / (int)sizeof(double); i++)
            sum += x[i] * y[i];
        __asm__ volatile("" : : "r"(x), "m"(sum) : "memory");
    }
}

static double clock_seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of a turn, the mean of so long, by this clock. */
static double compute_for(const game_t *g, clockid_t clock, double seconds)
{
    double begin = clock_seconds(clock), end = clock_seconds(CLOCK_MONOTONIC) + seconds;
    int n = 0;

    do {
        compute((const double *)g->out, (const double *)g->in);
        n++;
    } while (clock_seconds(CLOCK_MONOTONIC) < end);
    return (clock_seconds(clock) - begin) / n;
}

/* The wall-clock time of code while both compute, in units of its processor time while the other
 * one rests. */
static double measure_compute(const game_t *g, double seconds)
{
    double alone = 1, both;

    meet(g, 1);
    if (g->is_first)
        alone = compute_for(g, CLOCK_THREAD_CPUTIME_ID, seconds);
    else
        usleep((useconds_t)(1e6 * seconds));
    meet(g, 1);
    both = compute_for(g, CLOCK_MONOTONIC, seconds);
    meet(g, 1);
    return both / fmax(alone, 1e-9);
}

/* A barrier in which those that have nothing to do leave the processor and the network alone. */
static void rest(void)
{
    MPI_Request request;
    int is_over = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
        if (is_over)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

#endif
