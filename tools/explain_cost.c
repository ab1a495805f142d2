/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem explain cost: the model of a kernel at one size, or at its several sizes. */
#include <math.h>
#include <string.h>

#include "cost/cost.h"
#include "draw/draw.h"
#include "explain.h"

/* The sizes of one call. */
typedef struct {
    double x[XY_SIZES_MAX];
    size_t count;
    double equal; /* the equal sizes with the same work; x[0] for one */
} call_t;

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

/* Prints the polynomial of an interval. */
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

/* Print the comparison where the sizes are not equal. */
static void print_shape(const xy_kernel_cost_t *k, const call_t *call)
{
    const xy_shape_t *shape = &k->shape;
    char time[32];

    if (call->count < 2)
        return;
    printf("as much work as size %.6g, which takes %s", call->equal,
           xy_format_seconds(xy_fit_value(&k->fit, call->equal).seconds, time));
    if (shape->sizes != call->count) {
        printf("; no other shapes were measured\n");
        return;
    }
    printf("; this shape takes %.3g times as long\n", xy_shape_ratio(shape, call->x));
    for (size_t i = 0; i < shape->count; i++) {
        printf("%s%.4g", i == 0 ? "  beside the work: " : " + ", shape->term[i].factor);
        for (size_t s = 0; s < shape->sizes; s++)
            for (int p = 0; p < shape->term[i].power[s]; p++)
                printf(" %s", shape->name[s]);
    }
    printf("%s%zu shape%s, error %.2g %%, of those held out %.2g %%\n",
           shape->count > 0 ? "; " : "  ", shape->sample_count, shape->sample_count == 1 ? "" : "s",
           100 * shape->error_mean, 100 * shape->held_out);
}

static void print_sizes(const xy_kernel_cost_t *k, const call_t *call)
{
    char size[32];

    for (size_t i = 0; i < call->count; i++)
        printf("%s%s", i > 0 ? " x " : " ", format_x(k, call->x[i], size));
}

/* Prints the predicted time of a kernel, its model and its origin. */
static void print_text(const xy_costs_t *costs, const xy_kernel_cost_t *k, const call_t *call,
                       xy_estimate_t e)
{
    double x = call->equal;
    char time[32], rate[32];

    printf("%s", k->name);
    print_sizes(k, call);
    printf(", %ld %s%s, on %s: %s", k->threads, is_bytes(k) ? "core" : "thread",
           k->threads == 1 ? "" : "s", costs->machine, xy_format_seconds(e.seconds, time));
    if (is_bytes(k) && e.seconds > 0)
        printf(", %s", xy_format_bandwidth(x / e.seconds, rate));
    printf("%s\n", e.is_extrapolated ? " (extrapolated: outside of the measured range)" : "");
    print_shape(k, call);
    print_intervals(k, e.interval);
    if (xy_fit_value(&k->fit, x).is_extrapolated)
        printf("  beyond its end the power law of the model at its end is continued\n");
    else
        print_polynomial(&k->fit.intervals[e.interval]);
    print_neighbours(k, x);
    if (k->held_count > 0)
        printf("held out: %ld sizes, error %.2g %%\n", k->held_count, 100 * k->held_out);
    printf("criterion %s: %s\n", k->criterion,
           xy_fit_criterion_text(k->criterion) != NULL ? xy_fit_criterion_text(k->criterion) : "");
    printf("measured %s on %s%s%s\n", costs->date, costs->hardware,
           *k->library != '\0' ? " with " : "", k->library);
}

/* Writes the predicted time of a kernel and its model as JSON. */
static void print_json(const xy_costs_t *costs, const xy_kernel_cost_t *k, const call_t *call,
                       xy_estimate_t e)
{
    const xy_interval_t *v = &k->fit.intervals[e.interval];
    xy_json_t json;

    xy_json_init(&json, stdout, true);
    xy_json_begin_object(&json, NULL);
    xy_fields(&json, "kernel %s cluster %s size %g", k->name, k->cluster, call->equal);
    if (call->count > 1) {
        xy_json_begin_array(&json, "sizes");
        for (size_t i = 0; i < call->count; i++)
            xy_json_double(&json, NULL, call->x[i]);
        xy_json_end(&json);
    }
    xy_fields(&json, "threads %ld seconds %g error_max %g", k->threads, e.seconds, v->error_max);
    if (k->held_count > 0)
        xy_json_double(&json, "held_out", k->held_out);
    xy_fields(&json, "extrapolated %i start %g end %g", e.is_extrapolated, v->start, v->end);
    xy_json_begin_array(&json, "params");
    for (int i = 0; i <= v->degree; i++)
        xy_json_double(&json, NULL, v->params[i]);
    xy_json_end(&json);
    xy_fields(&json, "samples %lu machine %s date %s", k->sample_count, costs->machine,
              costs->date);
    xy_json_end(&json);
}

