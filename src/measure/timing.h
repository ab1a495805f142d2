/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timing something until the answer is tight (private to the component).
 *
 *   measure_pool_t pool = {0};
 *   code = measure_repeat(run, NULL, arg, &limits, &pool);      (again later, into the same pool)
 *   measure_time_t m = measure_pool_sum(&pool);
 *
 * A run is timed by the wall clock less the time this thread waited for a processor, which Linux
 * counts (schedstat): the work of others is no cost of the kernel. While it runs the pace of the
 * core is watched (interference.h), and the run is also given as it would be at the reference pace
 * on a core of its own. Runs of one thing are kept in a pool, which may be filled on several
 * visits. The median of the undisturbed runs counts; where they are fewer than five, the half that
 * was disturbed least.
 *
 * Where pace does not matter, the K-best scheme (Bryant and O'Hallaron) is used: the second
 * fastest, and how far the three fastest agree.
 */
#ifndef XY_MEASURE_TIMING_H
#define XY_MEASURE_TIMING_H

#include <stdbool.h>

#include "measure/cpu_speed.h"

typedef struct {
    double seconds;   /* by the wall clock */
    double paced;     /* at the reference pace; the same where there is none */
    double spread;    /* how far the runs that count agree, relative */
    double error;     /* half of the 95 % confidence interval, relative */
    double disturbed; /* the most of those that count, 0 to 1 */
    double typical;   /* the median of all runs, disturbed or not */
    long repetitions; /* 0: it could not be run */
    long counted;     /* of them */
} measure_time_t;

typedef struct {
    double seconds, paced, disturbed;
} measure_run_t;

enum { COST_POOL_MAX = 48 };

/* The runs of one thing: when there are more, those that were disturbed least, and of these the
 * last; those that were fastest where there is no pace. */
typedef struct {
    measure_run_t run[COST_POOL_MAX];
    long count, repetitions;
    bool is_paced;
    double typical;     /* of the last visit */
    long looks, below;  /* interference.h */
    double below_ratio; /* of the last visit */
} measure_pool_t;

typedef struct {
    double tight;                     /* relative */
    double seconds_max;               /* in all; `runs_min` runs are made in any case */
    long runs_min;                    /* 0: three */
    bool is_threaded;                 /* it has threads of its own: the wall clock alone counts */
    bool may_interrupt;               /* its system calls, if any, may return early */
    const measure_speed_t *reference; /* NULL: pace does not matter */
} measure_limits_t;

/* Run once; nonzero: it failed, and the measurement ends. */
typedef int (*measure_run_fn)(void *arg);

/* `before` (may be NULL) puts things in order before each run, and is not timed. Runs that may meet
 * cold caches are not counted, and those of a few microseconds are timed in batches, unless there
 * is a `before`. Adds to the pool. Returns 0, or what the run returned. */
int measure_repeat(measure_run_fn run, measure_run_fn before, void *arg,
                   const measure_limits_t *limits, measure_pool_t *pool);

void measure_pool_add(measure_pool_t *pool, measure_run_t run);
measure_time_t measure_pool_sum(const measure_pool_t *pool); /* zeros for an empty one */

/* Seconds of the monotonic clock. */
double measure_now(void);

/* The median of `n` values, which are sorted, and half of its 95 % confidence interval, relative.
 */
double measure_median(double *values, long n, double *spread_p);
/* The result of `n` runs by K-best; the values are sorted. */
measure_time_t measure_best(double *values, long n);

/* Keep a core busy until its frequency has risen. */
void measure_warm_up(double seconds);

#endif
