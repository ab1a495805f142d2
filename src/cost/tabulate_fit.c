/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of measured times: models of them. */
#include <math.h>
#include <string.h>

#include "cost/tabulate.h"

/* With this many rows or fewer each is left out in turn; of more some, evenly spread. */
enum { HELD_OUT_MAX = 25 };

/* The i-th inner row that is left out; the ends are needed to predict between them. */
static size_t held_row(const xy_tabulated_t *t, size_t i, size_t count)
{
    return 1 + i * (t->count - 2) / count;
}

static size_t held_count(const xy_tabulated_t *t)
{
    size_t inner = t->count < 4 ? 0 : t->count - 2;

    return inner < HELD_OUT_MAX ? inner : HELD_OUT_MAX;
}

/* ---- Kernels ---- */

/* The samples of all rows but one. */
static size_t take_samples(const xy_tabulated_t *t, size_t without, xy_sample_t *samples)
{
    size_t n = 0;

    for (size_t i = 0; i < t->count; i++)
        if (i != without)
            samples[n++] = (xy_sample_t){.x = t->x[i], .t = t->t[0][i]};
    return n;
}

/* The mean error where each size is left out in turn. */
static xy_status_t hold_out_kernel(const xy_tabulated_t *t, const xy_fit_options_t *o,
                                   xy_sample_t *samples, xy_kernel_cost_t *k)
{
    size_t count = held_count(t);
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        size_t row = held_row(t, i, count);
        xy_fit_t fit;
        xy_status_t st = xy_fit_compute(samples, take_samples(t, row, samples), o, &fit);

        if (st != XY_OK)
            return st;
        sum += fabs(xy_fit_value(&fit, t->x[row]).seconds / t->t[0][row] - 1);
        xy_fit_cleanup(&fit);
    }
    k->held_out = count > 0 ? sum / (double)count : 0;
    k->held_count = (long)count;
    return XY_OK;
}

/* "t(n) = c0 + c1 n + c2 n^2 ..." of each interval. */
static void print_kernel(const xy_kernel_cost_t *k, FILE *report)
{
    fprintf(report, "%s on %s: %zu samples, error %.2g %% (at most %.2g %%), held out %.2g %%\n",
            k->name, k->cluster, k->sample_count, 100 * k->fit.error_mean, 100 * k->fit.error_max,
            100 * k->held_out);
    for (size_t i = 0; i < k->fit.count; i++) {
        const xy_interval_t *v = &k->fit.intervals[i];

        fprintf(report, "  %g to %g: t =", v->start, v->end);
        for (int p = 0; p <= v->degree; p++)
            fprintf(report, " %s%.9g%s%.0d", p > 0 && !(v->params[p] < 0) ? "+" : "", v->params[p],
                    p == 0   ? ""
                    : p == 1 ? " n"
                             : " n^",
                    p > 1 ? p : 0);
        fputs(" s\n", report);
    }
}

/* Puts the model of a kernel, with its samples, into the store. */
static xy_status_t fit_kernel(xy_costs_t *costs, const xy_tabulated_t *t, const char *criterion,
                              FILE *report)
{
    const xy_fit_options_t o = {.criterion = criterion};
    xy_sample_t *scratch = xy_calloc(t->count, sizeof(*scratch));
    xy_kernel_cost_t k = {.name = xy_strdup(t->name),
                          .cluster = xy_strdup(t->from),
                          .unit = xy_strdup("n"),
                          .criterion =
                              xy_strdup(criterion != NULL ? criterion : xy_fit_criteria()[0]),
                          .clock = xy_strdup(XY_CLOCK_WALL),
                          .threads = 1,
                          .samples = xy_calloc(t->count, sizeof(*k.samples))};
    xy_status_t st = scratch != NULL && k.name != NULL && k.cluster != NULL && k.unit != NULL &&
                             k.criterion != NULL && k.clock != NULL && k.samples != NULL
                         ? XY_OK
                         : xy_fail_memory("fitting a model");

    if (st == XY_OK) {
        k.sample_count = take_samples(t, t->count, k.samples);
        st = xy_fit_compute(k.samples, k.sample_count, &o, &k.fit);
    }
    if (st == XY_OK)
        st = hold_out_kernel(t, &o, scratch, &k);
    if (st == XY_OK && report != NULL)
        print_kernel(&k, report);
    xy_free(scratch);
    if (st == XY_OK)
        return xy_costs_set_kernel(costs, &k);
    xy_kernel_cost_cleanup(&k);
    return st;
}

