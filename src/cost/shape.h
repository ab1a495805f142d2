/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels with several sizes: dgemm(m, n, k), dsyrk(n, k), dtrsm(m, n), ...
 *
 *   const double sizes[] = {185, 185, 5000};
 *   xy_estimate_t e;
 *   st = xy_cost_kernel_value(costs, "cblas_dgemm", "griffon", sizes, 3, &e);      (e.seconds)
 *
 * The model of one size gives the time of a kernel when all sizes are equal. Other shapes are
 * compared with equal sizes of the same work, s = (m n k)^(1/3) for dgemm:
 *
 *   T(m, n, k) = T(s, s, s) S(m, n, k) / S(s, s, s),   S(m, n, k) = m n k + a m n + b m k + ...
 *
 * S is the work and its overhead: reading and writing the matrices, calling. Its coefficients are
 * not negative, so that the time is never negative and grows with each size, also outside of the
 * measured range. Without a shape S is the work alone. Nothing here parks; any thread may ask.
 */
#ifndef XY_COST_SHAPE_H
#define XY_COST_SHAPE_H

#include "cost/fit.h"

enum { XY_SIZES_MAX = 3, XY_SHAPE_TERMS_MAX = 6 };

/* seconds != 0: measured. */
typedef struct {
    double size[XY_SIZES_MAX];
    double t, spread;
    bool is_held; /* measured, but not shown to the model */
} xy_shape_sample_t;

typedef struct {
    unsigned char power[XY_SIZES_MAX]; /* of each size */
    double factor;                     /* > 0 */
} xy_shape_term_t;

typedef struct {
    size_t sizes; /* 0: the kernel has no shape */
    char name[XY_SIZES_MAX][16];
    unsigned char work[XY_SIZES_MAX]; /* the powers of the work; its factor is 1 */
    xy_shape_term_t term[XY_SHAPE_TERMS_MAX];
    size_t count; /* of terms beside the work */
    xy_shape_sample_t *samples;
    size_t sample_count;
    double aspect; /* the largest ratio of two sizes that was measured */
    /* Relative, of the samples that were shown, and the mean of those that were not (0: none). */
    double error_mean, error_max, held_out;
} xy_shape_t;

/* The properties of a kernel that need no measurement. */
typedef struct {
    const char *name;                          /* "dgemm" */
    size_t sizes;                              /* 1: a single one */
    const char *size_name[XY_SIZES_MAX];       /* "m", "n", "k" */
    unsigned char work[XY_SIZES_MAX];          /* zeros: not a product; `operations` counts */
    double (*operations)(const double *sizes); /* NULL: the product of the powers */
    int degree;                                /* operations grow so with all sizes at once */
    unsigned char beside[XY_SHAPE_TERMS_MAX][XY_SIZES_MAX]; /* candidates for terms */
    size_t beside_count;                                    /* 0: only the work is compared */
} xy_kernel_form_t;

/* Without "cblas_", "LAPACKE_" and "clapack_" in front. */
const char *xy_kernel_base_name(const char *name);
const xy_kernel_form_t *xy_kernel_form(const char *name); /* NULL: nothing is known of it */

/* The equal sizes with the same work: by the shape, else by the form, else the geometric mean. Both
 * may be NULL. 0 when a size is 0. */
double xy_kernel_equal_size(const xy_shape_t *shape, const xy_kernel_form_t *form,
                            const double *sizes, size_t count);

/* S(sizes) / S(s, s, s), with s of the same work; sizes are positive. */
double xy_shape_ratio(const xy_shape_t *shape, const double *sizes);

/* Fit the shape of a kernel with `form` to samples of different shapes, with `cubes`, its model for
 * equal sizes. A term pays for itself, or it is left out: it must lessen the error of samples that
 * are left out in turn by a tenth. `*shape_p` gets its own copy of the samples, which the caller
 * cleans up on success. EINVAL: no samples, a size or time that is not positive, a form without
 * several sizes. Loads LAPACKE. */
xy_status_t xy_shape_fit(const xy_kernel_form_t *form, const xy_fit_t *cubes,
                         const xy_shape_sample_t *samples, size_t count, xy_shape_t *shape_p);
void xy_shape_cleanup(xy_shape_t *shape); /* of a zeroed one too */

#endif
