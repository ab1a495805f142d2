/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/plot.h"

#include <math.h>
#include <string.h>

#include "draw/draw.h"

/* The model blue, samples orange, borders of intervals dashed. */
#define MODEL  "s0 thick"
#define SAMPLE "f1"
#define ERROR  "s1 thick"

enum {
    WIDTH = 640,
    HEIGHT = 330,
    LEFT = 76,
    RIGHT = 20,
    TOP = 40,
    PLOT = 190,
    GAP = 14,
    ERROR_HIGH = 46
};

/* One curve, whatever it is of. */
typedef struct {
    const xy_kernel_cost_t *kernel; /* or */
    const xy_message_cost_t *message;
    xy_axis_t across, up, error;
    double top; /* in the picture */
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

static bool is_bytes(const curve_t *c)
{
    return c->message != NULL || strcmp(c->kernel->unit, "B") == 0;
}

/* Whole decades around the samples; errors to the next 5 %, at most 100 %. */
static void find_ranges(curve_t *c)
{
    xy_axis_t across = {is_bytes(c) ? XY_SCALE_DOUBLING : XY_SCALE_TENS, INFINITY, 0, LEFT,
                        WIDTH - RIGHT};
    xy_axis_t up = {XY_SCALE_TENS, INFINITY, 0, c->top + TOP + PLOT, c->top + TOP};
    double error = 0.05;

    for (size_t i = 0; i < sample_count(c); i++) {
        double x = fmax(sample_x(c, i), 1), t = sample_t(c, i);

        if (!(t > 0))
            continue;
        across.low = fmin(across.low, x / 1.1);
        across.high = fmax(across.high, x * 1.1);
        up.low = fmin(up.low, t);
        up.high = fmax(up.high, t);
        error = fmax(error, fabs(error_of(c, i)));
    }
    error = fmin(ceil(error / 0.05 - 1e-9) * 0.05, 1);
    xy_axis_widen(&up, 6);
    c->across = across;
    c->up = up;
    c->error = (xy_axis_t){
        .low = -error, .high = error, .from = up.from + GAP + ERROR_HIGH, .to = up.from + GAP};
}

/* ---- Drawing ---- */

static void draw_frame(const curve_t *c, const xy_svg_t *svg)
{
    double bottom = c->error.from, zero = xy_axis_at(&c->error, 0);

    xy_axis_draw_across(svg, &c->across, is_bytes(c) ? 8 : 10, c->top + TOP, bottom,
                        is_bytes(c) ? xy_tick_size : xy_tick_number);
    xy_axis_draw_up(svg, &c->up, 6, LEFT, WIDTH - RIGHT, xy_tick_seconds);
    xy_svg_rect(svg, "frame", LEFT, c->top + TOP, WIDTH - LEFT - RIGHT, PLOT, NULL);
    xy_svg_rect(svg, "frame", LEFT, c->error.to, WIDTH - LEFT - RIGHT, ERROR_HIGH, NULL);
    xy_svg_line(svg, "frame", LEFT, zero, WIDTH - RIGHT, zero);
    xy_svg_text(svg, "note end", LEFT - 6, c->error.to + 8, "+%g %%", 100 * c->error.high);
    xy_svg_text(svg, "note end", LEFT - 6, c->error.from + 2, "-%g %%", 100 * c->error.high);
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

/* Draws the curve of a model and the borders of its intervals. */
static void draw_model(const curve_t *c, const xy_svg_t *svg)
{
    enum { STEPS = 300 };
    double x[STEPS + 1], y[STEPS + 1], low = c->across.low * 1.1, high = c->across.high / 1.1;

    for (size_t i = 0; i < border_count(c); i++) {
        double at = xy_axis_at(&c->across, border(c, i));

        xy_svg_line(svg, "frame dash", at, c->top + TOP, at, c->error.from);
    }
    for (int k = 0; k <= STEPS; k++) {
        double size = low * pow(high / low, (double)k / STEPS);

        x[k] = xy_axis_at(&c->across, size);
        y[k] = xy_axis_at(&c->up, model_t(c, size));
    }
    xy_svg_curve(svg, MODEL, x, y, STEPS + 1);
}

/* Draws the samples and the model's error at each. */
static void draw_samples(const curve_t *c, const xy_svg_t *svg)
{
    char text[32], tip[96];

    for (size_t i = 0; i < sample_count(c); i++) {
        double t = sample_t(c, i), x = xy_axis_at(&c->across, sample_x(c, i));

        if (!(t > 0))
            continue;
        snprintf(tip, sizeof(tip), "%g: %s, model %+.2g %%", sample_x(c, i),
                 xy_format_seconds(t, text), 100 * error_of(c, i));
        xy_svg_circle(svg, SAMPLE, x, xy_axis_at(&c->up, t), 3, tip);
        xy_svg_line(svg, ERROR, x, xy_axis_at(&c->error, 0), x,
                    xy_axis_at(&c->error, error_of(c, i)));
    }
}

/* Draws the title and the number of samples and intervals. */
static void draw_title(const curve_t *c, const xy_svg_t *svg)
{
    char distance[64] = "";

    if (c->kernel == NULL) {
        xy_svg_text(svg, "title", LEFT, c->top + 18, "messages %s - %s", c->message->cluster1,
                    c->message->cluster2);
    } else {
        if (c->kernel->distance > 0)
            snprintf(distance, sizeof(distance), ", memory at distance %ld", c->kernel->distance);
        xy_svg_text(svg, "title", LEFT, c->top + 18, "%s, %ld %s%s%s", c->kernel->name,
                    c->kernel->threads, is_bytes(c) ? "core" : "thread",
                    c->kernel->threads == 1 ? "" : "s", distance);
    }
    xy_svg_text(svg, "note", LEFT, c->top + 33,
                "%zu samples, %zu interval%s; seconds against %s, and the model's error",
                sample_count(c), border_count(c) + 1, border_count(c) == 0 ? "" : "s",
                is_bytes(c) ? "bytes" : "n");
}

static void draw_curve(curve_t *c, const xy_svg_t *svg)
{
    find_ranges(c);
    draw_title(c, svg);
    draw_frame(c, svg);
    draw_model(c, svg);
    draw_samples(c, svg);
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

static size_t curve_count(const xy_costs_t *costs)
{
    return costs->kernels.count + costs->messages.count;
}

/* Draws models [first, end) of a store as one picture; `rows` of them can be drawn. */
static void draw_rows(const xy_costs_t *costs, size_t first, size_t end, int rows, bool is_embedded,
                      FILE *file)
{
    xy_svg_t svg = xy_svg_begin(file, &(xy_svg_head_t){.width = WIDTH,
                                                       .height = rows * HEIGHT,
                                                       .title = "Costs and their models",
                                                       .is_embedded = is_embedded});

    rows = 0;
    for (size_t i = first; i < end; i++) {
        curve_t c = curve_at(costs, i);

        if (!is_drawable(&c))
            continue;
        c.top = HEIGHT * rows++;
        draw_curve(&c, &svg);
    }
    xy_svg_end(&svg);
}

/* Draws all models of a store: as one picture, or embedded in a page, where each is a picture of
 * its own, so that pages of paper end between them. XY_EINVAL if there is none. */
static xy_status_t draw(const xy_costs_t *costs, bool is_embedded, FILE *file)
{
    int rows = 0;

    for (size_t i = 0; i < curve_count(costs); i++) {
        curve_t c = curve_at(costs, i);

        if (!is_drawable(&c))
            continue;
        rows++;
        if (is_embedded)
            draw_rows(costs, i, i + 1, 1, true, file);
    }
    if (rows == 0)
        return xy_fail(XY_EINVAL, "there is no model to draw");
    if (!is_embedded)
        draw_rows(costs, 0, curve_count(costs), rows, false, file);
    return XY_OK;
}

xy_status_t xy_costs_print_svg(const xy_costs_t *costs, FILE *file)
{
    return draw(costs, false, file);
}

/* "12 models miss their samples by 1.3 % on average and by 6 % at most." */
static void find(const xy_costs_t *costs, char *text, size_t size)
{
    double sum = 0, most = 0;
    size_t models = 0, samples = 0;

    for (size_t i = 0; i < curve_count(costs); i++) {
        curve_t c = curve_at(costs, i);

        if (!is_drawable(&c))
            continue;
        models++;
        for (size_t s = 0; s < sample_count(&c); s++) {
            double error = sample_t(&c, s) > 0 ? fabs(error_of(&c, s)) : NAN;

            if (isnan(error))
                continue;
            sum += error;
            most = fmax(most, error);
            samples++;
        }
    }
    text[0] = '\0';
    if (samples > 0)
        snprintf(text, size, "%zu model%s %s samples by %.2g %% on average and by %.2g %% at most.",
                 models, models == 1 ? "" : "s", models == 1 ? "misses its" : "miss their",
                 100 * sum / (double)samples, 100 * most);
}

xy_status_t xy_costs_print_html(const xy_costs_t *costs, FILE *file)
{
    char title[128], finding[160];
    xy_status_t st;

    snprintf(title, sizeof(title), "Costs of %s", costs->machine);
    find(costs, finding, sizeof(finding));
    xy_page_begin(file, &(xy_page_t){.title = title, .finding = finding});
    xy_page_paragraph(file,
                      "Measured on %s at %s. Dots are measurements, lines are models, dashed lines "
                      "separate the intervals of a model.",
                      costs->hardware, costs->date);
    st = draw(costs, true, file);
    xy_page_end(file);
    return st;
}
