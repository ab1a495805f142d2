/* SPDX-License-Identifier: BSD-3-Clause */
/* A scaling study as text, JSON and page. */
#include <math.h>
#include <string.h>

#include "draw/draw.h"
#include "report/report_internal.h"
#include "report/scaling.h"

enum { MARKS = 48, WIDTH = 620, HEIGHT = 320, LEFT = 66, RIGHT = 600, TOP = 40, BOTTOM = 270 };

static const xy_scaling_point_t *point_at(const xy_scaling_t *s, size_t i)
{
    return &XY_VEC_AT(&s->points, xy_scaling_point_t, i);
}

static const char *measured_name(const xy_scaling_t *s)
{
    return s->is_virtual ? "virtual time" : "measured";
}

/* Describe the prediction in a sentence; "": there is none. `text` is returned. */
static const char *explain(const xy_scaling_t *s, char text[96])
{
    *text = '\0';
    if (s->by == XY_SCALING_BY_MODEL)
        snprintf(text, 96, "Predicted: runs in virtual time.");
    else if (s->by == XY_SCALING_BY_FIT)
        snprintf(text, 96, "Predicted: Amdahl's law with a serial fraction of %.1f %%.",
                 100 * s->serial);
    return text;
}

/* The three curves. */
enum { MEASURED, IDEAL, PREDICTED, CURVES };

static double speedup_of(const xy_scaling_point_t *p, int curve)
{
    return curve == MEASURED ? p->speedup
           : curve == IDEAL  ? p->ideal_speedup
                             : p->predicted_speedup;
}

/* ---- Text ---- */

static const char *seconds_of(double value, char text[32])
{
    if (isnan(value))
        return strcpy(text, "-");
    return xy_format_seconds(value, text);
}

static const char *percent_of(double value, char text[32])
{
    if (isnan(value))
        strcpy(text, "-");
    else
        snprintf(text, 32, "%.1f %%", 100 * value);
    return text;
}

static void put_point(const xy_scaling_point_t *p, FILE *file)
{
    const xy_efficiency_t *e = &p->efficiency;
    char text[9][32] = {"-"};

    if (!isnan(p->speedup))
        snprintf(text[0], sizeof(text[0]), "%.3g", p->speedup);
    fprintf(file, "%7u %7u %9s %9s %9s %8s %9s %9s %9s %9s %9s\n", p->ranks, p->cores,
            seconds_of(p->run, text[1]), seconds_of(p->ideal, text[2]),
            seconds_of(p->predicted, text[3]), text[0], percent_of(e->global, text[4]),
            percent_of(e->parallel, text[5]), percent_of(e->load_balance, text[6]),
            percent_of(e->communication, text[7]), percent_of(e->scalability, text[8]));
}

/* The largest speed-up of all curves, at least 2. */
static double most_speedup(const xy_scaling_t *s)
{
    double most = 2;

    for (size_t i = 0; i < s->points.count; i++)
        for (int c = 0; c < CURVES; c++)
            most = fmax(most, speedup_of(point_at(s, i), c)); /* fmax ignores NAN */
    return most;
}

/* A line for each point, with a letter for each curve, by the logarithm of the speed-up. */
static void put_curves(const xy_scaling_t *s, FILE *file)
{
    static const char letters[CURVES] = {'m', 'i', 'p'},
                      order[CURVES] = {IDEAL, PREDICTED, MEASURED};
    double least = 1, most = most_speedup(s);

    for (size_t i = 0; i < s->points.count; i++)
        for (int c = 0; c < CURVES; c++)
            least = fmin(least, speedup_of(point_at(s, i), c));
    fprintf(file, "\nSpeed-up, %.3g to %.3g by doubling: m %s, i ideal%s\n", least, most,
            measured_name(s), s->by != XY_SCALING_BY_NOTHING ? ", p predicted" : "");
    for (size_t i = 0; i < s->points.count; i++) {
        char line[MARKS + 1];
        int length = 0;

        memset(line, '.', sizeof(line));
        for (int c = 0; c < CURVES; c++) {
            double value = speedup_of(point_at(s, i), order[c]);
            int at =
                value > 0 ? (int)lround((MARKS - 1) * log(value / least) / log(most / least)) : 0;

            if (!(value > 0))
                continue;
            line[at] = letters[(int)order[c]];
            length = at + 1 > length ? at + 1 : length;
        }
        fprintf(file, "%7u %.*s\n", point_at(s, i)->ranks, length, line);
    }
}

