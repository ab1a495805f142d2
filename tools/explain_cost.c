/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem explain cost: the model of a kernel at one size. */
#include <math.h>
#include <string.h>

#include "cost/cost.h"
#include "explain.h"

static bool is_bytes(const xy_kernel_cost_t *k)
{
    return strcmp(k->unit, "B") == 0;
}

static const char *format_x(const xy_kernel_cost_t *k, double x, char buffer[32])
{
    if (is_bytes(k))
        return xy_format_size((uint64_t)x, buffer);
    snprintf(buffer, 32, "%g", x);
    return buffer;
}

static void print_polynomial(const xy_interval_t *v)
{
    printf("  t(x) =");
    for (int k = 0; k <= v->degree; k++) {
        double c = v->params[k];

        printf(" %s%.6g", k == 0 ? (c < 0 ? "-" : "") : c < 0 ? "- " : "+ ", fabs(c));
        if (k > 0)
            printf(" x%s", k > 1 ? "^" : "");
        if (k > 1)
            printf("%d", k);
    }
    printf(" s\n");
}

static void print_intervals(const xy_kernel_cost_t *k, size_t chosen)
{
    char from[32], to[32];

    for (size_t i = 0; i < k->fit.count; i++) {
        const xy_interval_t *v = &k->fit.intervals[i];

        printf("%c %10s to %-10s degree %d, %ld samples, error %.2g %% (at most %.2g %%)\n",
               i == chosen ? '*' : ' ', format_x(k, v->start, from), format_x(k, v->end, to),
               v->degree, v->samples, 100 * v->error_mean, 100 * v->error_max);
    }
}

/* The measured sizes on both sides, as a check by eye. */
static void print_neighbours(const xy_kernel_cost_t *k, double x)
{
    const xy_sample_t *below = NULL, *above = NULL;
    char size[32], time[32];

    for (size_t i = 0; i < k->sample_count; i++) {
        const xy_sample_t *s = &k->samples[i];

        if (s->x <= x && (below == NULL || s->x > below->x))
            below = s;
        if (s->x > x && (above == NULL || s->x < above->x))
            above = s;
    }
    if (below != NULL)
        printf("measured: %s at %s\n", xy_format_seconds(below->t, time),
               format_x(k, below->x, size));
    if (above != NULL)
        printf("measured: %s at %s\n", xy_format_seconds(above->t, time),
               format_x(k, above->x, size));
}

static void print_text(const xy_costs_t *costs, const xy_kernel_cost_t *k, double x)
{
    xy_estimate_t e = xy_fit_value(&k->fit, x);
    char size[32], time[32], rate[32];

    printf("%s %s, %ld %s%s, on %s: %s", k->name, format_x(k, x, size), k->threads,
           is_bytes(k) ? "core" : "thread", k->threads == 1 ? "" : "s", costs->machine,
           xy_format_seconds(e.seconds, time));
    if (is_bytes(k) && e.seconds > 0)
        printf(", %s", xy_format_bandwidth(x / e.seconds, rate));
    printf("%s\n", e.is_extrapolated ? " (extrapolated: outside of what was measured)" : "");
    print_intervals(k, e.interval);
    if (e.is_extrapolated)
        printf("  beyond its end the power law of the model at its end is continued\n");
    else
        print_polynomial(&k->fit.intervals[e.interval]);
    print_neighbours(k, x);
    printf("criterion %s: %s\n", k->criterion,
           xy_fit_criterion_text(k->criterion) != NULL ? xy_fit_criterion_text(k->criterion) : "");
    printf("measured %s on %s%s%s\n", costs->date, costs->hardware,
           *k->library != '\0' ? " with " : "", k->library);
}

static void print_json(const xy_costs_t *costs, const xy_kernel_cost_t *k, double x)
{
    xy_estimate_t e = xy_fit_value(&k->fit, x);
    const xy_interval_t *v = &k->fit.intervals[e.interval];
    xy_json_t json;

    xy_json_init(&json, stdout, true);
    xy_json_begin_object(&json, NULL);
    xy_json_string(&json, "kernel", k->name);
    xy_json_string(&json, "cluster", k->cluster);
    xy_json_double(&json, "size", x);
    xy_json_int(&json, "threads", k->threads);
    xy_json_double(&json, "seconds", e.seconds);
    xy_json_double(&json, "error_max", e.error);
    xy_json_bool(&json, "extrapolated", e.is_extrapolated);
    xy_json_double(&json, "start", v->start);
    xy_json_double(&json, "end", v->end);
    xy_json_begin_array(&json, "params");
    for (int i = 0; i <= v->degree; i++)
        xy_json_double(&json, NULL, v->params[i]);
    xy_json_end(&json);
    xy_json_int(&json, "samples", (int64_t)k->sample_count);
    xy_json_string(&json, "machine", costs->machine);
    xy_json_string(&json, "date", costs->date);
    xy_json_end(&json);
}

static const char *strip(const char *name)
{
    static const char *const prefixes[] = {"cblas_", "LAPACKE_", "clapack_"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return name + strlen(prefixes[i]);
    return name;
}

static xy_status_t fail_unknown(const xy_costs_t *costs, const char *name)
{
    xy_text_t list = XY_TEXT_INIT;
    xy_status_t st;

    for (size_t i = 0; i < costs->kernels.count; i++) {
        const xy_kernel_cost_t *k = &XY_VEC_AT(&costs->kernels, xy_kernel_cost_t, i);

        xy_text_addf(&list, "%s%s with %ld", i > 0 ? ", " : "", k->name, k->threads);
    }
    st = xy_fail(XY_ENOENT, "there is no such model of '%s'; there are: %s", name,
                 list.s != NULL ? list.s : "none");
    xy_text_cleanup(&list);
    return st;
}

static xy_status_t explain(const xy_costs_t *costs, const explain_values_t *v, int argc,
                           char **argv)
{
    long threads = 0;
    uint64_t bytes;
    double x;
    const xy_kernel_cost_t *k;

    if (argc > 2 && (!xy_parse_long(argv[2], &threads) || threads < 1))
        return xy_fail(XY_EUSAGE, "'%s' is not a number of threads", argv[2]);
    if (!xy_parse_double(argv[1], &x)) {
        if (!xy_parse_size(argv[1], &bytes))
            return xy_fail(XY_EUSAGE, "'%s' is not a size", argv[1]);
        x = (double)bytes;
    }
    if (!(x >= 0))
        return xy_fail(XY_EUSAGE, "size %s is negative", argv[1]);
    k = xy_costs_kernel(costs, strip(argv[0]), NULL, threads);
    if (k == NULL || k->fit.count == 0)
        return fail_unknown(costs, argv[0]);
    if (v->json)
        print_json(costs, k, x);
    else
        print_text(costs, k, x);
    return xy_stdout_check();
}

static xy_status_t run(const explain_values_t *values, int argc, char **argv)
{
    xy_costs_t *costs;
    xy_status_t st = xy_costs_load(values->costs, &costs);

    if (st != XY_OK)
        return st;
    st = explain(costs, values, argc, argv);
    xy_costs_destroy(costs);
    return st;
}

const explain_topic_t explain_cost = {
    .name = "cost",
    .synopsis = "KERNEL SIZE [THREADS]",
    .summary = "the predicted time of a kernel, its polynomial and its error",
    .arguments_min = 2,
    .arguments_max = 3,
    .run = run,
};
