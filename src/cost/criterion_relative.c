/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cross-validated relative error, the default. Each sample in turn is left out and predicted by
 * the polynomial of the others; the degree with the least mean square of these relative errors
 * wins, and a lower one that is nearly as good is preferred. Nothing is fitted again for this: the
 * error of a sample that was left out is its residual / (1 - leverage).
 *
 *   leverage  |\                       /|      at the ends a sample stands alone, and a polynomial
 *             | \___________________ _/ |      of high degree runs through it whatever its value;
 *             '--------------------------'     its residual is small, its leverage says why
 *
 * Relative errors count because a prediction is wanted at small sizes as much as at large ones:
 * the weights 1/t make 1 % of a microsecond as bad as 1 % of an hour.
 */
#include <math.h>

#include "cost/criterion.h"

static double weight(double t)
{
    return 1 / t;
}

static double score(const cost_trial_t *trial)
{
    double sum = 0;

    for (size_t i = 0; i < trial->points; i++) {
        double left = 1 - trial->leverage[i];
        double error =
            (trial->t[i] - trial->fitted[i]) / (trial->t[i] * (left > 1e-9 ? left : 1e-9));

        sum += error * error;
    }
    return sqrt(sum / (double)trial->points);
}

const cost_criterion_t criterion_relative = {
    .name = "relative",
    .describe = "least relative error when each sample is left out in turn",
    .weight = weight,
    .score = score,
    .slack = 1.1,
    .gain = 4,
    .floor = 1e-5,
};
