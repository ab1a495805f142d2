/* SPDX-License-Identifier: BSD-3-Clause */
/* One polynomial on a run of samples (private to the component). */
#ifndef XY_COST_POLYNOMIAL_H
#define XY_COST_POLYNOMIAL_H

#include "cost/criterion.h"
#include "cost/fit.h"

typedef struct {
    const xy_sample_t *samples; /* by size, each size once */
    size_t count;
    const cost_criterion_t *criterion;
    int degree_max;
    double *work; /* cost_polynomial_work(count) values */
} cost_regression_t;

size_t cost_polynomial_work(size_t count);

/* The best polynomial, by the criterion, for samples first .. end - 1 (at least one), with its
 * interval, errors and score. Above the first sample's left neighbour it stays near the samples:
 * between two of them never below half of the lesser or above twice the greater. A constant when
 * nothing else does. Load LAPACKE first. */
void cost_polynomial_fit(const cost_regression_t *r, size_t first, size_t end,
                         xy_interval_t *interval_p, double *score_p);

double cost_polynomial_value(const xy_interval_t *interval, double x);

#endif