void xy_scaling_text(const xy_scaling_t *s, FILE *file)
{
    char text[96];

    fprintf(file, "%s\n", s->finding);
    fprintf(file, "%7s %7s %9s %9s %9s %8s %9s %9s %9s %9s %9s\n", "ranks", "cores",
            s->is_virtual ? "virtual" : "measured", "ideal", "predicted", "speed-up", "global",
            "parallel", "balance", "commun.", "comp.sc.");
    for (size_t i = 0; i < s->points.count; i++)
        put_point(point_at(s, i), file);
    put_curves(s, file);
    if (s->by != XY_SCALING_BY_NOTHING)
        fprintf(file, "\n%s\n", explain(s, text));
}

/* ---- JSON ---- */

void xy_scaling_json(const xy_scaling_t *s, FILE *file)
{
    static const char *const by[] = {NULL, "fit", "model"};
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j, "program %s finding %s clock %s predicted_by %s serial_fraction %g", s->program,
              s->finding, s->is_virtual ? "virtual" : "real", by[s->by],
              s->by == XY_SCALING_BY_FIT ? s->serial : NAN);
    xy_json_begin_array(&j, "points");
    for (size_t i = 0; i < s->points.count; i++) {
        const xy_scaling_point_t *p = point_at(s, i);

        xy_json_begin_object(&j, NULL);
        xy_fields(&j,
                  "ranks %u cores %u run %g ideal %g predicted %g speedup %g ideal_speedup %g "
                  "predicted_speedup %g",
                  p->ranks, p->cores, p->run, p->ideal, p->predicted, p->speedup, p->ideal_speedup,
                  p->predicted_speedup);
        report_put_efficiency(&j, &p->efficiency);
        xy_json_end(&j);
    }
    xy_json_end(&j);
    xy_json_end(&j);
}

/* ---- Page ---- */

typedef struct {
    const xy_scaling_t *s;
    xy_svg_t svg;
    xy_axis_t across, up;
} plot_t;

/* A picture with axes; the legend is above it. */
static void plot_begin(plot_t *p, const char *title, xy_axis_t up, xy_tick_fn format,
                       const xy_legend_t *legend, size_t count, FILE *file)
{
    const xy_scaling_t *s = p->s;
    double ticks[XY_TICKS_MAX];
    size_t n = s->points.count < XY_TICKS_MAX ? s->points.count : XY_TICKS_MAX;

    p->up = up;
    p->up.from = BOTTOM;
    p->up.to = TOP;
    p->across = (xy_axis_t){
        .scale = XY_SCALE_DOUBLING,
        .low = point_at(s, 0)->ranks,
        .high = fmax(point_at(s, s->points.count - 1)->ranks, 2 * point_at(s, 0)->ranks),
        .from = LEFT + 8,
        .to = RIGHT - 8};
    p->svg = xy_svg_begin(
        file,
        &(xy_svg_head_t){.width = WIDTH, .height = HEIGHT, .title = title, .is_embedded = true});
    xy_svg_rect(&p->svg, "plot", LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP, NULL);
    xy_svg_legend(&p->svg, LEFT, 8, RIGHT - LEFT, legend, count);
    for (size_t i = 0; i < n; i++)
        ticks[i] = point_at(s, i)->ranks;
    xy_axis_draw_up(&p->svg, &p->up, 5, LEFT, RIGHT, format);
    xy_axis_draw_values(&p->svg, &p->across, ticks, n, TOP, BOTTOM, xy_tick_number);
    xy_svg_text(&p->svg, "mid note", (LEFT + RIGHT) / 2.0, HEIGHT - 12, "ranks");
}

/* A line from point to point, with a mark and a tooltip at each. */
static void plot_curve(const plot_t *p, double (*value_of)(const xy_scaling_point_t *, int),
                       int which, const char *line, const char *fill, const char *name)
{
    double before[2] = {NAN, NAN};

    for (size_t i = 0; i < p->s->points.count; i++) {
        const xy_scaling_point_t *q = point_at(p->s, i);
        double value = value_of(q, which), x, y;
        char tip[96];

        if (isnan(value))
            continue;
        x = xy_axis_at(&p->across, q->ranks);
        y = xy_axis_at(&p->up, value);
        if (!isnan(before[0]))
            xy_svg_line(&p->svg, line, before[0], before[1], x, y);
        snprintf(tip, sizeof(tip), "%s, %u ranks: %.4g", name, q->ranks, value);
        if (fill != NULL)
            xy_svg_circle(&p->svg, fill, x, y, 3.5, tip);
        before[0] = x;
        before[1] = y;
    }
}

