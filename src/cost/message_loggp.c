/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LogGP (Alexandrov and others): T(k bytes) = L + 2o + (k - 1) G.
 *
 *   sender    |--o--|
 *   network         |------ L ------|  G per further byte
 *   receiver                        |--o--|          g: least time between two messages
 *
 * o is the mean of the sender's and the receiver's overhead at the smallest size, L what remains of
 * its time, G the slope of the largest sizes, g the gap at the smallest size.
 */
#include <math.h>

#include "cost/message_internal.h"

static xy_message_kind_t measured_kind(const xy_message_model_t *model)
{
    return message_kind_is_measured(model, XY_MESSAGE_BLOCKING) ? XY_MESSAGE_BLOCKING
                                                                : XY_MESSAGE_NONBLOCKING;
}

static xy_status_t fit(xy_message_model_t *model)
{
    const xy_message_sample_t *least = &model->samples[0];
    const xy_message_lines_t *lines = &model->kind[measured_kind(model)];
    xy_loggp_t p = {.gap = least->gap};

    p.overhead = fmin((least->send + least->receive) / 2, lines->latency / 2);
    p.latency = lines->latency - 2 * p.overhead;
    p.per_byte = fmax(lines->time.line[lines->time.count - 1].a, 0);
    model->loggp = p;
    return XY_OK;
}

static bool is_measured(const xy_message_model_t *model, xy_message_kind_t kind)
{
    (void)kind;
    return model->loggp.latency + model->loggp.overhead > 0;
}

static double seconds(const xy_message_model_t *model, xy_message_kind_t kind, double bytes)
{
    const xy_loggp_t *p = &model->loggp;

    (void)kind;
    return p->latency + 2 * p->overhead + fmax(bytes - 1, 0) * p->per_byte;
}

const message_model_t message_loggp = {
    .name = "loggp",
    .describe = "latency, overhead and gap per byte: one straight line",
    .fit = fit,
    .is_measured = is_measured,
    .seconds = seconds,
};
