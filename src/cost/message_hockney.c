/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hockney's model as in Achour's thesis: T(L) = latency + L / tau(L), with the bandwidth itself a
 * line on each interval, tau(L) = a L + b.
 *
 *   tau |        .-----      rises while the start-up weighs, then stays
 *       |   .-'
 *       |_/
 *       '------------------ L
 */
#include <math.h>

#include "cost/message_internal.h"

/* Fits the bandwidth of one kind of message over its size; `x` and `y` are scratch space. */
static xy_status_t fit_kind(xy_message_model_t *model, xy_message_kind_t kind, double *x, double *y)
{
    xy_message_lines_t *lines = &model->kind[kind];
    size_t n = 0;

    for (size_t i = 0; i < model->count; i++) {
        double bytes = model->samples[i].bytes;
        double beyond = message_time(&model->samples[i], kind) - lines->latency;

        /* A time within the noise of the latency gives no information about the bandwidth. */
        if (!(lines->latency > 0) || !(bytes > 0) || beyond < 0.02 * lines->latency)
            continue;
        x[n] = bytes;
        y[n++] = bytes / beyond;
    }
    return n == 0 ? XY_OK : xy_progressive_fit(x, y, n, 0.99, INFINITY, &lines->bandwidth);
}

static xy_status_t fit(xy_message_model_t *model)
{
    double *x = xy_calloc(2 * model->count, sizeof(*x));
    xy_status_t st = XY_OK;

    if (x == NULL)
        return xy_fail_memory("fitting a model");
    for (int k = 0; st == XY_OK && k < XY_MESSAGE_WAYS; k++)
        st = fit_kind(model, (xy_message_kind_t)k, x, x + model->count);
    xy_free(x);
    return st;
}

static double seconds(const xy_message_model_t *model, xy_message_kind_t kind, double bytes)
{
    const xy_message_lines_t *lines = &model->kind[kind];
    const xy_lines_t *tau = &lines->bandwidth;
    double at;

    if (tau->count == 0)
        return lines->latency;
    /* Outside, the bandwidth of the nearest end: a line goes through zero sooner or later. */
    at = fmin(fmax(bytes, tau->line[0].start), tau->line[tau->count - 1].end);
    at = xy_lines_value(tau, at);
    return at > 0 ? lines->latency + bytes / at : lines->latency;
}

const message_model_t message_hockney = {
    .name = "hockney",
    .describe = "latency + L / tau(L), the bandwidth tau a line on each interval of sizes",
    .fit = fit,
    .is_measured = message_kind_is_measured,
    .seconds = seconds,
};
