/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sweep as pictures: time against ranks, one panel for each collective and size (with one number
 * of ranks: against size, one panel for each collective), and heat maps of the overlap over ranks
 * and sizes. One or two values are bars, more are curves.
 */
#include <math.h>

#include "draw/draw.h"
#include "sim/sweep.h"
#include "sim/sweep_internal.h"

enum { PANEL_W = 470, PANEL_H = 300, LEFT = 66, RIGHT = 14, TOP = 34, BOTTOM = 46, COLUMNS = 2 };
enum { BAR_STEPS = 2, MARK_STEPS = 16, LEGEND_MAX = 32, STEPS_MAX = 4096 };

typedef enum { COMPUTATION, BOUND, COMMUNICATION, OVERLAPPED } phase_t;

typedef struct {
    const xy_sim_sweep_t *sweep;
    const xy_sim_point_t *points; /* of this panel, by ranks or size, then way */
    double x, y;
    xy_axis_t across, up;
    xy_svg_t svg;
} panel_t;

/* With one number of ranks there is nothing to see over ranks. */
static bool is_over_size(const xy_sim_sweep_t *sweep)
{
    return sweep->rank_count == 1 && sweep->size_count > 1;
}

static int steps_of(const xy_sim_sweep_t *sweep)
{
    int steps = is_over_size(sweep) ? sweep->size_count : sweep->rank_count;

    return steps < STEPS_MAX ? steps : STEPS_MAX;
}

static const xy_sim_point_t *point_at(const panel_t *p, int step, int way)
{
    return &p->points[step * p->sweep->way_count + way];
}

static double step_value(const xy_sim_sweep_t *sweep, int step)
{
    return is_over_size(sweep) ? (double)sweep->sizes[step] : sweep->ranks[step];
}

static double time_of(const xy_sim_point_t *q, phase_t what)
{
    return what == COMPUTATION     ? q->times.t_comp
           : what == BOUND         ? q->bound
           : what == COMMUNICATION ? q->times.t_comm
                                   : q->times.t_ovrl;
}

static char *tip_of(const panel_t *p, const xy_sim_point_t *q, char text[160])
{
    char comm[32], comp[32], ovrl[32];

    snprintf(text, 160, "%.60s: t_comm %s, t_comp %s, t_ovrl %s", p->sweep->ways[q->way].name,
             xy_format_seconds(q->times.t_comm, comm), xy_format_seconds(q->times.t_comp, comp),
             xy_format_seconds(q->times.t_ovrl, ovrl));
    return text;
}

/* ---- Scales ---- */

/* From 0, or by tens when the times of curves are far apart; bars begin at 0. */
static void scale_up(panel_t *p, int count)
{
    double least = INFINITY, most = 0;
    bool has_bars = steps_of(p->sweep) <= BAR_STEPS;

    for (int i = 0; i < count; i++) {
        most = fmax(most, p->points[i].times.t_ovrl);
        least = fmin(least, p->points[i].times.t_ovrl);
    }
    most = most > 0 ? most : 1e-6;
    p->up = (xy_axis_t){.high = most, .from = p->y + PANEL_H - BOTTOM, .to = p->y + TOP};
    if (!has_bars && least > 0 && most / least > 30)
        p->up = (xy_axis_t){XY_SCALE_TENS, least, most, p->up.from, p->up.to};
    xy_axis_widen(&p->up, 5);
}

static void scale_across(panel_t *p)
{
    const xy_sim_sweep_t *s = p->sweep;

    p->across = (xy_axis_t){.scale = is_over_size(s) ? XY_SCALE_DOUBLING : XY_SCALE_LINEAR,
                            .low = step_value(s, 0),
                            .high = step_value(s, steps_of(s) - 1),
                            .from = p->x + LEFT + 8,
                            .to = p->x + PANEL_W - RIGHT - 8};
}

/* ---- Curves ---- */

/* One line from left to right; where there is no result, it is broken. */
static void draw_curve(const panel_t *p, phase_t what, int way, const char *class)
{
    double x[STEPS_MAX], y[STEPS_MAX];
    int n = steps_of(p->sweep);

    for (int i = 0; i < n; i++) {
        double t = time_of(point_at(p, i, way), what);

        x[i] = xy_axis_at(&p->across, step_value(p->sweep, i));
        y[i] = isnan(t) ? t : xy_axis_at(&p->up, t);
    }
    xy_svg_curve(&p->svg, class, x, y, (size_t)n);
}

static void draw_marks(const panel_t *p, int way, int colour)
{
    char tip[160];

    for (int i = 0; i < steps_of(p->sweep) && steps_of(p->sweep) <= MARK_STEPS; i++) {
        const xy_sim_point_t *q = point_at(p, i, way);

        if (!isnan(q->times.t_ovrl))
            xy_svg_circle(&p->svg, xy_colour_fill[colour],
                          xy_axis_at(&p->across, step_value(p->sweep, i)),
                          xy_axis_at(&p->up, q->times.t_ovrl), 3.5, tip_of(p, q, tip));
    }
}