/* Fails with a list of the kernels that have models. */
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

static xy_status_t parse_size(const char *text, double *x_p)
{
    uint64_t bytes;

    if (!xy_parse_double(text, x_p)) {
        if (!xy_parse_size(text, &bytes))
            return xy_fail(XY_EUSAGE, "'%s' is not a size", text);
        *x_p = (double)bytes;
    }
    return *x_p >= 0 ? XY_OK : xy_fail(XY_EUSAGE, "size %s is negative", text);
}

/* One size, or several with commas. */
static xy_status_t parse_sizes(const char *text, call_t *call)
{
    char *copy = xy_strdup(text), *save = NULL;
    xy_status_t st = copy != NULL ? XY_OK : xy_fail_memory("reading sizes");

    call->count = 0;
    if (st == XY_OK && strtok_r(copy, ",", &save) == NULL)
        st = xy_fail(XY_EUSAGE, "'%s' is not a size", text);
    for (char *word = copy; st == XY_OK && word != NULL; word = strtok_r(NULL, ",", &save))
        st = call->count < XY_SIZES_MAX
                 ? parse_size(word, &call->x[call->count++])
                 : xy_fail(XY_EUSAGE, "'%s': a kernel has at most %d sizes", text, XY_SIZES_MAX);
    xy_free(copy);
    return st;
}

/* Fails with the sizes that the kernel has. */
static xy_status_t fail_sizes(const xy_kernel_cost_t *k, size_t count)
{
    const xy_kernel_form_t *form = xy_kernel_form(k->name);
    size_t sizes = k->shape.sizes > 0 ? k->shape.sizes : form != NULL ? form->sizes : 1;
    xy_text_t list = XY_TEXT_INIT;
    xy_status_t st;

    for (size_t i = 0; i < sizes; i++)
        xy_text_addf(&list, "%s%s", i > 0 ? "," : "",
                     k->shape.sizes > 0 ? k->shape.name[i]
                     : form != NULL     ? form->size_name[i]
                                        : "n");
    st = xy_fail(XY_EUSAGE, "%s has %s%s, not %zu sizes", k->name, sizes > 1 ? "one size or " : "",
                 sizes > 1 && list.s != NULL ? list.s : "one size", count);
    xy_text_cleanup(&list);
    return st;
}

/* Explains the cost of a kernel at the given sizes. */
static xy_status_t explain(const xy_costs_t *costs, const explain_values_t *v, int argc,
                           char **argv)
{
    long threads = 0;
    call_t call;
    xy_estimate_t e;
    const xy_kernel_cost_t *k;
    xy_status_t st = parse_sizes(argv[1], &call);

    if (st == XY_OK && argc > 2 && (!xy_parse_long(argv[2], &threads) || threads < 1))
        st = xy_fail(XY_EUSAGE, "'%s' is not a number of threads", argv[2]);
    if (st != XY_OK)
        return st;
    k = xy_costs_kernel(costs, xy_kernel_base_name(argv[0]), NULL, threads);
    if (k == NULL || k->fit.count == 0)
        return fail_unknown(costs, argv[0]);
    if (xy_kernel_cost_value(k, call.x, call.count, &e) != XY_OK)
        return fail_sizes(k, call.count);
    call.equal = xy_kernel_equal_size(&k->shape, xy_kernel_form(k->name), call.x, call.count);
    if (v->json)
        print_json(costs, k, &call, e);
    else
        print_text(costs, k, &call, e);
    return xy_stdout_check();
}

const explain_topic_t explain_cost = {
    .name = "cost",
    .synopsis = "KERNEL SIZE[,SIZE...] [THREADS]",
    .summary = "the predicted time of a kernel, its polynomial and its error",
    .arguments_min = 2,
    .arguments_max = 3,
    .explain = explain,
};
