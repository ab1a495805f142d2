/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/plot.h"

#include <math.h>
#include <string.h>

/* Measured dots in one colour, the model in another, borders of intervals dashed. */
static const char style[] =
    "text{font:11px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2430}\n"
    ".title{font-size:13px;font-weight:600}.note{fill:#5b6475}.page{fill:#fff}\n"
    ".frame{fill:none;stroke:#8b93a3}.grid{stroke:#e3e6ea}.border{stroke:#8b93a3;"
    "stroke-dasharray:4 3}\n"
    ".fit{fill:none;stroke:#1f6fb5;stroke-width:1.6}.dot{fill:#c0392b}.bar{stroke:#c0392b;"
    "stroke-width:2}\n"
    "@media(prefers-color-scheme:dark){text{fill:#e6e9ef}.note{fill:#a2abba}.page{fill:#14161a}"
    ".frame,.border{stroke:#6b7382}.grid{stroke:#2d323b}.fit{stroke:#6fb3ef}.dot{fill:#ff7b6b}"
    ".bar{stroke:#ff7b6b}}\n";

enum {
    WIDTH = 640,
    HEIGHT = 330,
    LEFT = 76,
    RIGHT = 20,
    TOP = 40,
    PLOT = 190,
    GAP = 14,
    ERROR = 46
};

/* One curve, whatever it is of. */
typedef struct {
    const xy_kernel_cost_t *kernel; /* or */
    const xy_message_cost_t *message;
    double x0, x1, t0, t1, error;
} curve_t;

static size_t sample_count(const curve_t *c)
{
    return c->kernel != NULL ? c->kernel->sample_count : c->message->model.count;
}

static double sample_x(const curve_t *c, size_t i)
{
    return c->kernel != NULL ? c->kernel->samples[i].x : c->message->model.samples[i].bytes;
}

static double sample_t(const curve_t *c, size_t i)
{
    return c->kernel != NULL ? c->kernel->samples[i].t : c->message->model.samples[i].blocking;
}

static double model_t(const curve_t *c, double x)
{
    return c->kernel != NULL
               ? xy_fit_value(&c->kernel->fit, x).seconds
               : xy_message_value(&c->message->model, NULL, XY_MESSAGE_BLOCKING, x).seconds;
}

static double error_of(const curve_t *c, size_t i)
{
    return model_t(c, sample_x(c, i)) / sample_t(c, i) - 1;
}

static bool is_drawable(const curve_t *c)
{
    if (c->kernel != NULL)
        return c->kernel->fit.count > 0 && c->kernel->sample_count > 0;
    return c->message->model.kind[XY_MESSAGE_BLOCKING].latency > 0;
}

/* Whole decades around the samples; errors to the next 5 %, at most 100 %. */
static void find_ranges(curve_t *c)
{
    c->x0 = c->t0 = INFINITY;
    c->x1 = c->t1 = c->error = 0;
    for (size_t i = 0; i < sample_count(c); i++) {
        double x = fmax(sample_x(c, i), 1), t = sample_t(c, i);

        if (!(t > 0))
            continue;
        c->x0 = fmin(c->x0, x);
        c->x1 = fmax(c->x1, x);
        c->t0 = fmin(c->t0, t);
        c->t1 = fmax(c->t1, t);
        c->error = fmax(c->error, fabs(error_of(c, i)));
    }
    c->x0 /= 1.1;
    c->x1 *= 1.1;
    c->t0 = pow(10, floor(log10(c->t0) + 1e-9));
    c->t1 = pow(10, fmax(ceil(log10(c->t1) - 1e-9), log10(c->t0) + 1));
    c->error = fmin(fmax(ceil(c->error / 0.05) * 0.05, 0.05), 1);
}

static double place_x(const curve_t *c, double x)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * log(fmax(x, c->x0) / c->x0) / log(c->x1 / c->x0);
}

static double place_t(const curve_t *c, double t)
{
    double part = log(fmax(t, c->t0 / 10) / c->t0) / log(c->t1 / c->t0);

    return TOP + PLOT * (1 - fmin(fmax(part, 0), 1));
}

