/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/criterion.h"

#include <math.h>
#include <string.h>

#include "cost/fit.h"

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
static double relative_weight(double t)
{
    return 1 / t;
}

static double relative_score(const cost_trial_t *trial)
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

static const cost_criterion_t relative = {
    .name = "relative",
    .describe = "least relative error when each sample is left out in turn",
    .weight = relative_weight,
    .score = relative_score,
    .slack = 1.1,
    .gain = 4,
    .floor = 1e-5,
};

/* 1 - R^2: the share of the variance that is left; 0 when there is no variance to explain. */
static double unexplained(const cost_trial_t *trial)
{
    double mean = 0, left = 0, all = 0;

    for (size_t i = 0; i < trial->points; i++)
        mean += trial->t[i] / (double)trial->points;
    for (size_t i = 0; i < trial->points; i++) {
        left += (trial->t[i] - trial->fitted[i]) * (trial->t[i] - trial->fitted[i]);
        all += (trial->t[i] - mean) * (trial->t[i] - mean);
    }
    return all > 0 ? left / all : 0;
}

/*
 * Adjusted R^2: what is left of the variance is divided by the degrees of freedom that are left,
 * so that a coefficient must pay for itself. Still dominated by the largest times.
 *
 *   1 - adjusted R^2 = (1 - R^2) (n - 1) / (n - terms)
 */
static double one(double t)
{
    (void)t;
    return 1;
}

static double adjusted_score(const cost_trial_t *trial)
{
    return unexplained(trial) * (double)(trial->points - 1) /
           (double)(trial->points - (size_t)trial->terms);
}

static const cost_criterion_t adjusted = {
    .name = "adjusted",
    .describe = "largest adjusted R^2: a coefficient must pay for itself",
    .weight = one,
    .score = adjusted_score,
    .slack = 1,
    .floor = 1e-12,
};

/*
 * R^2, as in Achour's thesis: least squares of the seconds, and the degree that leaves least of
 * their variance. It always grows with the degree, so that it prefers to follow the noise, and the
 * largest times decide alone; it is here to compare with.
 *
 *   t = 1 2 3 4 + noise        degree 0  R^2 0.00       degree 1  0.98      degree 2  0.99 <- taken
 */
static const cost_criterion_t r2 = {
    .name = "r2",
    .describe = "largest R^2 of the seconds; prefers high degrees and large sizes",
    .weight = one,
    .score = unexplained,
    .slack = 1,
    .floor = 1e-12,
};

/* The default first, ended by NULL. */
static const cost_criterion_t *const criteria[] = {&relative, &adjusted, &r2, NULL};

enum { CRITERIA = sizeof(criteria) / sizeof(criteria[0]) };

const cost_criterion_t *cost_criterion_find(const char *name)
{
    if (name == NULL)
        return criteria[0];
    for (size_t i = 0; criteria[i] != NULL; i++)
        if (strcmp(criteria[i]->name, name) == 0)
            return criteria[i];
    return NULL;
}

const char *const *xy_fit_criteria(void)
{
    static const char *const names[CRITERIA] = {"relative", "adjusted", "r2", NULL};

    return names;
}

const char *xy_fit_criterion_text(const char *name)
{
    const cost_criterion_t *criterion = cost_criterion_find(name);

    return criterion != NULL ? criterion->describe : NULL;
}
