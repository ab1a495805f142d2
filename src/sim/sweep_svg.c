/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sweep as pictures: curves of time against ranks, one panel for each collective and size (with
 * one number of ranks: against size, one panel for each collective), and heat maps of the overlap
 * over ranks and sizes.
 */
#include <math.h>

#include "sim/sweep.h"
#include "sim/sweep_internal.h"

enum { PANEL_W = 420, PANEL_H = 280, LEFT = 62, RIGHT = 14, TOP = 34, BOTTOM = 40, COLUMNS = 2 };
enum { LEGEND_H = 44 };

/* Okabe and Ito's colours: told apart by everybody. */
static const char *const colours[] = {"#d55e00", "#0072b2", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#7f7f7f", "#000000"};
enum { COLOURS = sizeof(colours) / sizeof(colours[0]) };

typedef struct {
    const xy_sim_sweep_t *sweep;
    const xy_sim_point_t *points; /* of this panel, by ranks or size, then way */
    double x, y;
    double most, least; /* seconds, of the vertical axis */
    bool is_log;        /* which is logarithmic when they are far apart */
    FILE *file;
} panel_t;

/* With one number of ranks there is nothing to see over ranks. */
static bool is_over_size(const xy_sim_sweep_t *sweep)
{
    return sweep->rank_count == 1 && sweep->size_count > 1;
}

static int steps_of(const xy_sim_sweep_t *sweep)
{
    return is_over_size(sweep) ? sweep->size_count : sweep->rank_count;
}

/* From left to right: ranks as they are, sizes by their logarithm. */
static double px(const panel_t *p, double value)
{
    const xy_sim_sweep_t *s = p->sweep;
    double low = is_over_size(s) ? log2((double)s->sizes[0]) : s->ranks[0];
    double high =
        is_over_size(s) ? log2((double)s->sizes[s->size_count - 1]) : s->ranks[s->rank_count - 1];
    double share =
        high > low ? ((is_over_size(s) ? log2(value) : value) - low) / (high - low) : 0.5;

    return p->x + LEFT + 8 + share * (PANEL_W - LEFT - RIGHT - 16);
}

static double px_of(const panel_t *p, const xy_sim_point_t *q)
{
    return px(p, is_over_size(p->sweep) ? (double)q->size : q->ranks);
}

static double py(const panel_t *p, double seconds)
{
    double share = p->is_log ? log(fmax(seconds, p->least) / p->least) / log(p->most / p->least)
                             : seconds / p->most;

    return p->y + PANEL_H - BOTTOM - share * (PANEL_H - TOP - BOTTOM);
}

/* 1, 2 or 5 times a power of ten: about `parts` of them fit in `most`. */
static double nice_step(double most, double parts)
{
    double step = pow(10, floor(log10(most / parts)));

    if (most / step > 5 * parts)
        return 10 * step;
    if (most / step > 2 * parts)
        return 5 * step;
    return most / step > parts ? 2 * step : step;
}

/* Across the panel, with its time. */
static void draw_line(const panel_t *p, double t)
{
    char text[32];

    fprintf(p->file,
            "<path class=\"g\" d=\"M%.1f %.1fH%.1f\"/><text class=\"e\" x=\"%.1f\" "
            "y=\"%.1f\">%s</text>\n",
            p->x + LEFT, py(p, t), p->x + PANEL_W - RIGHT, p->x + LEFT - 6, py(p, t) + 4,
            t > 0 ? xy_format_seconds(t, text) : "0");
}

static void draw_axes(const panel_t *p)
{
    int low = p->sweep->ranks[0], high = p->sweep->ranks[p->sweep->rank_count - 1];
    double step = nice_step(p->most, 5), across = fmax(1, nice_step(fmax(1, high - low), 7));
    char text[32];

    if (p->is_log)
        for (int i = 0; i <= (int)lround(log10(p->most / p->least)); i++)
            draw_line(p, p->least * pow(10, i));
    else
        for (int i = 0; i * step <= p->most * 1.0001; i++)
            draw_line(p, i * step);
    for (int s = 0; is_over_size(p->sweep) && s < p->sweep->size_count; s++)
        fprintf(p->file, "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                px(p, (double)p->sweep->sizes[s]), p->y + PANEL_H - BOTTOM + 16,
                xy_format_size(p->sweep->sizes[s], text));
    for (double n = ceil(low / across) * across; !is_over_size(p->sweep) && n <= high; n += across)
        fprintf(p->file, "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">%.0f</text>\n", px(p, n),
                p->y + PANEL_H - BOTTOM + 16, n);
    fprintf(p->file, "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
            p->x + (LEFT + PANEL_W - RIGHT) / 2.0, p->y + PANEL_H - 8,
            is_over_size(p->sweep) ? "bytes" : "ranks");
}

typedef enum { COMPUTATION, BOUND, COMMUNICATION, OVERLAPPED } curve_t;

static double time_of(const xy_sim_point_t *q, curve_t what)
{
    return what == COMPUTATION     ? q->times.t_comp
           : what == BOUND         ? q->bound
           : what == COMMUNICATION ? q->times.t_comm
                                   : q->times.t_ovrl;
}

/* One line from left to right; where there is no result, it is broken. */
static void draw_curve(const panel_t *p, curve_t what, int way, const char *style)
{
    bool is_down = false;

    fprintf(p->file, "<path class=\"c\" %s d=\"", style);
    for (int i = 0; i < steps_of(p->sweep); i++) {
        const xy_sim_point_t *q = &p->points[i * p->sweep->way_count + way];
        double t = time_of(q, what);

        if (isnan(t)) {
            is_down = false;
            continue;
        }
        fprintf(p->file, "%c%.1f %.1f", is_down ? 'L' : 'M', px_of(p, q), py(p, t));
        is_down = true;
    }
    fputs("\"/>\n", p->file);
}

/* Few points are marked; a pointer held over one tells its times. */
static void draw_marks(const panel_t *p, int way)
{
    for (int i = 0; i < steps_of(p->sweep) && steps_of(p->sweep) <= 16; i++) {
        const xy_sim_point_t *q = &p->points[i * p->sweep->way_count + way];
        char comm[32], comp[32], ovrl[32];

        if (isnan(q->times.t_ovrl))
            continue;
        fprintf(p->file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"><title>",
                px_of(p, q), py(p, q->times.t_ovrl), colours[way % COLOURS]);
        sim_write_escaped(p->sweep->ways[way].name, p->file);
        fprintf(p->file, ": t_comm %s, t_comp %s, t_ovrl %s</title></circle>\n",
                xy_format_seconds(q->times.t_comm, comm), xy_format_seconds(q->times.t_comp, comp),
                xy_format_seconds(q->times.t_ovrl, ovrl));
    }
}

/* From 0, or from a power of ten to another when the times are far apart. */
static void scale(panel_t *p, int count)
{
    p->most = 1e-12;
    p->least = 1e12;
    for (int i = 0; i < count; i++) {
        p->most = fmax(p->most, 1.05 * p->points[i].times.t_ovrl);
        p->least = fmin(p->least, p->points[i].times.t_ovrl);
    }
    p->is_log = p->least > 0 && p->most / p->least > 30;
    if (p->is_log) {
        p->least = pow(10, floor(log10(p->least)));
        p->most = pow(10, ceil(log10(p->most)));
    }
}

static void draw_panel(panel_t *p)
{
    int ways = p->sweep->way_count, count = steps_of(p->sweep) * ways;
    char size[32], style[96];

    scale(p, count);
    fprintf(p->file, "<text class=\"h\" x=\"%.1f\" y=\"%.1f\">%s, ", p->x + LEFT, p->y + 22,
            xy_coll_name(p->points->collective));
    if (is_over_size(p->sweep))
        fprintf(p->file, "%d ranks</text>\n", p->points->ranks);
    else
        fprintf(p->file, "%s</text>\n", xy_format_size(p->points->size, size));
    draw_axes(p);
    draw_curve(p, COMPUTATION, p->sweep->is_measured ? 0 : ways - 1,
               "stroke=\"#888\" stroke-dasharray=\"2 3\"");
    for (int w = 0; w < ways; w++) {
        const char *colour = colours[w % COLOURS];

        snprintf(style, sizeof(style), "stroke=\"%s\" stroke-width=\"1\" stroke-dasharray=\"6 4\"",
                 colour);
        draw_curve(p, COMMUNICATION, w, style);
        snprintf(style, sizeof(style), "stroke=\"%s\" stroke-width=\"2\"", colour);
        draw_curve(p, OVERLAPPED, w, style);
        draw_marks(p, w);
    }
    if (!p->sweep->is_measured)
        draw_curve(p, BOUND, ways - 1, "stroke=\"#000\" stroke-dasharray=\"3 6\"");
}

static void draw_legend(const xy_sim_sweep_t *sweep, double y, FILE *file)
{
    double x = LEFT;

    for (int w = -2; w < sweep->way_count; w++) {
        if (w == -1 && sweep->is_measured)
            continue;

        const char *name = w == -2 ? "computation" : w == -1 ? "work bound" : sweep->ways[w].name;

        fprintf(file,
                "<path class=\"c\" stroke=\"%s\" %s d=\"M%.0f %.0fh26\"/><text x=\"%.0f\" "
                "y=\"%.0f\">",
                w == -2   ? "#888"
                : w == -1 ? "#000"
                          : colours[w % COLOURS],
                w == -2   ? "stroke-dasharray=\"2 3\""
                : w == -1 ? "stroke-dasharray=\"3 6\""
                          : "stroke-width=\"2\"",
                x, y, x + 32, y + 4);
        sim_write_escaped(name, file);
        fputs("</text>\n", file);
        x += 130;
    }
}

void xy_sim_write_svg(const xy_sim_sweep_t *sweep, const xy_vec_t *points, FILE *file)
{
    int panels = sweep->collective_count * (is_over_size(sweep) ? 1 : sweep->size_count);
    int columns = panels < COLUMNS ? panels : COLUMNS, rows = (panels + columns - 1) / columns;
    size_t each = (size_t)steps_of(sweep) * (size_t)sweep->way_count;
    int least = 130 * (sweep->way_count + 2) + LEFT;
    int width = columns * PANEL_W > least ? columns * PANEL_W : least;

    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n<style>.g{stroke:#ddd}.c{fill:none}"
            ".e{text-anchor:end;fill:#555}.m{text-anchor:middle;fill:#555}"
            ".h{font-size:14px;font-weight:bold}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, rows * PANEL_H + LEGEND_H, width);
    draw_legend(sweep, 24, file);
    for (int i = 0; i < panels && points->count >= each * (size_t)panels; i++) {
        panel_t panel = {.sweep = sweep,
                         .points = &XY_VEC_AT(points, xy_sim_point_t, (size_t)i * each),
                         .x = i % columns * PANEL_W,
                         /* NOLINTNEXTLINE(bugprone-integer-division) */
                         .y = i / columns * PANEL_H + LEGEND_H,
                         .file = file};

        draw_panel(&panel);
    }
    fputs("</svg>\n", file);
}

/* From white (nothing hidden) to dark blue (all of it). */
static void colour_of(double percent, char text[16])
{
    double s = percent / 100;

    snprintf(text, 16, "#%02x%02x%02x", (int)(255 - 247 * s), (int)(255 - 207 * s),
             (int)(255 - 148 * s));
}

void sim_write_heat(const xy_sim_sweep_t *sweep, const xy_vec_t *points, int collective, int way,
                    FILE *file)
{
    int cell = sweep->rank_count > 40 ? 10 : 22;

    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n",
            80 + cell * sweep->rank_count, 20 * sweep->size_count + 40);
    for (int s = 0; s < sweep->size_count; s++) {
        char text[32];

        fprintf(file, "<text x=\"70\" y=\"%d\" text-anchor=\"end\">%s</text>\n", 20 * s + 15,
                xy_format_size(sweep->sizes[s], text));
        for (int r = 0; r < sweep->rank_count; r++) {
            size_t at = (((size_t)collective * (size_t)sweep->size_count + (size_t)s) *
                             (size_t)sweep->rank_count +
                         (size_t)r) *
                            (size_t)sweep->way_count +
                        (size_t)way;
            const xy_sim_point_t *p = &XY_VEC_AT(points, xy_sim_point_t, at);

            colour_of(isnan(p->times.t_ovrl) ? 0 : sim_overlap_of(sweep, p), text);
            fprintf(file,
                    "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"20\" fill=\"%s\"><title>%d "
                    "ranks: %.1f %%</title></rect>\n",
                    76 + cell * r, 20 * s, cell, text, p->ranks, sim_overlap_of(sweep, p));
        }
    }
    fprintf(file,
            "<rect x=\"76\" y=\"0\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999\"/>"
            "<text x=\"76\" y=\"%d\">ranks</text>\n",
            cell * sweep->rank_count, 20 * sweep->size_count, 20 * sweep->size_count + 30);
    for (int r = 0; r<sweep->rank_count; r += sweep->rank_count> 16 ? 8 : 2)
        fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%d</text>\n",
                76 + cell * r + cell / 2, 20 * sweep->size_count + 14, sweep->ranks[r]);
    fputs("</svg>\n", file);
}
