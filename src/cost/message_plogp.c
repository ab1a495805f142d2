/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PLogP (Kielmann and others): T(m) = L + g(m), where the gap g, and the overheads of sender and
 * receiver, are functions of the size: straight between the samples. L is what the smallest message
 * takes beyond its gap.
 */
#include <math.h>

#include "cost/message_internal.h"

/* Returns the gap at `bytes`, interpolated between the samples that have one; 0 if none does. */
static double gap(const xy_message_model_t *model, double bytes)
{
    const xy_message_sample_t *a = NULL, *b = NULL;

    for (size_t i = 0; i < model->count; i++) {
        const xy_message_sample_t *s = &model->samples[i];

        if (!(s->gap > 0))
            continue;
        a = b;
        b = s;
        if (a != NULL && bytes <= s->bytes)
            break;
    }
    if (b == NULL || a == NULL)
        return b != NULL ? b->gap : 0;
    return fmax(a->gap + (b->gap - a->gap) * (bytes - a->bytes) / (b->bytes - a->bytes), 0);
}

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
    return model->samples[0].gap > 0;
}

static double seconds(const xy_message_model_t *model, xy_message_kind_t kind, double bytes)
{
    (void)kind;
    return model->plogp_latency + gap(model, bytes);
}

const message_model_t message_plogp = {
    .name = "plogp",
    .describe = "latency + the gap measured at each size",
    .fit = fit,
    .is_measured = is_measured,
    .seconds = seconds,
};