/* The picture of the three curves, and what the prediction is. */
static void put_speedup(const xy_scaling_t *s, FILE *file)
{
    plot_t p = {.s = s};
    char measured[48], predicted[48], text[96];
    xy_legend_t legend[CURVES] = {{measured_name(s), measured, XY_LEGEND_LINE},
                                  {"ideal", "soft dash", XY_LEGEND_LINE},
                                  {"predicted", predicted, XY_LEGEND_LINE}};
    xy_axis_t up = {.scale = XY_SCALE_DOUBLING, .low = 1, .high = most_speedup(s)};

    for (size_t i = 0; i < s->points.count; i++)
        for (int c = 0; c < CURVES; c++)
            up.low = fmin(up.low, speedup_of(point_at(s, i), c));
    snprintf(measured, sizeof(measured), "%s thick", xy_colour_line[0]);
    snprintf(predicted, sizeof(predicted), "%s dot", xy_colour_line[1]);
    xy_page_heading(file, "Speed-up");
    plot_begin(&p, "speed-up by ranks", up, xy_tick_number, legend,
               s->by == XY_SCALING_BY_NOTHING ? 2 : CURVES, file);
    plot_curve(&p, speedup_of, IDEAL, "soft dash", NULL, "ideal");
    plot_curve(&p, speedup_of, PREDICTED, predicted, xy_colour_fill[1], "predicted");
    plot_curve(&p, speedup_of, MEASURED, measured, xy_colour_fill[0], measured_name(s));
    xy_svg_end(&p.svg);
    if (s->by != XY_SCALING_BY_NOTHING)
        xy_page_paragraph(file, "%s", explain(s, text));
}

static const char *const efficiency_names[] = {"global", "load balance", "communication",
                                               "computation scalability"};
enum { EFFICIENCIES = sizeof(efficiency_names) / sizeof(efficiency_names[0]) };

static double efficiency_of(const xy_scaling_point_t *p, int which)
{
    const double values[EFFICIENCIES] = {p->efficiency.global, p->efficiency.load_balance,
                                         p->efficiency.communication, p->efficiency.scalability};

    return 100 * values[which];
}

/* The picture of the efficiencies of all measured runs. */
static void put_efficiencies(const xy_scaling_t *s, FILE *file)
{
    plot_t p = {.s = s};
    xy_legend_t legend[EFFICIENCIES];
    xy_axis_t up = {.scale = XY_SCALE_LINEAR, .low = 0, .high = 100};

    for (int k = 0; k < EFFICIENCIES; k++) {
        legend[k] = (xy_legend_t){efficiency_names[k], xy_colour_line[k], XY_LEGEND_LINE};
        for (size_t i = 0; i < s->points.count; i++)
            up.high = fmax(up.high, efficiency_of(point_at(s, i), k));
    }
    xy_axis_widen(&up, 5);
    xy_page_heading(file, "Efficiencies in percent");
    plot_begin(&p, "efficiencies by ranks", up, xy_tick_number, legend, EFFICIENCIES, file);
    for (int k = 0; k < EFFICIENCIES; k++)
        plot_curve(&p, efficiency_of, k, xy_colour_line[k], xy_colour_fill[k], efficiency_names[k]);
    xy_svg_end(&p.svg);
}

/* All points as a table. */
static void put_table(const xy_scaling_t *s, FILE *file)
{
    xy_page_heading(file, "Runs");
    xy_page_table_begin(file, NULL,
                        (const char *const[]){"ranks", "cores", measured_name(s), "ideal",
                                              "predicted", "speed-up", "global", "parallel",
                                              "load balance", "communication",
                                              "computation scalability", NULL});
    for (size_t i = 0; i < s->points.count; i++) {
        const xy_scaling_point_t *p = point_at(s, i);
        const double values[] = {p->efficiency.global, p->efficiency.parallel,
                                 p->efficiency.load_balance, p->efficiency.communication,
                                 p->efficiency.scalability};
        char text[32];

        xy_page_line(file);
        xy_page_cell(file, "%u", p->ranks);
        xy_page_cell(file, "%u", p->cores);
        xy_page_cell(file, "%s", seconds_of(p->run, text));
        xy_page_cell(file, "%s", seconds_of(p->ideal, text));
        xy_page_cell(file, "%s", seconds_of(p->predicted, text));
        if (isnan(p->speedup))
            xy_page_cell(file, "-");
        else
            xy_page_cell(file, "%.3g", p->speedup);
        for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++)
            xy_page_cell(file, "%s", percent_of(values[k], text));
    }
    xy_page_table_end(file, NULL);
}

void xy_scaling_html(const xy_scaling_t *s, FILE *file)
{
    char title[160];

    snprintf(title, sizeof(title), "%.100s: how it scales", s->program);
    xy_page_begin(file, &(xy_page_t){.title = title, .finding = s->finding});
    put_speedup(s, file);
    put_efficiencies(s, file);
    put_table(s, file);
    xy_page_end(file);
}