/* Draws the times of each way as curves, with the bound of simulated sweeps. */
static void draw_curves(const panel_t *p)
{
    int ways = p->sweep->way_count;
    char class[32];

    draw_curve(p, COMPUTATION, p->sweep->is_measured ? 0 : ways - 1, "soft dot");
    for (int w = 0; w < ways; w++) {
        int colour = xy_colour_of(p->sweep->ways[w].name);

        snprintf(class, sizeof(class), "%s dash", xy_colour_line[colour]);
        draw_curve(p, COMMUNICATION, w, class);
        snprintf(class, sizeof(class), "%s thick", xy_colour_line[colour]);
        draw_curve(p, OVERLAPPED, w, class);
        draw_marks(p, w, colour);
    }
    if (!p->sweep->is_measured)
        draw_curve(p, BOUND, ways - 1, "ink dash");
}

/* Draws the ticks of sizes or ranks. */
static void draw_steps(const panel_t *p)
{
    const xy_sim_sweep_t *s = p->sweep;
    double top = p->up.to, bottom = p->up.from, values[STEPS_MAX];

    if (!is_over_size(s)) {
        xy_axis_draw_across(&p->svg, &p->across, 7, top, bottom, xy_tick_number);
        return;
    }
    for (int i = 0; i < steps_of(s); i++)
        values[i] = step_value(s, i);
    xy_axis_draw_values(&p->svg, &p->across, values, (size_t)steps_of(s), top, bottom,
                        xy_tick_size);
}

/* ---- Bars: a group for each step, in it one bar for each way ---- */

static void draw_level(const panel_t *p, const char *class, double time, double x0, double x1)
{
    if (!isnan(time))
        xy_svg_line(&p->svg, class, x0, xy_axis_at(&p->up, time), x1, xy_axis_at(&p->up, time));
}

/* With the time above each bar: times may be far apart. */
static void draw_bars(const panel_t *p)
{
    xy_bars_t bars = {&p->up, p->x + LEFT, p->x + PANEL_W - RIGHT, steps_of(p->sweep),
                      p->sweep->way_count};
    char tip[160], text[32];

    for (int i = 0; i < bars.groups; i++) {
        for (int w = 0; w < bars.bars; w++) {
            const xy_sim_point_t *q = point_at(p, i, w);
            double width, x = xy_bars_at(&bars, i, w, &width);

            if (isnan(q->times.t_ovrl))
                continue;
            xy_bars_draw(&p->svg, &bars, i, w, q->times.t_ovrl,
                         xy_colour_fill[xy_colour_of(p->sweep->ways[w].name)],
                         xy_format_seconds(q->times.t_ovrl, text), tip_of(p, q, tip));
            draw_level(p, "ink dash", q->times.t_comm, x - 3, x + width + 3);
            draw_level(p, "ink dot", q->times.t_comp, x - 3, x + width + 3);
        }
        xy_bars_name(&p->svg, &bars, i,
                     is_over_size(p->sweep) ? xy_tick_size(step_value(p->sweep, i), text)
                                            : xy_tick_number(step_value(p->sweep, i), text));
    }
}

/* ---- Panels ---- */

/* Draws one panel: a collective over sizes or ranks, as bars or curves. */
static void draw_panel(panel_t *p)
{
    char size[32];
    bool has_bars = steps_of(p->sweep) <= BAR_STEPS;

    scale_up(p, steps_of(p->sweep) * p->sweep->way_count);
    scale_across(p);
    if (is_over_size(p->sweep))
        xy_svg_text(&p->svg, "title", p->x + LEFT, p->y + 20, "%s, %d ranks",
                    xy_coll_name(p->points->collective), p->points->ranks);
    else
        xy_svg_text(&p->svg, "title", p->x + LEFT, p->y + 20, "%s, %s",
                    xy_coll_name(p->points->collective), xy_format_size(p->points->size, size));
    xy_axis_draw_up(&p->svg, &p->up, 5, p->x + LEFT, p->x + PANEL_W - RIGHT, xy_tick_seconds);
    if (has_bars) {
        draw_bars(p);
    } else {
        draw_steps(p);
        draw_curves(p);
    }
    xy_svg_text(&p->svg, "note mid", p->x + (LEFT + PANEL_W - RIGHT) / 2.0, p->up.from + 34, "%s",
                is_over_size(p->sweep) ? "bytes" : "ranks");
}

/* Fills the legend; returns the number of entries. */
static size_t list_legend(const xy_sim_sweep_t *sweep, xy_legend_t entries[LEGEND_MAX])
{
    bool has_bars = steps_of(sweep) <= BAR_STEPS;
    size_t n = 0;

    for (int w = 0; w < sweep->way_count && n < LEGEND_MAX - 3; w++) {
        int colour = xy_colour_of(sweep->ways[w].name);

        entries[n++] = has_bars ? (xy_legend_t){sweep->ways[w].name, xy_colour_fill[colour], false}
                                : (xy_legend_t){sweep->ways[w].name, xy_colour_line[colour], true};
    }
    entries[n++] = (xy_legend_t){"collective alone", has_bars ? "ink dash" : "soft dash", true};
    entries[n++] = (xy_legend_t){"computation alone", has_bars ? "ink dot" : "soft dot", true};
    if (!sweep->is_measured && !has_bars)
        entries[n++] = (xy_legend_t){"work bound", "ink dash", true};
    return n;
}

