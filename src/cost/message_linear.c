/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linear on intervals, the default: T(L) = b + a L, each interval with its own start-up b and
 * seconds per byte a. Protocols change with the size (short, eager, rendezvous, pipelined), and
 * each is a straight line of its own.
 *
 *   T |            /          outside: below the first size its line, never less than half of
 *     |      ___.-'           the smallest time; above the last size the last line
 *     |_.--''
 *     '------------------ L
 */
#include <math.h>

#include "cost/message_internal.h"
#include "cost/outlier.h"

static void measure_errors(const xy_message_model_t *model, xy_message_kind_t kind,
                           xy_message_lines_t *lines)
{
    long n = 0;

    for (size_t i = 0; i < model->count; i++) {
        double t = message_time(&model->samples[i], kind), error;

        if (!(t > 0))
            continue;
        error = fabs(xy_lines_value(&lines->time, model->samples[i].bytes) - t) / t;
        lines->error_mean += error;
        lines->error_max = fmax(lines->error_max, error);
        n++;
    }
    lines->error_mean /= n > 0 ? (double)n : 1;
}

/* Samples that contradict their neighbours are left out. The number that is left. */
static size_t drop_outliers(double *x, double *y, size_t n, bool *is_out)
{
    size_t kept = 0;

    /* A message of no bytes has no logarithm. */
    if (!(x[0] > 0))
        return n;
    cost_outliers(x, y, n, is_out);
    for (size_t i = 0; i < n; i++) {
        x[kept] = x[i];
        y[kept] = y[i];
        kept += !is_out[i];
    }
    return kept;
}

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
    lines->latency = y[0];
    n = drop_outliers(x, y, n, is_out);
    st = xy_progressive_fit(x, y, n, 0.99, 0.05, &lines->time);
    if (st == XY_OK)
        measure_errors(model, kind, lines);
    return st;
}

static xy_status_t fit(xy_message_model_t *model)
{
    double *x = xy_calloc(2 * model->count, sizeof(*x));
    bool *is_out = xy_calloc(model->count, sizeof(*is_out));
    xy_status_t st = x != NULL && is_out != NULL ? XY_OK : xy_fail_memory("fitting a model");

    for (int k = 0; st == XY_OK && k < XY_MESSAGE_KINDS; k++)
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
