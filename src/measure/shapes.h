/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels with several sizes: the times of unequal sizes, relative to equal ones (private to the
 * component).
 *
 *   measure_shapes_t shapes = {.what = "kernel dgemm", .form = xy_kernel_form("dgemm"), ...};
 *   st = measure_shapes_run(&shapes, &kernel.shape);
 *
 * Shapes are drawn at random, up to 32 times as long as wide, with as much work as the sizes that
 * were measured before. One in four is held out. Shapes that are much slower than the model of the
 * others are measured again; the faster time counts.
 */
#ifndef XY_MEASURE_SHAPES_H
#define XY_MEASURE_SHAPES_H

#include "cost/cost.h"
#include "measure/timing.h"

typedef struct {
    const char *what;             /* for messages */
    const xy_kernel_form_t *form; /* has several sizes */
    const xy_fit_t *cubes;        /* the model of equal sizes */
    /* Measure a call with these sizes in about `seconds`; the seconds it takes. */
    xy_status_t (*measure)(void *arg, const double *sizes, double seconds, double *t_p);
    void *arg;
    double seconds; /* for everything; some shapes are measured in any case */
} measure_shapes_t;

/* On success the caller cleans *shape_p up. EINVAL: too noisy, which was reported. */
xy_status_t measure_shapes_run(const measure_shapes_t *shapes, xy_shape_t *shape_p);

#endif
