/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/point.h"

#include <math.h>

const double cost_point_sure = 0.02;

/* When half of all runs take so many times as long as the best, there is no saying what it takes: a
 * busy neighbour on the same core does less. */
static const double unsteady = 2.5;

enum { ALONE_ENOUGH = 8 };

double cost_point_time(double expected)
{
    return fmin(fmax(12 * expected, 0.15), 3);
}

/* Of two visits to one size keep the better: the undisturbed one; then the faster, since what was
 * not noticed only adds. Two that agree vouch for each other. */
static void merge(cost_point_t *p, const cost_point_t *visit)
{
    bool was_alone = p->alone >= ALONE_ENOUGH, is_alone = visit->alone >= ALONE_ENOUGH;
    bool is_better = was_alone != is_alone ? is_alone : visit->paced < p->paced;
    double apart = fabs(visit->paced - p->paced) / fmin(visit->paced, p->paced);
    cost_point_t kept = is_better ? *visit : *p;

    if (was_alone == is_alone && apart < kept.spread)
        kept.spread = apart;
    kept.is_vouched = apart < cost_point_sure || (!is_better && p->is_vouched);
    kept.visits = p->visits + 1;
    kept.repetitions = p->repetitions + visit->repetitions;
    *p = kept;
}

xy_status_t cost_point_visit(cost_worker_t *worker, double n, double seconds, cost_point_t *p)
{
    cost_measure_t m;
    cost_point_t visit;
    xy_status_t st = cost_worker_measure(worker, n, seconds, &m);

    if (st != XY_OK)
        return st;
    /* What the clock cannot see took at least something. */
    visit = (cost_point_t){.x = n,
                           .seconds = fmax(m.seconds, 1e-10),
                           .paced = fmax(m.paced, 1e-10),
                           .spread = m.typical > unsteady * m.seconds ? 1 : m.spread,
                           .repetitions = m.repetitions,
                           .alone = m.alone,
                           .visits = 1};
    if (p->visits == 0)
        *p = visit;
    else
        merge(p, &visit);
    return XY_OK;
}

bool cost_point_is_doubtful(const cost_point_t *p, bool is_paced)
{
    return p->visits < COST_VISITS_MAX &&
           ((is_paced && p->alone < ALONE_ENOUGH) || p->spread > cost_point_sure);
}

xy_sample_t cost_point_sample(const cost_point_t *p, bool is_paced)
{
    return (xy_sample_t){.x = p->x,
                         .t = is_paced ? p->paced : p->seconds,
                         .spread = p->spread,
                         .repetitions = p->repetitions};
}
