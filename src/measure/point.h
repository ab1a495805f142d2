/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One size of a kernel, measured on several visits (private to the component).
 *
 *   while (measure_point_is_doubtful(&p, is_paced) && there is time)
 *       st = measure_point_visit(&worker, 1500, measure_point_time(0.1), &p);
 *
 * Disturbances come and go by the second, so that sizes are visited in turn, each for a short time,
 * and again later, rather than each once for long. The runs of all visits are one pool.
 */
#ifndef XY_MEASURE_POINT_H
#define XY_MEASURE_POINT_H

#include "cost/cost.h"
#include "measure/child.h"

typedef struct {
    double x, seconds, paced;
    double spread;    /* how far runs agree; 1: not at all */
    double error;     /* half the confidence interval, relative */
    double disturbed; /* timing.h */
    long repetitions;
    int visits; /* 0: none yet */
    measure_pool_t pool;
} measure_point_t;

enum { COST_VISITS_MAX = 12 };

/* Measure size n for about `seconds`, and add that to what earlier visits said. Fails as
 * measure_child_measure does. */
xy_status_t measure_point_visit(measure_child_t *worker, double n, double seconds,
                                measure_point_t *p);

/* Worth another visit: it was seen at too few times, it was disturbed (where pace is known:
 * `is_paced`), or its runs differ. */
bool measure_point_is_doubtful(const measure_point_t *p, bool is_paced);

xy_sample_t measure_point_sample(const measure_point_t *p, bool is_paced);

/* How long a visit to something that takes `expected` should be. */
double measure_point_time(double expected);

#endif
