/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sweep as pictures: curves of time against ranks, one panel for each collective and size, and
 * heat maps of the overlap over ranks and sizes.
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
    const xy_sim_point_t *points; /* of this panel, by ranks, then way */
    double x, y, most;
    FILE *file;
} panel_t;

static double px(const panel_t *p, double ranks)
{
    double low = p->sweep->ranks[0], high = p->sweep->ranks[p->sweep->rank_count - 1];
    double share = high > low ? (ranks - low) / (high - low) : 0.5;

    return p->x + LEFT + share * (PANEL_W - LEFT - RIGHT);
}

static double py(const panel_t *p, double seconds)
{
    return p->y + PANEL_H - BOTTOM - seconds / p->most * (PANEL_H - TOP - BOTTOM);
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

static void draw_axes(const panel_t *p)
{
    int low = p->sweep->ranks[0], high = p->sweep->ranks[p->sweep->rank_count - 1];
    double step = nice_step(p->most, 5), across = fmax(1, nice_step(fmax(1, high - low), 7));
    char text[32];

    for (double t = 0; t <= p->most * 1.0001; t += step)
        fprintf(p->file,
                "<path class=\"g\" d=\"M%.1f %.1fH%.1f\"/><text class=\"e\" x=\"%.1f\" "
                "y=\"%.1f\">%s</text>\n",
                p->x + LEFT, py(p, t), p->x + PANEL_W - RIGHT, p->x + LEFT - 6, py(p, t) + 4,
                t > 0 ? xy_format_seconds(t, text) : "0");
    for (double n = ceil(low / across) * across; n <= high; n += across)
        fprintf(p->file, "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">%.0f</text>\n", px(p, n),
                p->y + PANEL_H - BOTTOM + 16, n);
    fprintf(p->file, "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">ranks</text>\n",
            p->x + (LEFT + PANEL_W - RIGHT) / 2.0, p->y + PANEL_H - 8);
}

/* One line over all ranks; what: -1 the computation, -2 the bound, else a way. */
static void draw_curve(const panel_t *p, int what, const char *style)
{
    int ways = p->sweep->way_count;

    fputs("<path class=\"c\" ", p->file);
    fprintf(p->file, "%s d=\"", style);
    for (int i = 0; i < p->sweep->rank_count; i++) {
        const xy_sim_point_t *q = &p->points[i * ways + (what >= 0 ? what : ways - 1)];
        double t = what == -1 ? q->times.t_comp : what == -2 ? q->bound : q->times.t_ovrl;

        fprintf(p->file, "%c%.1f %.1f", i == 0 ? 'M' : 'L', px(p, q->ranks), py(p, t));
    }
    fputs("\"/>\n", p->file);
}

static void draw_panel(panel_t *p)
{
    int count = p->sweep->rank_count * p->sweep->way_count;
    char size[32], style[64];

    p->most = 1e-12;
    for (int i = 0; i < count; i++)
        p->most = fmax(p->most, 1.05 * p->points[i].times.t_ovrl);
    fprintf(p->file, "<text class=\"h\" x=\"%.1f\" y=\"%.1f\">%s, %s</text>\n", p->x + LEFT,
            p->y + 22, xy_coll_name(p->points->collective), xy_format_size(p->points->size, size));
    draw_axes(p);
    draw_curve(p, -1, "stroke=\"#888\" stroke-dasharray=\"2 3\"");
    for (int w = 0; w < p->sweep->way_count; w++) {
        snprintf(style, sizeof(style), "stroke=\"%s\" stroke-width=\"2\"", colours[w % COLOURS]);
        draw_curve(p, w, style);
    }
    draw_curve(p, -2, "stroke=\"#000\" stroke-dasharray=\"3 6\"");
}

static void draw_legend(const xy_sim_sweep_t *sweep, double y, FILE *file)
{
    double x = LEFT;

    for (int w = -2; w < sweep->way_count; w++) {
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
    int panels = sweep->collective_count * sweep->size_count;
    int columns = panels < COLUMNS ? panels : COLUMNS, rows = (panels + columns - 1) / columns;
    size_t each = (size_t)sweep->rank_count * (size_t)sweep->way_count;
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

            colour_of(xy_sim_overlap(&p->times), text);
            fprintf(file,
                    "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"20\" fill=\"%s\"><title>%d "
                    "ranks: %.1f %%</title></rect>\n",
                    76 + cell * r, 20 * s, cell, text, p->ranks, xy_sim_overlap(&p->times));
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
