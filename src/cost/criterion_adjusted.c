/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adjusted R^2: what is left of the variance is divided by the degrees of freedom that are left,
 * so that a coefficient must pay for itself. Still dominated by the largest times.
 *
 *   1 - adjusted R^2 = (1 - R^2) (n - 1) / (n - terms)
 */
#include "cost/criterion.h"

static double weight(double t)
{
    (void)t;
    return 1;
}

static double score(const cost_trial_t *trial)
{
    return cost_unexplained(trial) * (double)(trial->points - 1) /
           (double)(trial->points - (size_t)trial->terms);
}

const cost_criterion_t criterion_adjusted = {
    .name = "adjusted",
    .describe = "largest adjusted R^2: a coefficient must pay for itself",
    .weight = weight,
    .score = score,
    .slack = 1,
    .floor = 1e-12,
};
