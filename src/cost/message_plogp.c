/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PLogP (Kielmann and others): T(m) = L + g(m), where the gap g is a function of the size. L is
 * what the smallest message takes beyond its gap.
 */
#include <math.h>

#include "cost/message_internal.h"

static xy_status_t fit(xy_message_model_t *model)
{
    const xy_message_sample_t *least = &model->samples[0];
    double time = least->blocking > 0 ? least->blocking : least->nonblocking;

    if (least->gap > 0)
        model->plogp_latency = fmax(time - least->gap, 0);
    return XY_OK;
}

static bool is_measured(const xy_message_model_t *model, xy_message_kind_t kind)
{
    (void)kind;
    return message_kind_is_measured(model, XY_MESSAGE_GAP);
}

static double seconds(const xy_message_model_t *model, xy_message_kind_t kind, double bytes)
{
    (void)kind;
    return model->plogp_latency + xy_message_curve(model, XY_MESSAGE_GAP, bytes);
}

const message_model_t message_plogp = {
    .name = "plogp",
    .describe = "latency + the gap, a line on each interval of sizes",
    .fit = fit,
    .is_measured = is_measured,
    .seconds = seconds,
};
