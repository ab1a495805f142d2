/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Refined polynomial regression: a measured time against a size, as polynomials on intervals.
 *
 *   xy_fit_t fit;
 *   st = xy_fit_compute(samples, count, &(xy_fit_options_t){0}, &fit);
 *   xy_estimate_t e = xy_fit_value(&fit, 1500);      (e.seconds, and how far it can be trusted)
 *   xy_fit_cleanup(&fit);
 *
 * Samples that contradict their neighbours are left out. One polynomial of degree 0 to 5 is fitted
 * to all others. Where three or more neighbouring samples are missed by more than 5 %, they are
 * fitted apart, and so on; then the borders move to their best places, and neighbours that one
 * polynomial fits are joined again. An interval must pay for itself (Schwarz's criterion): it
 * reduces the sum of the squared relative errors by more than ln n times the squared noise for each
 * coefficient that it adds and for its border, or it is joined. The noise is the difference of
 * samples from their neighbours, at least 1 %. A criterion, named by a word, chooses the degree
 * (cost/criterion.h lists them).
 *
 * Inside the measured range a value is never negative. Outside it follows the power law that the
 * model has at the end of the range, and is marked.
 *
 * Least squares are solved by LAPACKE, loaded when first needed: the first call must not race with
 * changes to the environment by other threads; later ones may come from any thread. Nothing parks.
 */
#ifndef XY_COST_FIT_H
#define XY_COST_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

enum { XY_FIT_DEGREE_MAX = 5, XY_FIT_TERMS_MAX = XY_FIT_DEGREE_MAX + 1 };

typedef struct {
    double x;         /* the size; > 0 */
    double t;         /* seconds; > 0 */
    double spread;    /* half the confidence interval, relative to t; 0: not known */
    long repetitions; /* how often it was measured; 0: not known */
} xy_sample_t;

typedef struct {
    double start, end; /* valid from start to end; the end of one is the start of the next */
    int degree;
    double params[XY_FIT_TERMS_MAX]; /* params[k] belongs to x^k */
    long samples;
    double error_mean, error_max; /* relative, over its samples */
} xy_interval_t;

typedef struct {
    xy_interval_t *intervals; /* by start */
    size_t count;
    long samples;
    long dropped; /* of them: outliers (outlier.h), on which nothing was fitted; not stored */
    double error_mean, error_max;
} xy_fit_t;

typedef struct {
    const char *criterion; /* NULL: the default */
    double threshold;      /* relative error that splits; 0: 5 % */
    int degree_max;        /* 0: 5 (a constant alone is asked for with -1) */
    bool is_single;        /* one polynomial for everything, as in a simple regression */
} xy_fit_options_t;

typedef struct {
    double seconds; /* never negative */
    double error;   /* relative: of a model in a store the mean at sizes that it was not shown,
                       where that is known; else the largest on its interval */
    bool is_extrapolated; /* outside of what was measured */
    size_t interval;
} xy_estimate_t;

/* Fit samples, in any order; several of one size are one sample, their median. On success the
 * caller cleans *fit_p up; on failure it is untouched. EINVAL: no samples, a size or time that is
 * not positive, an unknown criterion. EUNSUPPORTED: LAPACKE is not here. */
xy_status_t xy_fit_compute(const xy_sample_t *samples, size_t count,
                           const xy_fit_options_t *options, xy_fit_t *fit_p);
void xy_fit_cleanup(xy_fit_t *fit); /* of a zeroed one too */

/* The model at a size >= 0. The fit has at least one interval. */
xy_estimate_t xy_fit_value(const xy_fit_t *fit, double x);

/* The names of the criteria, the default first, ended by NULL; and what one does. */
const char *const *xy_fit_criteria(void);
const char *xy_fit_criterion_text(const char *name); /* NULL: no such criterion */

#endif
