/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/outlier.h"

#include <math.h>

#include "cost/segment.h"

/* How far above, in powers of e; and what is noise in any case. */
static const double far = 0.2, quiet = 0.01;

/* Many samples are looked at in windows that overlap: the work grows with the square. */
enum { WINDOW = 192, OVERLAP = 32 };

typedef struct {
    double *x, *t; /* logarithms */
    double noise;
    cost_segment_t *segments; /* room for a window */
} view_t;

/* Fits segments to `n` points, marks outliers in `is_out` and sets the expected times, if asked
 * for. */
static xy_status_t look(const view_t *v, size_t first, size_t n, bool *is_out, double *expected)
{
    const cost_points_t points = {.x = v->x + first,
                                  .y = v->t + first,
                                  .n = n,
                                  .terms = 3,
                                  .least = 4,
                                  .noise = v->noise,
                                  .far = far};
    size_t count;
    xy_status_t st = cost_segments(&points, v->segments, &count, is_out + first);

    for (size_t k = 0; st == XY_OK && expected != NULL && k < count; k++)
        for (size_t i = v->segments[k].first; i < v->segments[k].end; i++)
            expected[first + i] = exp(cost_segment_value(&points, &v->segments[k], i));
    return st;
}

xy_status_t xy_outliers(const double *x, const double *t, size_t n, bool *is_out, size_t *count_p,
                        double *expected)
{
    view_t v = {.x = xy_calloc(2 * n + 1, sizeof(double)),
                .segments = xy_calloc(WINDOW, sizeof(cost_segment_t))};
    double least = INFINITY;
    xy_status_t st = v.x != NULL && v.segments != NULL ? XY_OK : xy_fail_memory("fitting a model");

    if (st == XY_OK)
        st = cost_noise(x, t, n, quiet, true, &v.noise);
    for (size_t i = 0; st == XY_OK && i < n; i++) {
        v.t = v.x + n;
        v.x[i] = log(x[i]);
        v.t[i] = log(t[i]);
    }
    for (size_t first = 0; st == XY_OK && first < n; first += WINDOW - OVERLAP) {
        size_t length = n - first < WINDOW ? n - first : WINDOW;

        st = look(&v, first, length, is_out, expected);
        if (first + length == n)
            break;
    }
    *count_p = 0;
    for (size_t i = 0; st == XY_OK && i < n; i++) {
        *count_p += is_out[i];
        least = is_out[i] ? least : fmin(least, t[i]);
    }
    /* A line may fall far beside the samples. */
    for (size_t i = 0; st == XY_OK && expected != NULL && i < n; i++)
        expected[i] = fmax(expected[i], least);
    xy_free(v.x);
    xy_free(v.segments);
    return st;
}
