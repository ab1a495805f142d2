/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Criteria (private to the component): which degree is best. Each ends in one table.
 */
#ifndef XY_COST_CRITERION_H
#define XY_COST_CRITERION_H

#include <stddef.h>

/* One polynomial on the samples it was fitted to. */
typedef struct {
    size_t points;
    int terms;              /* coefficients: degree + 1, less than points */
    const double *t;        /* measured */
    const double *fitted;   /* by the polynomial */
    const double *leverage; /* 0..1: how much of fitted[i] is due to t[i] itself */
} cost_trial_t;

typedef struct {
    const char *name;
    const char *describe;
    double (*weight)(double t);                 /* of a residual at time t, before it is squared */
    double (*score)(const cost_trial_t *trial); /* less is better; 0 is perfect */
    double slack; /* a lower degree is kept when its score is within this factor of the best */
    /* Samples are also fitted apart where that divides the mean square of the score by this; 0:
     * only where a run of them is missed. The score is then a relative error. */
    double gain;
    double floor; /* scores below this are all perfect: what is left is rounding */
} cost_criterion_t;

const cost_criterion_t *cost_criterion_find(const char *name); /* NULL: the default, or none */

#endif
