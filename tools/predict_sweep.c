/* SPDX-License-Identifier: BSD-3-Clause */
/* Many predictions: all combinations of values, as a table, as CSV, as curves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/draw.h"
#include "predict.h"
#include "values.h"

enum { VARIABLES_MAX = 4, CASES_MAX = VALUES_MAX };

typedef struct {
    char *name;
    xy_vec_t values; /* of double */
} variable_t;

typedef struct {
    variable_t variable[VARIABLES_MAX];
    int count;
    double *seconds; /* [cases], the last variable running fastest */
    size_t cases;
    const char *program, *machine; /* for the title of the picture */
} sweep_t;

/* ---- Reading ---- */

static xy_status_t add_variable(sweep_t *s, const char *name, size_t length, const char *text)
{
    if (length == 0)
        return values_fail("--sweep", text);
    if (s->count == VARIABLES_MAX)
        return xy_fail(XY_ELIMIT, "--sweep: at most %d variables", VARIABLES_MAX);
    s->variable[s->count] =
        (variable_t){.name = xy_strndup(name, length), .values = XY_VEC_INIT(double)};
    return s->variable[s->count++].name != NULL ? XY_OK : xy_fail_memory("making a sweep");
}

/* "n=1000,2000,P=4,16": what has a '=' begins a variable. */
static xy_status_t read_text(sweep_t *s, const char *text)
{
    char *copy = xy_strdup(text), *rest = copy, *item;
    bool has_variable = false;
    xy_status_t st = copy != NULL ? XY_OK : xy_fail_memory("making a sweep");

    while (st == XY_OK && (item = strsep(&rest, ",")) != NULL) {
        char *equal = strchr(item, '=');

        if (equal != NULL) {
            st = add_variable(s, item, (size_t)(equal - item), text);
            item = equal + 1;
            has_variable = st == XY_OK;
        }
        if (st == XY_OK)
            st = has_variable ? values_add(&s->variable[s->count - 1].values, item, "--sweep", text)
                              : values_fail("--sweep", text);
    }
    xy_free(copy);
    return st;
}

/* Reads the variables of --sweep and allocates the results of all combinations. */
static xy_status_t read_sweep(const predict_t *p, sweep_t *s)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < p->v->sweep.count && st == XY_OK; i++)
        st = read_text(s, XY_VEC_AT(&p->v->sweep, const char *, i));
    s->cases = 1;
    for (int i = 0; i < s->count && st == XY_OK; i++) {
        s->cases *= s->variable[i].values.count;
        if (s->cases == 0 || s->cases > CASES_MAX)
            st = xy_fail(XY_ELIMIT, "--sweep: %s predictions", s->cases == 0 ? "no" : "too many");
    }
    if (st == XY_OK && (s->seconds = xy_calloc(s->cases, sizeof(double))) == NULL)
        st = xy_fail_memory("making a sweep");
    return st;
}

static void cleanup(sweep_t *s)
{
    for (int i = 0; i < s->count; i++) {
        xy_free(s->variable[i].name);
        xy_vec_cleanup(&s->variable[i].values);
    }
    xy_free(s->seconds);
}

static double value_of(const sweep_t *s, size_t number, int variable)
{
    for (int i = s->count - 1; i > variable; i--)
        number /= s->variable[i].values.count;
    return XY_VEC_AT(&s->variable[variable].values, double,
                     number % s->variable[variable].values.count);
}

/* ---- Running ---- */

/* The text with {NAME} replaced by the values of this case; the caller frees it. */
static char *fill_in(const sweep_t *s, size_t number, const char *text)
{
    xy_text_t out = XY_TEXT_INIT;
    char value[32];

    while (*text != '\0') {
        int found = -1;

        for (int i = 0; *text == '{' && i < s->count; i++) {
            size_t n = strlen(s->variable[i].name);

            if (strncmp(text + 1, s->variable[i].name, n) == 0 && text[n + 1] == '}')
                found = i;
        }
        if (found >= 0) {
            xy_text_add(&out, xy_format_double(value_of(s, number, found), value));
            text += strlen(s->variable[found].name) + 2;
        } else {
            xy_text_add_bytes(&out, text++, 1);
        }
    }
    if (out.s == NULL || out.failed) {
        xy_text_cleanup(&out);
        return xy_strdup("");
    }
    return out.s;
}

static xy_status_t fill_list(const sweep_t *s, size_t number, const xy_vec_t *from, xy_vec_t *to)
{
    for (size_t i = 0; i < from->count; i++) {
        char *text = fill_in(s, number, XY_VEC_AT(from, const char *, i));

        if (text == NULL || xy_vec_append(to, &text) != XY_OK) {
            xy_free(text);
            return xy_fail_memory("making a sweep");
        }
    }
    return XY_OK;
}

static void free_list(xy_vec_t *list)
{
    for (size_t i = 0; i < list->count; i++)
        xy_free(XY_VEC_AT(list, char *, i));
    xy_vec_cleanup(list);
}

