/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Curves on intervals by the least price (private to the component).
 *
 *   o  o  o                    each sample costs its squared error, in units of the noise; an
 *            \o                interval costs ln n for each coefficient and for its border, what
 *              o  o  o  o      they must gain (Schwarz's criterion); an outlier 2 ln n
 *
 * Dynamic programming finds the cheapest explanation. So every interval pays for itself, and a
 * single sample above its neighbours is an outlier and no interval.
 */
#ifndef XY_COST_SEGMENT_H
#define XY_COST_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

enum { COST_SEGMENT_TERMS_MAX = 3 };

typedef struct {
    const double *x, *y; /* x increases */
    const double *scale; /* errors are divided by these; NULL: by 1 */
    size_t n;
    int terms;    /* 2: lines that do not fall; 3: parabolas */
    size_t least; /* samples that a segment has at least beside its outliers */
    double noise; /* > 0 */
    size_t most;  /* segments; 0: any number */
    double far;   /* outliers are so far above, in errors; INFINITY: there are none */
} cost_points_t;

typedef struct {
    size_t first, end;                /* samples */
    double c[COST_SEGMENT_TERMS_MAX]; /* y = c[0] + c[1] u + c[2] u^2, u = x - x[first] */
} cost_segment_t;

/* How far samples are from what their two neighbours say, as a standard deviation of log(t); where
 * there may be spikes of the quieter ones, so that neither a fifth of spikes nor some jumps change
 * it much. At least `least`, at most 7 %. x > 0 increases, t > 0. ENOMEM is reported. */
xy_status_t cost_noise(const double *x, const double *t, size_t n, double least, bool has_spikes,
                       double *noise_p);

/* The segments, in order, at most n of them; marks[i] (may be NULL when there are no outliers): i
 * is one. ENOMEM is reported. n > 0. */
xy_status_t cost_segments(const cost_points_t *points, cost_segment_t *segments, size_t *count_p,
                          bool *marks);

/* The value of a segment at sample i. */
double cost_segment_value(const cost_points_t *points, const cost_segment_t *segment, size_t i);

#endif
