/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/point.h"

#include <math.h>
#include <stdlib.h>

/* Tight enough: half of the confidence interval. */
static const double sure = 0.01;
/* The most that a core may be shared: beyond that, the time of a core alone is unreliable. */
static const double disturbed_most = 0.05;

/* When half of all runs take so many times as long as the best, there is no saying what it takes: a
 * busy neighbour on the same core does less. */
static const double unsteady = 2.5;

enum { VISITS_MIN = 3, RUNS_MIN = 6, VISIT_RUNS = 8 };

double measure_point_time(double expected)
{
    return fmin(fmax(8 * expected, 0.1), fmax(expected, 0.2));
}

static int by_disturbance(const void *a, const void *b)
{
    const measure_run_t *p = a, *q = b;

    return (p->disturbed > q->disturbed) - (p->disturbed < q->disturbed);
}

/* Merge the least disturbed runs of each visit, the same number of each: a bad visit lasts longer,
 * and must not count more for that. Runs timed by another clock do not mix. */
static void merge(measure_pool_t *pool, measure_pool_t *visit)
{
    long count = visit->is_paced && visit->count > VISIT_RUNS ? VISIT_RUNS : visit->count;

    if (pool->is_paced != visit->is_paced)
        *pool = (measure_pool_t){.is_paced = visit->is_paced};
    qsort(visit->run, (size_t)visit->count, sizeof(*visit->run), by_disturbance);
    for (long i = 0; i < count; i++)
        measure_pool_add(pool, visit->run[i]);
    pool->repetitions += visit->repetitions - count;
    pool->typical = visit->typical;
    pool->looks = visit->looks;
    pool->below = visit->below;
    pool->below_ratio = visit->below_ratio;
}

xy_status_t measure_point_visit(measure_child_t *worker, double n, double seconds,
                                measure_point_t *p)
{
    measure_pool_t visit;
    measure_time_t m;
    xy_status_t st = measure_child_measure(worker, n, seconds, &visit);

    if (st != XY_OK)
        return st;
    merge(&p->pool, &visit);
    m = measure_pool_sum(&p->pool);
    p->x = n;
    p->visits++;
    /* Times below the resolution of the clock count as its resolution. */
    p->seconds = fmax(m.seconds, 1e-10);
    p->paced = fmax(m.paced, 1e-10);
    p->spread = m.typical > unsteady * m.seconds ? 1 : m.spread;
    p->error = m.error;
    p->disturbed = m.disturbed;
    p->repetitions = m.repetitions;
    return XY_OK;
}

bool measure_point_is_doubtful(const measure_point_t *p, bool is_paced)
{
    if (p->visits >= COST_VISITS_MAX)
        return false;
    return p->visits < VISITS_MIN || p->repetitions < RUNS_MIN || p->error > sure ||
           p->spread > 2 * sure || (is_paced && p->disturbed > disturbed_most);
}

xy_sample_t measure_point_sample(const measure_point_t *p, bool is_paced)
{
    return (xy_sample_t){.x = p->x,
                         .t = is_paced ? p->paced : p->seconds,
                         .spread = p->error,
                         .repetitions = p->repetitions};
}