static xy_status_t procs_of(const predict_t *p, const sweep_t *s, size_t number, int32_t *procs_p)
{
    double procs = (double)p->v->procs;

    for (int i = 0; i < s->count; i++)
        if (strcmp(s->variable[i].name, "P") == 0)
            procs = value_of(s, number, i);
    if (!(procs >= 1 && procs <= 1e7 && procs == floor(procs)))
        return xy_fail(XY_EUSAGE, "--sweep: %g processes", procs);
    *procs_p = (int32_t)procs;
    return XY_OK;
}

static bool is_in(const xy_vec_t *list, const char *part)
{
    for (size_t i = 0; i < list->count; i++)
        if (strstr(XY_VEC_AT(list, const char *, i), part) != NULL)
            return true;
    return false;
}

/* Every name stands for something. */
static xy_status_t check_names(const predict_t *p, const sweep_t *s)
{
    for (int i = 0; i < s->count; i++) {
        const char *name = s->variable[i].name;
        char part[80];

        snprintf(part, sizeof(part), "{%s}", name);
        if (strcmp(name, "P") != 0 && !is_in(&p->v->arg, part) && !is_in(&p->v->assume, part))
            return xy_fail(XY_EUSAGE,
                           "--sweep %s: nothing depends on it; write {%s} in --arg or --assume",
                           name, name);
    }
    return XY_OK;
}

/* Predicts one combination of the sweep. */
static xy_status_t run_case(const predict_t *p, const sweep_t *s, size_t number)
{
    xy_vec_t args = XY_VEC_INIT(char *), assume = XY_VEC_INIT(char *);
    predict_case_t k = {0};
    xy_predict_given_t *assumed = NULL;
    xy_prediction_t *r = NULL;
    int32_t *core_of = NULL;
    bool is_placed;
    xy_status_t st = procs_of(p, s, number, &k.procs);

    if (st == XY_OK)
        st = fill_list(s, number, &p->v->arg, &args);
    if (st == XY_OK)
        st = fill_list(s, number, &p->v->assume, &assume);
    if (st == XY_OK)
        st = predict_given(&assume, "--assume", &assumed);
    if (st == XY_OK)
        st = predict_place(p, k.procs, &core_of, &is_placed);
    k.argv = args.data;
    k.argc = (int)args.count;
    k.assumed = assumed;
    k.assumed_count = assume.count;
    k.core_of = core_of;
    if (st == XY_OK)
        st = predict_run(p, &k, &r);
    if (st == XY_OK)
        s->seconds[number] = r->seconds;
    xy_prediction_destroy(r);
    xy_free(core_of);
    predict_given_free(assumed, assume.count);
    free_list(&args);
    free_list(&assume);
    return st;
}

/* ---- Output ---- */

/* Writes the sweep as CSV; the callback of xy_out_write(). */
static xy_status_t print_csv(const void *arg, FILE *file)
{
    const sweep_t *s = arg;
    char text[32];

    for (int i = 0; i < s->count; i++)
        fprintf(file, "%s,", s->variable[i].name);
    fputs("seconds\n", file);
    for (size_t k = 0; k < s->cases; k++) {
        for (int i = 0; i < s->count; i++)
            fprintf(file, "%s,", xy_format_double(value_of(s, k, i), text));
        fprintf(file, "%s\n", xy_format_double(s->seconds[k], text));
    }
    return XY_OK;
}

static void print_table(const sweep_t *s)
{
    char time[32];

    for (int i = 0; i < s->count; i++)
        printf("%12s", s->variable[i].name);
    printf("  %12s\n", "time");
    for (size_t k = 0; k < s->cases; k++) {
        for (int i = 0; i < s->count; i++)
            printf("%12g", value_of(s, k, i));
        printf("  %12s\n", xy_format_seconds(s->seconds[k], time));
    }
}

/* Do the values grow by one factor, as 1, 2, 4, 8? */
static bool are_powers(const double *x, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!(x[i - 1] > 0) || x[i] / x[i - 1] < 1.25 ||
            fabs(x[i] / x[i - 1] - x[1] / x[0]) > 0.01 * x[1] / x[0])
            return false;
    return n > 2;
}

/* Is time drawn over the number of processes, beside that of an ideal speed-up? */
static bool has_ideal(const sweep_t *s)
{
    return strcmp(s->variable[s->count - 1].name, "P") == 0;
}

