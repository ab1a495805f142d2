/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem explain message: what a message takes, by each model. */
#include <string.h>

#include "cost/cost.h"
#include "draw/draw.h"
#include "explain.h"

static const char *const kind_names[XY_MESSAGE_WAYS] = {"blocking", "nonblocking"};

/* Prints the time of a message by each model. */
static void print_kind(const xy_message_model_t *m, xy_message_kind_t kind, double bytes)
{
    char time[32], rate[32];

    printf("%s\n", kind_names[kind]);
    for (const char *const *name = xy_message_models(); *name != NULL; name++) {
        xy_estimate_t e;

        if (!xy_message_has(m, *name, kind))
            continue;
        e = xy_message_value(m, *name, kind, bytes);
        printf("  %-8s %10s %12s  %s\n", *name, xy_format_seconds(e.seconds, time),
               bytes > 0 && e.seconds > 0 ? xy_format_bandwidth(bytes / e.seconds, rate) : "",
               xy_message_model_text(*name));
    }
}

static void print_interval(const xy_message_model_t *m, double bytes)
{
    xy_estimate_t e = xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, bytes);
    const xy_line_t *line = &m->kind[XY_MESSAGE_BLOCKING].time.line[e.interval];
    char from[32], to[32], start[32], rate[32];

    printf("linear is %s + size / %s from %s to %s (%ld samples, error at most %.2g %%)%s\n",
           xy_format_seconds(line->b > 0 ? line->b : 0, start),
           line->a > 0 ? xy_format_bandwidth(1 / line->a, rate) : "any bandwidth",
           xy_format_size((uint64_t)line->start, from), xy_format_size((uint64_t)line->end, to),
           line->samples, 100 * line->error_max,
           e.is_extrapolated ? "; this size is outside of the measured range" : "");
}

/* Prints the time of a message by all models, and their origin. */
static void print_text(const xy_costs_t *costs, const xy_message_cost_t *c, double bytes)
{
    const xy_message_model_t *m = &c->model;
    char size[32], l[32], o[32], g[32];

    printf("%s from %s to %s by %s\n", xy_format_size((uint64_t)bytes, size), c->cluster1,
           c->cluster2, *c->library != '\0' ? c->library : "an unnamed library");
    for (int k = 0; k < XY_MESSAGE_WAYS; k++)
        if (m->kind[k].latency > 0)
            print_kind(m, (xy_message_kind_t)k, bytes);
    if (m->kind[XY_MESSAGE_BLOCKING].latency > 0)
        print_interval(m, bytes);
    printf("LogGP: L %s, o %s, g %s, G %.3g s/B\n", xy_format_seconds(m->loggp.latency, l),
           xy_format_seconds(m->loggp.overhead, o), xy_format_seconds(m->loggp.gap, g),
           m->loggp.per_byte);
    printf("measured %s on %s\n", costs->date, costs->machine);
}

/* Writes the time of a message by all models as JSON. */
static void print_json(const xy_message_cost_t *c, double bytes)
{
    const xy_message_model_t *m = &c->model;
    xy_json_t json;

    xy_json_init(&json, stdout, true);
    xy_json_begin_object(&json, NULL);
    xy_fields(&json, "cluster1 %s cluster2 %s library %s bytes %g", c->cluster1, c->cluster2,
              c->library, bytes);
    for (int k = 0; k < XY_MESSAGE_WAYS; k++) {
        if (!(m->kind[k].latency > 0))
            continue;
        xy_json_begin_object(&json, kind_names[k]);
        for (const char *const *name = xy_message_models(); *name != NULL; name++)
            if (xy_message_has(m, *name, (xy_message_kind_t)k))
                xy_json_double(&json, *name,
                               xy_message_value(m, *name, (xy_message_kind_t)k, bytes).seconds);
        xy_json_bool(&json, "extrapolated",
                     xy_message_value(m, NULL, (xy_message_kind_t)k, bytes).is_extrapolated);
        xy_json_end(&json);
    }
    xy_json_end(&json);
}

/* Explains the cost of a message of the given size. */
static xy_status_t explain(const xy_costs_t *costs, const explain_values_t *v, int argc,
                           char **argv)
{
    const char *a = argc > 1 ? argv[1] : XY_COSTS_LOCAL, *b = argc > 2 ? argv[2] : a;
    const xy_message_cost_t *c = xy_costs_message(costs, a, b);
    uint64_t bytes;

    if (!xy_parse_size(argv[0], &bytes))
        return xy_fail(XY_EUSAGE, "'%s' is not a size; write for instance 64K", argv[0]);
    if (c == NULL && argc == 1 && costs->messages.count > 0)
        c = &XY_VEC_AT(&costs->messages, xy_message_cost_t, 0);
    if (c == NULL)
        return xy_fail(XY_ENOENT,
                       "no messages were measured between '%s' and '%s'; 'xylem calibrate --hosts' "
                       "does",
                       a, b);
    if (v->json)
        print_json(c, (double)bytes);
    else
        print_text(costs, c, (double)bytes);
    return xy_stdout_check();
}

const explain_topic_t explain_message = {
    .name = "message",
    .synopsis = "SIZE [CLUSTER CLUSTER]",
    .summary = "the time of a message between two clusters, predicted by each model",
    .arguments_min = 1,
    .arguments_max = 3,
    .explain = explain,
};
