/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progressive linear regression.
 *
 *   o---o---o          the line still explains the third sample: continue
 *             \o---o   not the fourth: close at the third, and start the next line there
 */
#include <math.h>

#include "cost/message_model.h"

/* Flat data has no variance to explain, and any R^2. */
static const double always_good = 0.02;

/* The line of least squares relative to y, so that short messages count as much as long ones. */
static xy_line_t fit_line(const double *x, const double *y, size_t n)
{
    double w = 0, mx = 0, my = 0, xx = 0, xy = 0;
    xy_line_t line = {.start = x[0], .end = x[n - 1], .samples = (long)n};

    for (size_t i = 0; i < n; i++) {
        double weight = 1 / (y[i] * y[i]);

        w += weight;
        mx += weight * x[i];
        my += weight * y[i];
    }
    mx /= w, my /= w;
    for (size_t i = 0; i < n; i++) {
        double weight = 1 / (y[i] * y[i]);

        xx += weight * (x[i] - mx) * (x[i] - mx);
        xy += weight * (x[i] - mx) * (y[i] - my);
    }
    line.a = xx > 0 ? xy / xx : 0;
    line.b = my - line.a * mx;
    for (size_t i = 0; i < n; i++)
        line.error_max = fmax(line.error_max, fabs(line.a * x[i] + line.b - y[i]) / y[i]);
    return line;
}

/* Returns the coefficient of determination of a line. */
static double r_squared(const xy_line_t *line, const double *x, const double *y, size_t n)
{
    double mean = 0, left = 0, all = 0;

    for (size_t i = 0; i < n; i++)
        mean += y[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        double residual = line->a * x[i] + line->b - y[i];

        left += residual * residual;
        all += (y[i] - mean) * (y[i] - mean);
    }
    return all > 0 ? 1 - left / all : 1;
}

static bool is_good(const xy_line_t *line, const double *x, const double *y, size_t n,
                    double r2_min, double error_max)
{
    if (line->error_max <= always_good)
        return true;
    return line->error_max <= error_max && r_squared(line, x, y, n) >= r2_min;
}

xy_status_t xy_progressive_fit(const double *x, const double *y, size_t count, double r2_min,
                               double error_max, xy_lines_t *lines_p)
{
    xy_vec_t lines = XY_VEC_INIT(xy_line_t);

    for (size_t i = 0; i < count; i++)
        if (!(y[i] > 0) || (i > 0 && !(x[i] > x[i - 1])))
            return XY_EINVAL;
    if (count == 0)
        return XY_EINVAL;
    for (size_t first = 0, n; first == 0 || first + 1 < count; first += n - 1) {
        xy_line_t line = fit_line(x + first, y + first, count - first < 2 ? 1 : 2), next;

        for (n = (size_t)line.samples; first + n < count; n++, line = next) {
            next = fit_line(x + first, y + first, n + 1);
            if (!is_good(&next, x + first, y + first, n + 1, r2_min, error_max))
                break;
        }
        if (xy_vec_append(&lines, &line) != XY_OK) {
            xy_vec_cleanup(&lines);
            return xy_fail_memory("fitting a model");
        }
        if (n < 2)
            break;
    }
    lines_p->count = lines.count;
    lines_p->line = xy_vec_take(&lines);
    return XY_OK;
}

double xy_lines_value(const xy_lines_t *lines, double x)
{
    const xy_line_t *line = lines->line, *last = line + lines->count - 1;

    while (line < last && x > line->end)
        line++;
    return line->a * x + line->b;
}
