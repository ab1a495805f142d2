/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/polynomial.h"

#include <math.h>

#include "cost/lapack.h"

/* The memory of one trial, cut from the caller's work space. */
typedef struct {
    double *matrix, *right, *t, *fitted, *leverage;
} space_t;

size_t cost_polynomial_work(size_t count)
{
    return count * (XY_FIT_TERMS_MAX + 4);
}

static space_t cut(double *work, size_t points)
{
    space_t s = {.matrix = work};

    s.right = s.matrix + points * XY_FIT_TERMS_MAX;
    s.t = s.right + points;
    s.fitted = s.t + points;
    s.leverage = s.fitted + points;
    return s;
}

double cost_polynomial_value(const xy_interval_t *interval, double x)
{
    double value = 0;

    for (int k = interval->degree; k >= 0; k--)
        value = value * x + interval->params[k];
    return value;
}

/* Weighted least squares in x / scale, so that all columns are of one magnitude. */
static bool solve(const cost_regression_t *r, size_t first, size_t points, int degree,
                  const space_t *s, xy_interval_t *p)
{
    const xy_sample_t *samples = r->samples + first;
    double scale = samples[points - 1].x, c[XY_FIT_TERMS_MAX], power = 1;
    size_t terms = (size_t)degree + 1;

    for (size_t i = 0; i < points; i++) {
        double weight = r->criterion->weight(samples[i].t), column = weight;

        for (size_t k = 0; k < terms; k++, column *= samples[i].x / scale)
            s->matrix[k * points + i] = column;
        s->right[i] = weight * samples[i].t;
    }
    if (!cost_least_squares(s->matrix, points, terms, s->right, c, s->leverage))
        return false;
    p->degree = degree;
    for (size_t k = 0; k < terms; k++, power *= scale) {
        p->params[k] = c[k] / power;
        if (!isfinite(p->params[k]))
            return false;
    }
    return true;
}

/* Between two neighbours only their own times show what to expect: a polynomial that runs
 * away there is of no use, however well it meets the samples. */
static bool is_near_samples(const cost_regression_t *r, size_t first, size_t end,
                            const xy_interval_t *p)
{
    enum { PROBES = 64 };
    const double slack = 1.4;

    for (size_t i = first > 0 ? first - 1 : first; i + 1 < end; i++) {
        const xy_sample_t *a = &r->samples[i], *b = a + 1;
        double low = fmin(a->t, b->t) / slack, high = fmax(a->t, b->t) * slack;

        for (int k = 0; k <= PROBES; k++) {
            double value = cost_polynomial_value(p, a->x + (b->x - a->x) * k / PROBES);

            if (!(value >= low && value <= high))
                return false;
        }
    }
    return true;
}

/* Returns the score of a polynomial on the samples, by the criterion of the regression. */
static double score_of(const cost_regression_t *r, size_t first, size_t points, const space_t *s,
                       const xy_interval_t *p)
{
    for (size_t i = 0; i < points; i++) {
        s->t[i] = r->samples[first + i].t;
        s->fitted[i] = cost_polynomial_value(p, r->samples[first + i].x);
    }
    return r->criterion->score(&(cost_trial_t){
        .points = points,
        .terms = p->degree + 1,
        .t = s->t,
        .fitted = s->fitted,
        .leverage = s->leverage,
    });
}

/* A constant that halves the relative distance between the extremes: always possible. */
static void fit_constant(const cost_regression_t *r, size_t first, size_t end, xy_interval_t *p)
{
    double low = r->samples[first].t, high = low;

    for (size_t i = first + 1; i < end; i++) {
        low = fmin(low, r->samples[i].t);
        high = fmax(high, r->samples[i].t);
    }
    *p = (xy_interval_t){.params = {sqrt(low) * sqrt(high)}};
}

/* Sets range and relative errors of an interval from its samples. */
static void measure_errors(const cost_regression_t *r, size_t first, size_t end, xy_interval_t *p)
{
    p->start = r->samples[first > 0 ? first - 1 : first].x;
    p->end = r->samples[end - 1].x;
    p->samples = (long)(end - first);
    p->error_mean = p->error_max = 0;
    for (size_t i = first; i < end; i++) {
        double t = r->samples[i].t;
        double error = fabs(cost_polynomial_value(p, r->samples[i].x) - t) / t;

        p->error_mean += error / (double)(end - first);
        p->error_max = fmax(p->error_max, error);
    }
}

void cost_polynomial_fit(const cost_regression_t *r, size_t first, size_t end,
                         xy_interval_t *interval_p, double *score_p)
{
    size_t points = end - first;
    space_t s = cut(r->work, points);
    xy_interval_t best, trials[XY_FIT_TERMS_MAX];
    double scores[XY_FIT_TERMS_MAX], least = INFINITY;
    /* One sample more than coefficients, so that there is something to judge by; two samples are
     * joined by a line. */
    int highest = points <= 2 ? (int)points - 1 : (int)fmin((double)points - 2, r->degree_max);

    fit_constant(r, first, end, &best);
    for (int d = 0; d <= highest && d <= r->degree_max; d++) {
        trials[d] = (xy_interval_t){0};
        scores[d] = INFINITY;
        if (solve(r, first, points, d, &s, &trials[d]) &&
            is_near_samples(r, first, end, &trials[d]))
            scores[d] = fmax(score_of(r, first, points, &s, &trials[d]), r->criterion->floor);
        least = fmin(least, scores[d]);
    }
    for (int d = 0; d <= highest && d <= r->degree_max; d++)
        if (isfinite(scores[d]) && scores[d] <= least * r->criterion->slack) {
            best = trials[d];
            least = scores[d];
            break;
        }
    measure_errors(r, first, end, &best);
    *score_p = isfinite(least) ? least : best.error_max;
    *interval_p = best;
}
