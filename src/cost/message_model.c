/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cost/message_internal.h"

extern const message_model_t message_hockney;
extern const message_model_t message_linear;
extern const message_model_t message_loggp;
extern const message_model_t message_plogp;

static const message_model_t *const models[] = {
    &message_linear, &message_hockney, &message_loggp, &message_plogp, NULL,
};

enum { MODELS = sizeof(models) / sizeof(models[0]) };

static const message_model_t *find(const char *name)
{
    if (name == NULL)
        return models[0];
    for (size_t i = 0; models[i] != NULL; i++)
        if (strcmp(models[i]->name, name) == 0)
            return models[i];
    return NULL;
}

const char *const *xy_message_models(void)
{
    static const char *const names[MODELS] = {"linear", "hockney", "loggp", "plogp", NULL};

    return names;
}

const char *xy_message_model_text(const char *name)
{
    const message_model_t *model = find(name);

    return model != NULL ? model->describe : NULL;
}

double message_time(const xy_message_sample_t *sample, xy_message_kind_t kind)
{
    return *xy_figure_place((void *)(uintptr_t)sample, &xy_message_curves()[kind]);
}

bool message_kind_is_measured(const xy_message_model_t *model, xy_message_kind_t kind)
{
    return model->kind[kind].latency > 0;
}

bool xy_message_has(const xy_message_model_t *model, const char *name, xy_message_kind_t kind)
{
    const message_model_t *m = find(name);

    return m != NULL && m->is_measured(model, kind);
}

static int by_bytes(const void *a, const void *b)
{
    const xy_message_sample_t *p = a, *q = b;

    return (p->bytes > q->bytes) - (p->bytes < q->bytes);
}

static bool is_sane(const xy_message_sample_t *s)
{
    const double values[] = {s->bytes,    s->blocking, s->nonblocking, s->gap,
                             s->exchange, s->send,     s->receive,     s->hold};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (!(values[i] >= 0 && isfinite(values[i])))
            return false;
    return s->blocking > 0 || s->nonblocking > 0;
}

/* Checks the samples and copies them into the model, sorted by size and without duplicates. */
static xy_status_t take_samples(const xy_message_sample_t *samples, size_t count,
                                xy_message_model_t *model)
{
    if (count == 0)
        return xy_fail(XY_EINVAL, "there are no messages to fit a model to");
    for (size_t i = 0; i < count; i++)
        if (!is_sane(&samples[i]))
            return xy_fail(XY_EINVAL, "the time of message %zu (%g bytes) is missing or negative",
                           i + 1, samples[i].bytes);
    model->samples = xy_calloc(count, sizeof(*model->samples));
    if (model->samples == NULL)
        return xy_fail_memory("fitting a model");
    memcpy(model->samples, samples, count * sizeof(*samples));
    qsort(model->samples, count, sizeof(*samples), by_bytes);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || model->samples[i].bytes > model->samples[model->count - 1].bytes)
            model->samples[model->count++] = model->samples[i];
    return XY_OK;
}

xy_status_t xy_message_fit(const xy_message_sample_t *samples, size_t count,
                           xy_message_model_t *model_p)
{
    xy_message_model_t model = {0};
    xy_status_t st = take_samples(samples, count, &model);

    for (size_t i = 0; st == XY_OK && models[i] != NULL; i++)
        st = models[i]->fit(&model);
    if (st == XY_OK)
        *model_p = model;
    else
        xy_message_cleanup(&model);
    return st;
}

xy_status_t xy_message_complete(xy_message_model_t *model)
{
    return message_linear.fit(model);
}

void xy_message_cleanup(xy_message_model_t *model)
{
    xy_free(model->samples);
    for (int k = 0; k < XY_MESSAGE_KINDS; k++) {
        xy_free(model->kind[k].bandwidth.line);
        xy_free(model->kind[k].time.line);
    }
    *model = (xy_message_model_t){0};
}

xy_estimate_t xy_message_value(const xy_message_model_t *model, const char *name,
                               xy_message_kind_t kind, double bytes)
{
    const message_model_t *m = find(name);
    const xy_lines_t *time = &model->kind[kind].time;
    xy_estimate_t e = {.seconds = fmax(m->seconds(model, kind, bytes), 0)};

    if (time->count > 0) {
        e.is_extrapolated = bytes < time->line[0].start || bytes > time->line[time->count - 1].end;
        while (e.interval + 1 < time->count && bytes > time->line[e.interval].end)
            e.interval++;
        e.error = model->kind[kind].held_count > 0 ? model->kind[kind].held_out
                                                   : time->line[e.interval].error_max;
    }
    return e;
}

double xy_message_curve(const xy_message_model_t *model, xy_message_kind_t kind, double bytes)
{
    return message_kind_is_measured(model, kind)
               ? xy_message_value(model, NULL, kind, bytes).seconds
               : 0;
}

/* ---- What if ---- */

typedef struct {
    double latency, bandwidth;
} change_t;

static void scale_lines(xy_message_lines_t *l, const change_t *c)
{
    l->latency *= c->latency;
    for (size_t i = 0; i < l->time.count; i++) {
        l->time.line[i].a /= c->bandwidth;
        l->time.line[i].b *= c->latency;
    }
    for (size_t i = 0; i < l->bandwidth.count; i++) {
        l->bandwidth.line[i].a *= c->bandwidth;
        l->bandwidth.line[i].b *= c->bandwidth;
    }
}

/* Returns the changed time of a message in units of its present one, by the line of its size. */
static double ratio_at(const xy_message_model_t *model, const change_t *c, double bytes)
{
    const xy_lines_t *time =
        &model
             ->kind[message_kind_is_measured(model, XY_MESSAGE_BLOCKING) ? XY_MESSAGE_BLOCKING
                                                                         : XY_MESSAGE_NONBLOCKING]
             .time;
    double fixed, moving;
    size_t i = 0;

    if (time->count == 0)
        return c->latency;
    while (i + 1 < time->count && bytes > time->line[i].end)
        i++;
    fixed = fmax(time->line[i].b, 0);
    moving = fmax(time->line[i].a * bytes, 0);
    return fixed + moving > 0 ? (fixed * c->latency + moving / c->bandwidth) / (fixed + moving) : 1;
}

/* Scales the figures of the list, of messages of so many bytes each or of their own size. */
static void scale_figures(const xy_message_model_t *m, const change_t *c, void *of,
                          const xy_figure_t *figures, double bytes)
{
    for (const xy_figure_t *f = figures; f->name != NULL; f++)
        if (f->bytes >= 0)
            *xy_figure_place(of, f) *= ratio_at(m, c, bytes >= 0 ? bytes : f->bytes);
}

void xy_message_scale(xy_message_model_t *model, double latency, double bandwidth)
{
    const change_t c = {latency, bandwidth};

    for (size_t i = 0; i < model->count; i++)
        scale_figures(model, &c, &model->samples[i], xy_message_curves(), model->samples[i].bytes);
    scale_figures(model, &c, model, xy_message_figures(), -1);
    model->loggp.gap *= ratio_at(model, &c, 0);
    model->loggp.latency *= latency;
    model->loggp.overhead *= latency;
    model->loggp.per_byte /= bandwidth;
    model->plogp_latency *= latency;
    for (int k = 0; k < XY_MESSAGE_KINDS; k++)
        scale_lines(&model->kind[k], &c);
}
