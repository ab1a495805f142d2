/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timing something until the answer is tight (private to the room).
 *
 * A run is timed by the wall clock less the time this thread waited for a processor, which Linux
 * counts (schedstat): what others did meanwhile is no cost of the kernel. What others do to shared
 * caches and to the other thread of a core still is, and only ever adds. So the K-best scheme
 * (Bryant and O'Hallaron) is used: runs go on until the three fastest agree within `tight`, or the
 * time is up; the result is the second of them. Medians jump by the half when a neighbour wakes up;
 * this stays, and outliers never come near it.
 */
#ifndef XY_COST_MEASURE_H
#define XY_COST_MEASURE_H

#include <stdbool.h>

typedef struct {
    double seconds;   /* the second fastest run */
    double spread;    /* from the fastest run to the third, relative */
    double typical;   /* the median run */
    long repetitions; /* 0: it could not be run */
} cost_measure_t;

typedef struct {
    double tight;       /* relative */
    double seconds_max; /* in all; at least three runs are made */
    bool is_threaded;   /* it has threads of its own: the wall clock alone counts */
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
