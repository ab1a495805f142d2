/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/criterion.h"

#include <string.h>

#include "cost/fit.h"

extern const cost_criterion_t criterion_adjusted;
extern const cost_criterion_t criterion_r2;
extern const cost_criterion_t criterion_relative;

/* The default first, ended by NULL. */
static const cost_criterion_t *const criteria[] = {
    &criterion_relative,
    &criterion_adjusted,
    &criterion_r2,
    NULL,
};

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

double cost_unexplained(const cost_trial_t *trial)
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
