/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One size of a kernel, measured on one or several visits (private to the room).
 *
 *   st = cost_point_visit(&worker, 1500, 0.5, &p);
 *   while (cost_point_is_doubtful(&p, is_paced) && there is time)
 *       st = cost_point_visit(&worker, 1500, 0.5, &p);
 *
 * Disturbances come and go by the second, so a size that met one is better visited again later than
 * measured longer.
 */
#ifndef XY_COST_POINT_H
#define XY_COST_POINT_H

#include "cost/fit.h"
#include "cost/worker.h"

typedef struct {
    double x, seconds, paced, spread;
    long repetitions, alone; /* alone: of the visit that counts */
    int visits;              /* 0: none yet */
    bool is_vouched;         /* two visits agreed on it */
} cost_point_t;

enum { COST_VISITS_MAX = 6 };

/* Two times that are no further apart are the same; relative. */
extern const double cost_point_sure;

/* Measure size n for about `seconds`, and merge that into what earlier visits said. Fails as
 * cost_worker_measure does. */
xy_status_t cost_point_visit(cost_worker_t *worker, double n, double seconds, cost_point_t *p);

/* Worth another visit: it was disturbed (where pace is known: `is_paced`), or its runs differ. */
bool cost_point_is_doubtful(const cost_point_t *p, bool is_paced);

xy_sample_t cost_point_sample(const cost_point_t *p, bool is_paced);

/* How long to measure something that takes `expected`: enough repetitions to be tight. */
double cost_point_time(double expected);

#endif
