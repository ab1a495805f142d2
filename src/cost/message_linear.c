/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linear on intervals, the default: T(L) = b + a L, each interval with its own start-up b and
 * seconds per byte a, of at most XY_MESSAGE_INTERVALS. Protocols change with the size (short,
 * eager, rendezvous, pipelined), and each is a straight line of its own. The intervals are those of
 * the cheapest explanation (segment.h): each pays for itself.
 *
 *   T |            /          outside: below the first size its line, never less than half of
 *     |      ___.-'           the smallest time; above the last size the last line
 *     |_.--''
 *     '------------------ L
 */
#include <math.h>

#include "cost/message_internal.h"
#include "cost/outlier.h"
#include "cost/segment.h"

/* Errors below this are not worth an interval. */
static const double quiet = 0.01;

static void measure_errors(const double *x, const double *y, size_t n, xy_message_lines_t *lines)
{
    for (size_t i = 0; i < n; i++) {
        double error = fabs(xy_lines_value(&lines->time, x[i]) - y[i]) / y[i];

        lines->error_mean += error / (double)n;
        lines->error_max = fmax(lines->error_max, error);
    }
}

/* Samples that contradict their neighbours are left out; at the ends, which are the range of the
 * model, they get what their neighbours say. `room` is for n values. */
static xy_status_t drop_outliers(double *x, double *y, size_t *n_p, bool *is_out, double *room,
                                 long *dropped_p)
{
    size_t n = *n_p, kept = 0, count, first = !(x[0] > 0);
    xy_status_t st;

    /* A message of no bytes has no logarithm. */
    is_out[0] = false;
    st = xy_outliers(x + first, y + first, n - first, is_out + first, &count, room + first);
    for (size_t i = 0; st == XY_OK && i < n; i++) {
        bool is_end = i == 0 || i + 1 == n;

        x[kept] = x[i];
        y[kept] = is_out[i] && is_end ? room[i] : y[i];
        kept += !is_out[i] || is_end;
        *dropped_p += is_out[i];
    }
    *n_p = kept;
    return st;
}

/* An interval begins where the one before it ends. */
static xy_status_t take_lines(const cost_segment_t *segments, size_t count, const double *x,
                              const double *y, xy_lines_t *lines)
{
    lines->line = xy_calloc(count, sizeof(*lines->line));
    if (lines->line == NULL)
        return xy_fail_memory("fitting a model");
    for (size_t i = 0; i < count; i++) {
        const cost_segment_t *s = &segments[i];
        xy_line_t *line = &lines->line[i];

        *line = (xy_line_t){.start = x[s->first > 0 ? s->first - 1 : 0],
                            .end = x[s->end - 1],
                            .a = s->c[1],
                            .b = s->c[0] - s->c[1] * x[s->first],
                            .samples = (long)(s->end - s->first)};
        for (size_t k = s->first; k < s->end; k++)
            line->error_max = fmax(line->error_max, fabs(line->a * x[k] + line->b - y[k]) / y[k]);
    }
    lines->count = count;
    return XY_OK;
}

/* Fits a piecewise linear model to the times `y` of sizes `x`. */
static xy_status_t fit_lines(const double *x, const double *y, size_t n, xy_lines_t *lines)
{
    size_t first = !(x[0] > 0), count;
    cost_points_t points = {.x = x,
                            .y = y,
                            .scale = y,
                            .n = n,
                            .terms = 2,
                            .least = 2,
                            .far = INFINITY,
                            .most = XY_MESSAGE_INTERVALS};
    cost_segment_t *segments = xy_calloc(n, sizeof(*segments));
    xy_status_t st;

    if (segments == NULL)
        return xy_fail_memory("fitting a model");
    st = cost_noise(x + first, y + first, n - first, quiet, false, &points.noise);
    if (st == XY_OK)
        st = cost_segments(&points, segments, &count, NULL);
    if (st == XY_OK)
        st = take_lines(segments, count, x, y, lines);
    xy_free(segments);
    return st;
}

/* Fits the times of one kind of message, without outliers; the arrays are scratch space. */
static xy_status_t fit_kind(xy_message_model_t *model, xy_message_kind_t kind, double *x, double *y,
                            bool *is_out)
{
    xy_message_lines_t *lines = &model->kind[kind];
    size_t n = 0;
    xy_status_t st;

    for (size_t i = 0; i < model->count; i++) {
        x[n] = model->samples[i].bytes;
        y[n] = message_time(&model->samples[i], kind);
        n += y[n] > 0;
    }
    if (n == 0)
        return XY_OK;
    st = drop_outliers(x, y, &n, is_out, y + model->count, &lines->dropped);
    if (st == XY_OK)
        st = fit_lines(x, y, n, &lines->time);
    if (st == XY_OK) {
        lines->latency = y[0];
        measure_errors(x, y, n, lines);
    }
    return st;
}

static xy_status_t fit(xy_message_model_t *model)
{
    double *x = xy_calloc(3 * model->count, sizeof(*x));
    bool *is_out = xy_calloc(model->count, sizeof(*is_out));
    xy_status_t st = x != NULL && is_out != NULL ? XY_OK : xy_fail_memory("fitting a model");

    for (int k = 0; st == XY_OK && k < XY_MESSAGE_KINDS; k++)
        if (model->kind[k].time.count == 0)
            st = fit_kind(model, (xy_message_kind_t)k, x, x + model->count, is_out);
    xy_free(is_out);
    xy_free(x);
    return st;
}

static double seconds(const xy_message_model_t *model, xy_message_kind_t kind, double bytes)
{
    const xy_message_lines_t *lines = &model->kind[kind];

    return fmax(xy_lines_value(&lines->time, bytes), lines->latency / 2);
}

const message_model_t message_linear = {
    .name = "linear",
    .describe = "start-up and seconds per byte on each interval of sizes",
    .fit = fit,
    .is_measured = message_kind_is_measured,
    .seconds = seconds,
};
