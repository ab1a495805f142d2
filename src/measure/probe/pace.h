/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pace of a core, and which timings count: see probe.c. Part of the probe, which is one program
 * of these files.
 */
#ifndef XY_MEASURE_PROBE_PACE_H
#define XY_MEASURE_PROBE_PACE_H

#include <math.h>
#include <mpi.h>
#include <stdlib.h>

#include "loops.h"

enum { TIMINGS_MAX = 100 }; /* of a size in one pass */

static int by_value(const void *a, const void *b)
{
    const double *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

static double median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof(*t), by_value);
    return t[n / 2];
}

typedef struct {
    double latency; /* seconds of a loop in which one operation waits for the next: frequency */
    double ratio;   /* to it of a loop that fills the core: more when other work is on it */
} look_t;

static look_t look(void)
{
    enum { TURNS = 800 };
    double begin = MPI_Wtime(), middle;
    look_t now;

    loop_throughput(TURNS);
    middle = MPI_Wtime();
    loop_latency(TURNS);
    now.latency = fmax(MPI_Wtime() - middle, 1e-9);
    now.ratio = (middle - begin) / now.latency;
    return now;
}

/* One timing, and two looks at each of the cores: here and there, before and after. */
typedef struct {
    double seconds, disturbed;
    look_t look[4];
} timing_t;

/* All timings of one size. */
typedef struct {
    timing_t *timing;
    int count, room;
} pool_t;

static void add_timing(pool_t *pool, const timing_t *timing)
{
    if (pool->count == pool->room) {
        pool->room = pool->room > 0 ? 2 * pool->room : TIMINGS_MAX;
        pool->timing = realloc(pool->timing, (size_t)pool->room * sizeof(*pool->timing));
        if (pool->timing == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    pool->timing[pool->count++] = *timing;
}

/* The result of all looks at the two cores: the ratio of one that is alone, the usual latency. */
typedef struct {
    double alone[2], latency[2];
    int is_wall; /* frequency is no concern */
} pace_t;

/* A value that is less than `part` of all looks' at one of the cores. */
static double look_quantile(const pool_t *pools, int count, int side, int of_ratio, double part)
{
    size_t n = 0, all = 0;
    double *values, value = 1;

    for (int i = 0; i < count; i++)
        all += 2 * (size_t)pools[i].count;
    values = calloc(all + 1, sizeof(*values));
    if (values == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2 * pools[i].count; k++) {
            const look_t *l = &pools[i].timing[k / 2].look[2 * side + k % 2];

            values[n++] = of_ratio ? l->ratio : l->latency;
        }
    qsort(values, n, sizeof(*values), by_value);
    if (n > 0)
        value = values[(size_t)(part * (double)(n - 1))];
    free(values);
    return value;
}

/* How much of the cores others took, the sum of all looks; a look that was itself interrupted may
 * show less than nothing by its ratio, but takes longer than any frequency makes it. */
static double disturbance(const timing_t *t, const pace_t *pace)
{
    const double slowest = 1.4;
    double sum = 0;

    for (int k = 0; k < 4; k++) {
        sum += fmax(t->look[k].ratio / pace->alone[k / 2], 1) - 1;
        sum += t->look[k].latency > slowest * pace->latency[k / 2];
    }
    return sum;
}

/* By the faster look at each core, and within reason: an interrupted one is no frequency. */
static double at_pace(const timing_t *t, const pace_t *pace)
{
    double scale = 0;

    for (int side = 0; side < 2; side++)
        scale += pace->latency[side] / 2 /
                 fmin(t->look[2 * side].latency, t->look[2 * side + 1].latency);
    return t->seconds * fmin(fmax(scale, 0.7), 1.4);
}

static int by_disturbance(const void *a, const void *b)
{
    const timing_t *p = a, *q = b;

    return (p->disturbed > q->disturbed) - (p->disturbed < q->disturbed);
}

/* How many timings count, the least disturbed first: those on cores that were alone, when they are
 * half of all. Where cores are seldom alone, as on a machine that is a part of a larger one,
 * programs will not find them alone either, and all count. */
static int choose_counted(const pool_t *pool)
{
    const double undisturbed = 0.15; /* all four looks together */
    int n = 0;

    while (n < pool->count && pool->timing[n].disturbed <= undisturbed)
        n++;
    return n >= 5 && 2 * n >= pool->count ? n : pool->count;
}

/* The time of one size, and how far the timings that count are apart. */
static double sum_up(pool_t *pool, const pace_t *pace, double *spread)
{
    double *values = calloc((size_t)pool->count + 1, sizeof(*values)), middle;
    int n;

    if (values == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    *spread = 0;
    for (int i = 0; i < pool->count; i++)
        pool->timing[i].disturbed = disturbance(&pool->timing[i], pace);
    qsort(pool->timing, (size_t)pool->count, sizeof(*pool->timing), by_disturbance);
    n = choose_counted(pool);
    for (int i = 0; i < n; i++)
        values[i] = pace->is_wall ? pool->timing[i].seconds : at_pace(&pool->timing[i], pace);
    qsort(values, (size_t)n, sizeof(*values), by_value);
    middle = values[n / 2];
    if (n > 0)
        *spread = (values[3 * n / 4] - values[n / 4]) / middle;
    free(values);
    return middle;
}

/* The time of all timings together, in units of as many medians of their sizes: others have the
 * cores for a while, which a median does not show. */
static double mean_pace(const pool_t *pools, int count)
{
    double all = 0, medians = 0;

    for (int i = 0; i < count; i++) {
        double values[TIMINGS_MAX];
        int n = 0;

        for (int k = 0; k < pools[i].count; k++) {
            all += pools[i].timing[k].seconds;
            if (n < TIMINGS_MAX)
                values[n++] = pools[i].timing[k].seconds;
        }
        medians += n > 0 ? pools[i].count * median(values, n) : 0;
    }
    return medians > 0 ? all / medians : 1;
}

/* The usual pace of this run; and whether timings of one size, all in all, agree better by that or
 * by the wall clock. */
static void choose_pace(pool_t *pools, int count, pace_t *pace)
{
    double apart[2] = {0};

    for (int side = 0; side < 2; side++) {
        pace->alone[side] = look_quantile(pools, count, side, 1, 0.02);
        pace->latency[side] = look_quantile(pools, count, side, 0, 0.5);
    }
    for (int wall = 0; wall < 2; wall++)
        for (int i = 0; i < count; i++) {
            double spread;

            pace->is_wall = wall;
            sum_up(&pools[i], pace, &spread);
            apart[wall] += spread;
        }
    pace->is_wall = apart[1] <= apart[0];
}

#endif
