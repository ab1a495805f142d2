/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * R^2, as in Achour's thesis: least squares of the seconds, and the degree that leaves least of
 * their variance. It always grows with the degree, so that it prefers to follow the noise, and the
 * largest times decide alone; it is here to compare with.
 *
 *   t = 1 2 3 4 + noise        degree 0  R^2 0.00       degree 1  0.98      degree 2  0.99 <- taken
 */
#include "cost/criterion.h"

static double weight(double t)
{
    (void)t;
    return 1;
}

const cost_criterion_t criterion_r2 = {
    .name = "r2",
    .describe = "largest R^2 of the seconds; prefers high degrees and large sizes",
    .weight = weight,
    .score = cost_unexplained,
    .slack = 1,
    .floor = 1e-12,
};