static double place_error(const curve_t *c, double error)
{
    return TOP + PLOT + GAP + ERROR / 2.0 * (1 - fmin(fmax(error / c->error, -1), 1));
}

static void line(FILE *f, const char *class, double x0, double y0, double x1, double y1)
{
    fprintf(f, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", class, x0,
            y0, x1, y1);
}

static void label(FILE *f, double x, double y, const char *anchor, const char *text)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    xy_xml_escape(f, text);
    fputs("</text>", f);
}

static bool is_bytes(const curve_t *c)
{
    return c->message != NULL || strcmp(c->kernel->unit, "B") == 0;
}

/* Sizes in bytes by powers of two, orders of matrices by 1, 2, 5. */
static void draw_x_axis(const curve_t *c, FILE *f)
{
    static const double steps[] = {1, 2, 5};
    char text[32];
    double decades = log10(c->x1 / c->x0);

    if (is_bytes(c)) {
        int skip = decades > 4.5 ? 4 : decades > 2 ? 2 : 1;

        for (int k = 0; k < 60; k += skip) {
            double x = ldexp(1, k);

            if (x < c->x0 || x > c->x1)
                continue;
            line(f, "grid", place_x(c, x), TOP, place_x(c, x), TOP + PLOT);
            label(f, place_x(c, x), TOP + PLOT + GAP + ERROR + 16, "middle",
                  xy_format_size((uint64_t)x, text));
        }
        return;
    }
    for (int k = 0; k < 12; k++)
        for (int s = 0; s < 3; s++) {
            double x = steps[s] * pow(10, k);

            if (x < c->x0 || x > c->x1 || (decades > 4 && s > 0))
                continue;
            snprintf(text, sizeof(text), "%g", x);
            line(f, "grid", place_x(c, x), TOP, place_x(c, x), TOP + PLOT);
            label(f, place_x(c, x), TOP + PLOT + GAP + ERROR + 16, "middle", text);
        }
}

static void draw_frame(const curve_t *c, FILE *f)
{
    char text[32];

    draw_x_axis(c, f);
    for (double t = c->t0; t <= c->t1 * 1.01; t *= 10) {
        line(f, "grid", LEFT, place_t(c, t), WIDTH - RIGHT, place_t(c, t));
        label(f, LEFT - 6, place_t(c, t) + 4, "end", xy_format_seconds(t, text));
    }
    fprintf(f, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", LEFT, TOP,
            WIDTH - LEFT - RIGHT, PLOT);
    fprintf(f, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT,
            TOP + PLOT + GAP, WIDTH - LEFT - RIGHT, ERROR);
    line(f, "grid", LEFT, place_error(c, 0), WIDTH - RIGHT, place_error(c, 0));
    snprintf(text, sizeof(text), "+%g %%", 100 * c->error);
    label(f, LEFT - 6, place_error(c, c->error) + 8, "end", text);
    snprintf(text, sizeof(text), "-%g %%", 100 * c->error);
    label(f, LEFT - 6, place_error(c, -c->error) + 2, "end", text);
}

static size_t border_count(const curve_t *c)
{
    return (c->kernel != NULL ? c->kernel->fit.count
                              : c->message->model.kind[XY_MESSAGE_BLOCKING].time.count) -
           1;
}

static double border(const curve_t *c, size_t i)
{
    return c->kernel != NULL ? c->kernel->fit.intervals[i].end
                             : c->message->model.kind[XY_MESSAGE_BLOCKING].time.line[i].end;
}

static void draw_model(const curve_t *c, FILE *f)
{
    enum { STEPS = 300 };

    for (size_t i = 0; i < border_count(c); i++)
        line(f, "border", place_x(c, border(c, i)), TOP, place_x(c, border(c, i)),
             TOP + PLOT + GAP + ERROR);
    fputs("<polyline class=\"fit\" points=\"", f);
    for (int k = 0; k <= STEPS; k++) {
        double x = c->x0 * 1.1 * pow(c->x1 / c->x0 / 1.21, (double)k / STEPS);

        fprintf(f, "%.1f,%.1f ", place_x(c, x), place_t(c, model_t(c, x)));
    }
    fputs("\"/>\n", f);
}

