/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timing something until the answer is tight (private to the room).
 *
 * A run is timed by the wall clock less the time this thread waited for a processor, which Linux
 * counts (schedstat): what others did meanwhile is no cost of the kernel. Before and after each run
 * the pace of the core is taken (cost/pace.h). Runs during which somebody else was on the core are
 * left out, and the others are also told as they would be at the reference pace. Of the runs that
 * remain the lower quartile counts: what was not seen only ever adds. They are enough when the
 * quartile and the tenth agree within `tight`.
 *
 * Where a core is never alone, all runs count, by the K-best scheme (Bryant and O'Hallaron): the
 * second fastest, and how far the three fastest agree.
 */
#ifndef XY_COST_MEASURE_H
#define XY_COST_MEASURE_H

#include <stdbool.h>

#include "cost/pace.h"

typedef struct {
    double seconds;   /* by the wall clock */
    double paced;     /* at the reference pace; the same where there is none */
    double spread;    /* how far the runs agree, relative */
    double typical;   /* the median of all runs, undisturbed or not */
    long repetitions; /* 0: it could not be run */
    long alone;       /* of them, those that nobody disturbed */
} cost_measure_t;

typedef struct {
    double tight;                 /* relative */
    double seconds_max;           /* in all; at least three runs are made */
    bool is_threaded;             /* it has threads of its own: the wall clock alone counts */
    const cost_pace_t *reference; /* NULL: pace does not matter */
} cost_measure_limits_t;

/* Run once; nonzero: it failed, and the measurement ends. */
typedef int (*cost_run_fn)(void *arg);

/* `before` (may be NULL) puts things in order before each run, and is not timed. The first run is
 * not counted. Runs of a few microseconds are timed in batches, unless there is a `before`. Returns
 * 0, or what the run returned. */
int cost_measure(cost_run_fn run, cost_run_fn before, void *arg,
                 const cost_measure_limits_t *limits, cost_measure_t *measure_p);

/* Seconds: the monotonic clock; the time this thread has waited for a processor (0 where the
 * kernel does not tell). */
double cost_now(void);
double cost_waited(void);

/* The median of `n` values, which are sorted, and half of its 95 % confidence interval, relative.
 */
double cost_median(double *values, long n, double *spread_p);
/* What `n` runs say, by K-best; the values are sorted. */
cost_measure_t cost_best(double *values, long n);

/* Keep a core busy until its frequency has risen. */
void cost_warm_up(double seconds);

#endif