/* Both axes are logarithmic where the values are powers: equal factors are equal steps there. */
static void set_axes(const sweep_t *s, xy_axis_t *across, xy_axis_t *up)
{
    const variable_t *last = &s->variable[s->count - 1];
    const double *x = last->values.data;
    size_t n = last->values.count;
    double low = INFINITY, high = 0;
    bool is_log = are_powers(x, n);

    for (size_t k = 0; k < s->cases; k++) {
        low = fmin(low, s->seconds[k]);
        if (has_ideal(s) && k % n == 0)
            low = fmin(low, s->seconds[k] * x[0] / x[n - 1]);
        high = fmax(high, s->seconds[k]);
    }
    is_log = is_log && low > 0;
    *across = (xy_axis_t){.scale = is_log ? XY_SCALE_DOUBLING : XY_SCALE_LINEAR,
                          .low = x[0],
                          .high = x[n - 1] > x[0] ? x[n - 1] : x[0] + 1,
                          .from = 70,
                          .to = 620};
    *up = (xy_axis_t){.scale = is_log ? XY_SCALE_TENS : XY_SCALE_LINEAR,
                      .low = is_log ? low : 0,
                      .high = high > 0 ? high : 1,
                      .from = 280,
                      .to = 40};
    if (is_log && !(high > low))
        up->high = 2 * low;
    xy_axis_widen(up, 5);
}

/* The time that falls as the number of processes grows, from the first point on. */
static void draw_ideal(const sweep_t *s, const xy_svg_t *svg, const xy_axis_t *across,
                       const xy_axis_t *up, double *at)
{
    const variable_t *last = &s->variable[s->count - 1];
    const double *x = last->values.data;
    size_t n = last->values.count, curves = s->cases / n;

    for (size_t c = 0; c < curves; c++) {
        for (size_t i = 0; i < n; i++) {
            at[i] = xy_axis_at(across, x[i]);
            at[n + i] = xy_axis_at(up, s->seconds[c * n] * x[0] / x[i]);
        }
        xy_svg_curve(svg, "frame dash", at, at + n, n);
    }
    xy_svg_text(svg, "note end", 620, 322, "dashed: ideal speed-up");
}

/* The last variable across, time up; a curve for each combination of the others. */
static xy_status_t print_svg(const void *arg, FILE *file)
{
    const sweep_t *s = arg;
    const variable_t *last = &s->variable[s->count - 1];
    size_t n = last->values.count, curves = s->cases / n;
    const double *x = last->values.data;
    bool is_processes = has_ideal(s);
    double *at = xy_calloc(2 * n, sizeof(*at));
    char class[32], name[64], title[256];
    xy_axis_t across, up;
    xy_svg_t svg;

    if (at == NULL)
        return xy_fail_memory("drawing");
    set_axes(s, &across, &up);
    snprintf(title, sizeof(title), "%.100s, predicted on %.100s", s->program, s->machine);
    svg = xy_svg_begin(file, &(xy_svg_head_t){.width = 640, .height = 330, .title = title});
    xy_svg_text(&svg, "title", 70, 26, "%s", title);
    xy_svg_rect(&svg, "plot", 70, 40, 550, 240, NULL);
    xy_axis_draw_up(&svg, &up, 5, 70, 620, xy_tick_seconds);
    xy_axis_draw_values(&svg, &across, x, n, 40, 280, xy_tick_number);
    xy_svg_text(&svg, "note mid", 345, 322, "%s", is_processes ? "processes" : last->name);
    if (is_processes)
        draw_ideal(s, &svg, &across, &up, at);
    for (size_t c = 0; c < curves; c++) {
        for (size_t i = 0; i < n; i++) {
            at[i] = xy_axis_at(&across, x[i]);
            at[n + i] = xy_axis_at(&up, s->seconds[c * n + i]);
        }
        snprintf(class, sizeof(class), "%s thick", xy_colour_line[c % XY_COLOURS]);
        xy_svg_curve(&svg, class, at, at + n, n);
        if (s->count > 1) {
            snprintf(name, sizeof(name), "%s = %g", s->variable[s->count - 2].name,
                     value_of(s, c * n, s->count - 2));
            xy_svg_text(&svg, "note", at[n - 1] > 560 ? 540 : at[n - 1] + 4, at[2 * n - 1] - 4,
                        "%s", name);
        }
    }
    xy_svg_end(&svg);
    xy_free(at);
    return XY_OK;
}

xy_status_t predict_sweep(const predict_t *p)
{
    sweep_t s = {.program = p->name, .machine = p->machine->name};
    xy_progress_t bar;
    xy_status_t st = read_sweep(p, &s);

    if (st == XY_OK)
        st = check_names(p, &s);
    xy_progress_start(&bar, "predicting", s.cases);
    for (size_t k = 0; k < s.cases && st == XY_OK; k++) {
        st = run_case(p, &s, k);
        xy_progress_step(&bar, 1);
    }
    xy_progress_stop(&bar);
    if (st == XY_OK && p->v->csv != NULL)
        st = xy_out_write(p->v->csv, print_csv, &s);
    if (st == XY_OK && p->v->svg != NULL)
        st = xy_out_write(p->v->svg, print_svg, &s);
    if (st == XY_OK && p->v->csv == NULL)
        print_table(&s);
    cleanup(&s);
    return st;
}