static void draw_samples(const curve_t *c, FILE *f)
{
    char text[32];

    for (size_t i = 0; i < sample_count(c); i++) {
        double x = sample_x(c, i), t = sample_t(c, i);

        if (!(t > 0))
            continue;
        fprintf(f,
                "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%g: %s, model %+.2g "
                "%%</title></circle>",
                place_x(c, x), place_t(c, t), x, xy_format_seconds(t, text), 100 * error_of(c, i));
        line(f, "bar", place_x(c, x), place_error(c, 0), place_x(c, x),
             place_error(c, error_of(c, i)));
    }
    fputc('\n', f);
}

static void draw_title(const curve_t *c, FILE *f)
{
    fprintf(f, "<text class=\"title\" x=\"%d\" y=\"18\">", LEFT);
    if (c->kernel != NULL) {
        xy_xml_escape(f, c->kernel->name);
        fprintf(f, ", %ld %s%s", c->kernel->threads, is_bytes(c) ? "core" : "thread",
                c->kernel->threads == 1 ? "" : "s");
        if (c->kernel->distance > 0)
            fprintf(f, ", memory at distance %ld", c->kernel->distance);
    } else {
        fputs("messages ", f);
        xy_xml_escape(f, c->message->cluster1);
        fputs(" - ", f);
        xy_xml_escape(f, c->message->cluster2);
    }
    fprintf(f,
            "</text><text class=\"note\" x=\"%d\" y=\"33\">%zu samples, %zu interval%s; seconds "
            "against %s, and the model's error</text>\n",
            LEFT, sample_count(c), border_count(c) + 1, border_count(c) == 0 ? "" : "s",
            is_bytes(c) ? "bytes" : "n");
}

static void draw_curve(curve_t *c, int row, FILE *f)
{
    find_ranges(c);
    fprintf(f, "<g transform=\"translate(0 %d)\">\n", row * HEIGHT);
    draw_title(c, f);
    draw_frame(c, f);
    draw_model(c, f);
    draw_samples(c, f);
    fputs("</g>\n", f);
}

static curve_t curve_at(const xy_costs_t *costs, size_t i)
{
    curve_t c = {0};

    if (i < costs->kernels.count)
        c.kernel = &XY_VEC_AT(&costs->kernels, xy_kernel_cost_t, i);
    else
        c.message = &XY_VEC_AT(&costs->messages, xy_message_cost_t, i - costs->kernels.count);
    return c;
}

xy_status_t xy_costs_print_svg(const xy_costs_t *costs, FILE *file)
{
    size_t all = costs->kernels.count + costs->messages.count;
    int rows = 0, row = 0;

    for (size_t i = 0; i < all; i++) {
        curve_t c = curve_at(costs, i);

        rows += is_drawable(&c);
    }
    if (rows == 0)
        return xy_fail(XY_EINVAL, "there is no model to draw");
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" style=\"max-width:100%%;height:auto\" role=\"img\">\n<style>%s</style>\n"
            "<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n",
            WIDTH, rows * HEIGHT, WIDTH, rows * HEIGHT, style);
    for (size_t i = 0; i < all; i++) {
        curve_t c = curve_at(costs, i);

        if (is_drawable(&c))
            draw_curve(&c, row++, file);
    }
    fputs("</svg>\n", file);
    return XY_OK;
}

xy_status_t xy_costs_print_html(const xy_costs_t *costs, FILE *file)
{
    xy_status_t st;

    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Costs of ",
          file);
    xy_xml_escape(file, costs->machine);
    fputs("</title><style>:root{color-scheme:light dark}body{font:14px system-ui,sans-serif;"
          "max-width:680px;margin:2em auto;padding:0 1em}</style></head><body>\n<h1>Costs of ",
          file);
    xy_xml_escape(file, costs->machine);
    fputs("</h1>\n<p>", file);
    xy_xml_escape(file, costs->hardware);
    fputs(", measured ", file);
    xy_xml_escape(file, costs->date);
    fputs(". Dots are measured, lines are the models, dashes their intervals.</p>\n", file);
    st = xy_costs_print_svg(costs, file);
    fputs("</body></html>\n", file);
    return st;
}