void sim_draw_panels(const xy_sim_sweep_t *sweep, const xy_vec_t *points, bool is_embedded,
                     FILE *file)
{
    int panels = sweep->collective_count * (is_over_size(sweep) ? 1 : sweep->size_count);
    int columns = panels < COLUMNS ? panels : COLUMNS, rows = (panels + columns - 1) / columns;
    size_t each = (size_t)(is_over_size(sweep) ? sweep->size_count : sweep->rank_count) *
                  (size_t)sweep->way_count;
    double width = columns * PANEL_W > 560 ? columns * PANEL_W : 560;
    xy_legend_t entries[LEGEND_MAX];
    size_t count = list_legend(sweep, entries);
    double legend = 16 + xy_legend_height(width - LEFT, entries, count);
    xy_svg_t svg =
        xy_svg_begin(file, &(xy_svg_head_t){.width = width,
                                            .height = rows * PANEL_H + legend,
                                            .title = "Time of collectives and computation",
                                            .is_embedded = is_embedded});

    xy_svg_legend(&svg, LEFT, 8, width - LEFT, entries, count);
    for (int i = 0; i < panels && points->count >= each * (size_t)panels; i++) {
        panel_t panel = {.sweep = sweep,
                         .points = &XY_VEC_AT(points, xy_sim_point_t, (size_t)i * each),
                         .x = i % columns * PANEL_W,
                         /* NOLINTNEXTLINE(bugprone-integer-division) */
                         .y = i / columns * PANEL_H + legend,
                         .svg = svg};

        draw_panel(&panel);
    }
    xy_svg_end(&svg);
}

void xy_sim_write_svg(const xy_sim_sweep_t *sweep, const xy_vec_t *points, FILE *file)
{
    sim_draw_panels(sweep, points, false, file);
}

/* ---- Heat maps: from nothing hidden to all of it ---- */

static const xy_sim_point_t *sweep_point(const xy_sim_sweep_t *sweep, const xy_vec_t *points,
                                         int collective, int size, int ranks, int way)
{
    int at =
        ((collective * sweep->size_count + size) * sweep->rank_count + ranks) * sweep->way_count +
        way;

    return &XY_VEC_AT(points, xy_sim_point_t, (size_t)at);
}

void sim_draw_heat(const xy_sim_sweep_t *sweep, const xy_vec_t *points, int collective, int way,
                   FILE *file)
{
    enum { HEAT_LEFT = 76, HEAT_TOP = 28, ROW = 20 };
    int cell = sweep->rank_count > 40 ? 10 : 22, step = sweep->rank_count > 16 ? 8 : 2;
    double wide = cell * sweep->rank_count, high = ROW * sweep->size_count;
    xy_svg_t svg = xy_svg_begin(file, &(xy_svg_head_t){.width = fmax(HEAT_LEFT + wide + 20, 300),
                                                       .height = HEAT_TOP + high + 40,
                                                       .title = "Overlap over ranks and size",
                                                       .is_embedded = true});
    char text[64];

    xy_svg_text(&svg, "title", HEAT_LEFT, 18, "%s, %s",
                xy_coll_name(sweep->collectives[collective]), sweep->ways[way].name);
    for (int s = 0; s < sweep->size_count; s++) {
        xy_svg_text(&svg, "note end", HEAT_LEFT - 6, HEAT_TOP + ROW * s + 15, "%s",
                    xy_format_size(sweep->sizes[s], text));
        for (int r = 0; r < sweep->rank_count; r++) {
            const xy_sim_point_t *p = sweep_point(sweep, points, collective, s, r, way);
            double percent = isnan(p->times.t_ovrl) ? 0 : sim_overlap_of(sweep, p);

            snprintf(text, sizeof(text), "%d ranks: %.1f %%", p->ranks, percent);
            xy_svg_cell(&svg, "f0", HEAT_LEFT + cell * r, HEAT_TOP + ROW * s, cell, ROW,
                        fmin(fmax(percent / 100, 0), 1), text);
        }
    }
    xy_svg_rect(&svg, "frame", HEAT_LEFT, HEAT_TOP, wide, high, NULL);
    for (int r = 0; r < sweep->rank_count; r += step)
        xy_svg_text(&svg, "note mid", HEAT_LEFT + cell * (r + 0.5), HEAT_TOP + high + 16, "%d",
                    sweep->ranks[r]);
    xy_svg_text(&svg, "note", HEAT_LEFT, HEAT_TOP + high + 34, "ranks");
    xy_svg_end(&svg);
}
