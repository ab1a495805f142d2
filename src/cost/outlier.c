/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/outlier.h"

#include <math.h>
#include <string.h>

enum { SIDE = 3, GROUP_MAX = 2 };

/* How far above the others, in powers of e, and how many times what these differ. */
static const double far = 0.2, times = 3;

typedef struct {
    const double *x, *t;
    size_t n;
    bool *is_out;
} view_t;

/* log(t) at sample i, seen from a straight line in logarithms through samples a and b: how far it
 * is above it. */
static double above(const view_t *v, size_t a, size_t b, size_t i)
{
    double part = (log(v->x[i]) - log(v->x[a])) / (log(v->x[b]) - log(v->x[a]));

    return log(v->t[i]) - (log(v->t[a]) + part * (log(v->t[b]) - log(v->t[a])));
}

/* Up to SIDE samples that are not marked before `first` (or from `first` on), the nearest first. */
static size_t find_side(const view_t *v, size_t first, bool is_before, size_t side[SIDE])
{
    size_t count = 0;

    if (is_before)
        for (size_t i = first; i-- > 0 && count < SIDE;)
            if (!v->is_out[i])
                side[count++] = i;
    if (!is_before)
        for (size_t i = first; i < v->n && count < SIDE; i++)
            if (!v->is_out[i])
                side[count++] = i;
    return count;
}

/* How far the nearest samples of both sides are from what the rest of their side and the other side
 * say; one of the rest may be an outlier itself. INFINITY: there are too few. */
static double disagreement(const view_t *v, const size_t *left, size_t lefts, const size_t *right,
                           size_t rights)
{
    double l = INFINITY, r = INFINITY;

    for (size_t k = 1; k < lefts; k++)
        l = fmin(l, fabs(above(v, left[k], right[0], left[0])));
    for (size_t k = 1; k < rights; k++)
        r = fmin(r, fabs(above(v, left[0], right[k], right[0])));
    return fmax(l, r);
}

/* Whether the samples first .. end - 1, none of which is marked, are outliers. */
static bool is_outlier(const view_t *v, size_t first, size_t end)
{
    size_t left[SIDE], right[SIDE];
    size_t lefts = find_side(v, first, true, left), rights = find_side(v, end, false, right);
    double limit;

    if (lefts < 2 || rights < 2)
        return false;
    limit = fmax(far, times * disagreement(v, left, lefts, right, rights));
    for (size_t i = first; i < end; i++)
        if (v->is_out[i] || !(above(v, left[0], right[0], i) > limit))
            return false;
    return true;
}

size_t cost_outliers(const double *x, const double *t, size_t n, bool *is_out)
{
    const view_t v = {.x = x, .t = t, .n = n, .is_out = is_out};
    size_t count = 0, before;

    memset(is_out, 0, n * sizeof(*is_out));
    do {
        before = count;
        for (size_t size = 1; size <= GROUP_MAX; size++)
            for (size_t i = 2; i + size + 2 <= n; i++)
                if (is_outlier(&v, i, i + size)) {
                    memset(is_out + i, 1, size * sizeof(*is_out));
                    count += size;
                }
    } while (count > before && 8 * count <= n);
    if (8 * count <= n)
        return count;
    memset(is_out, 0, n * sizeof(*is_out));
    return 0;
}
