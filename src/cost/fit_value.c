/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of a model at a size, inside and outside of what was measured. */
#include <math.h>

#include "cost/polynomial.h"

static double inside(const xy_interval_t *interval, double x)
{
    double value = cost_polynomial_value(interval, x);

    /* A fit does not fall below zero here; a file from elsewhere could. */
    return value > 0 ? value : 0;
}

/* The exponent p of t ~ x^p at one end of an interval, seen across the nearest tenth of it. A
 * polynomial itself would soon follow its highest power, or turn negative. */
static double exponent(const xy_interval_t *interval, bool at_end)
{
    double near = at_end ? interval->end : interval->start;
    double far = at_end ? interval->end - (interval->end - interval->start) / 10
                        : interval->start + (interval->end - interval->start) / 10;
    double a = inside(interval, near), b = inside(interval, far);
    double p;

    if (!(near > 0 && far > 0 && near != far && a > 0 && b > 0))
        return 0;
    p = log(a / b) / log(near / far);
    return fmin(fmax(p, 0), XY_FIT_DEGREE_MAX);
}

xy_estimate_t xy_fit_value(const xy_fit_t *fit, double x)
{
    const xy_interval_t *last = &fit->intervals[fit->count - 1], *interval = fit->intervals;
    xy_estimate_t e = {0};

    while (interval < last && x > interval->end)
        interval++;
    e.interval = (size_t)(interval - fit->intervals);
    e.error = interval->error_max;
    e.is_extrapolated = x < fit->intervals[0].start || x > last->end;
    if (!e.is_extrapolated) {
        e.seconds = inside(interval, x);
    } else {
        bool at_end = x > last->end;
        double edge = at_end ? interval->end : interval->start;

        e.seconds = edge > 0 ? inside(interval, edge) * pow(x / edge, exponent(interval, at_end))
                             : inside(interval, edge);
    }
    /* Coefficients of a file may be beyond all reason. */
    if (!(e.seconds >= 0))
        e.seconds = 0;
    return e;
}