/* ---- Messages ---- */

static size_t take_messages(const xy_tabulated_t *t, size_t without, xy_message_sample_t *samples)
{
    size_t n = 0;

    for (size_t i = 0; i < t->count; i++)
        if (i != without)
            samples[n++] = (xy_message_sample_t){.bytes = t->x[i],
                                                 .blocking = t->t[0][i],
                                                 .nonblocking = t->t[1] != NULL ? t->t[1][i] : 0};
    return n;
}

/* Sets the mean error of each kind where each size is left out in turn. */
static xy_status_t hold_out_messages(const xy_tabulated_t *t, xy_message_sample_t *samples,
                                     xy_message_model_t *m)
{
    size_t count = held_count(t);

    for (size_t i = 0; i < count; i++) {
        size_t row = held_row(t, i, count);
        xy_message_model_t part;
        xy_status_t st = xy_message_fit(samples, take_messages(t, row, samples), &part);

        if (st != XY_OK)
            return st;
        for (int k = 0; k < XY_MESSAGE_WAYS && t->t[k] != NULL; k++)
            m->kind[k].held_out +=
                fabs(xy_message_value(&part, NULL, (xy_message_kind_t)k, t->x[row]).seconds /
                         t->t[k][row] -
                     1) /
                (double)count;
        xy_message_cleanup(&part);
    }
    for (int k = 0; k < XY_MESSAGE_WAYS && t->t[k] != NULL; k++)
        m->kind[k].held_count = (long)count;
    return XY_OK;
}

/* The lines of the default model and of the thesis', for each kind that was measured. */
static void print_messages(const xy_message_cost_t *c, FILE *report)
{
    static const char *const kinds[] = {"blocking", "nonblocking"};

    for (int k = 0; k < XY_MESSAGE_WAYS; k++) {
        const xy_message_lines_t *l = &c->model.kind[k];

        if (!(l->latency > 0))
            continue;
        fprintf(report,
                "%s messages, %s - %s: %zu samples, error %.2g %% (at most %.2g %%), held out "
                "%.2g %%\n",
                kinds[k], c->cluster1, c->cluster2, c->model.count, 100 * l->error_mean,
                100 * l->error_max, 100 * l->held_out);
        for (size_t i = 0; i < l->time.count; i++)
            fprintf(report, "  %.0f to %.0f B: t = %.9g %+.9g L s\n", l->time.line[i].start,
                    l->time.line[i].end, l->time.line[i].b, l->time.line[i].a);
        for (size_t i = 0; i < l->bandwidth.count; i++)
            fprintf(report, "  %.0f to %.0f B: t = %.9g + L / tau, tau = %.9g %+.9g L B/s\n",
                    l->bandwidth.line[i].start, l->bandwidth.line[i].end, l->latency,
                    l->bandwidth.line[i].b, l->bandwidth.line[i].a);
    }
}

/* Puts the models of messages, with their samples, into the store. */
static xy_status_t fit_messages(xy_costs_t *costs, const xy_tabulated_t *t, FILE *report)
{
    xy_message_sample_t *samples = xy_calloc(t->count, sizeof(*samples));
    xy_message_cost_t c = {.cluster1 = xy_strdup(t->from),
                           .cluster2 = xy_strdup(t->to),
                           .library = xy_strdup("a table")};
    xy_status_t st =
        samples != NULL && c.cluster1 != NULL && c.cluster2 != NULL && c.library != NULL
            ? XY_OK
            : xy_fail_memory("fitting a model");

    if (st == XY_OK)
        st = xy_message_fit(samples, take_messages(t, t->count, samples), &c.model);
    if (st == XY_OK)
        st = hold_out_messages(t, samples, &c.model);
    if (st == XY_OK && report != NULL)
        print_messages(&c, report);
    xy_free(samples);
    if (st == XY_OK)
        return xy_costs_set_message(costs, &c);
    xy_message_cost_cleanup(&c);
    return st;
}

xy_status_t xy_costs_fit_table(xy_costs_t *costs, const xy_tabulated_t *table,
                               const char *criterion, FILE *report)
{
    return table->is_message ? fit_messages(costs, table, report)
                             : fit_kernel(costs, table, criterion, report);
}
