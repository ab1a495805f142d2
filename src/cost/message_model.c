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
    return kind == XY_MESSAGE_BLOCKING ? sample->blocking : sample->nonblocking;
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
    const double values[] = {s->bytes,    s->blocking, s->nonblocking, s->send, s->receive, s->gap,
                             s->exchange, s->burst,    s->self,        s->hold, s->pieces};

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

/* The figure at `offset` in a sample. */
static double figure(const xy_message_sample_t *s, size_t offset)
{
    return *(const double *)((const char *)s + offset);
}

/* Returns a measured figure, given by its offset in a sample, interpolated at `bytes`; 0 if it was
 * not measured. */
static double figure_at(const xy_message_model_t *model, size_t offset, double bytes)
{
    const xy_message_sample_t *a = NULL, *b = NULL;

    for (size_t i = 0; i < model->count && (b == NULL || b->bytes < bytes); i++)
        if (figure(&model->samples[i], offset) > 0 && model->samples[i].blocking > 0) {
            a = b;
            b = &model->samples[i];
        }
    if (b == NULL)
        return 0;
    if (a != NULL && bytes <= b->bytes)
        return figure(a, offset) +
               (figure(b, offset) - figure(a, offset)) * (bytes - a->bytes) / (b->bytes - a->bytes);
    return fmax(0, figure(b, offset) - b->blocking +
                       xy_message_value(model, NULL, XY_MESSAGE_BLOCKING, bytes).seconds);
}

double xy_message_exchange(const xy_message_model_t *model, double bytes)
{
    return figure_at(model, offsetof(xy_message_sample_t, exchange), bytes);
}

double xy_message_burst(const xy_message_model_t *model, double bytes)
{
    return figure_at(model, offsetof(xy_message_sample_t, burst), bytes);
}

double xy_message_self(const xy_message_model_t *model, double bytes)
{
    return figure_at(model, offsetof(xy_message_sample_t, self), bytes);
}

double xy_message_hold(const xy_message_model_t *model, double bytes)
{
    return figure_at(model, offsetof(xy_message_sample_t, hold), bytes);
}

double xy_message_pieces(const xy_message_model_t *model, double bytes)
{
    return figure_at(model, offsetof(xy_message_sample_t, pieces), bytes);
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

/* Scales what was measured at one size; `self` crosses no network. */
static void scale_sample(xy_message_sample_t *s, double by)
{
    double *const times[] = {&s->blocking, &s->nonblocking, &s->send, &s->receive, &s->gap,
                             &s->exchange, &s->burst,       &s->hold, &s->pieces};

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        *times[i] *= by;
}

/* Scales the collectives of the two processes, by the size of their messages. */
static void scale_collectives(xy_message_model_t *m, const change_t *c)
{
    const struct {
        double *time, bytes;
    } all[] = {{&m->barrier, 0},
               {&m->small_bcast, XY_MESSAGE_SMALL},
               {&m->small_allreduce, XY_MESSAGE_SMALL},
               {&m->small_reduce_stream, XY_MESSAGE_SMALL},
               {&m->small_reduce_back, XY_MESSAGE_SMALL},
               {&m->small_bcast_back, XY_MESSAGE_SMALL},
               {&m->small_scatter_stream, XY_MESSAGE_SMALL},
               {&m->small_gather_stream, XY_MESSAGE_SMALL},
               {&m->issue, XY_MESSAGE_SMALL},
               {&m->bcast, XY_MESSAGE_BCAST},
               {&m->allreduce, XY_MESSAGE_BCAST},
               {&m->reduce_stream, XY_MESSAGE_BCAST},
               {&m->reduce_back, XY_MESSAGE_BCAST}};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        *all[i].time *= ratio_at(m, c, all[i].bytes);
}

void xy_message_scale(xy_message_model_t *model, double latency, double bandwidth)
{
    const change_t c = {latency, bandwidth};

    for (size_t i = 0; i < model->count; i++)
        scale_sample(&model->samples[i], ratio_at(model, &c, model->samples[i].bytes));
    scale_collectives(model, &c);
    model->loggp.gap *= ratio_at(model, &c, 0);
    model->loggp.latency *= latency;
    model->loggp.overhead *= latency;
    model->loggp.per_byte /= bandwidth;
    model->plogp_latency *= latency;
    for (int k = 0; k < XY_MESSAGE_KINDS; k++)
        scale_lines(&model->kind[k], &c);
}
