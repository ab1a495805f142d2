/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SVG: one document, its shapes and its text.
 *
 *   xy_svg_t svg = xy_svg_begin(file, &(xy_svg_head_t){.width = 640, .height = 330});
 *   xy_svg_rect(&svg, "plot", 40, 20, 580, 280, NULL);
 *   xy_svg_text(&svg, "end note", 36, 24, "%g us", time);
 *   xy_svg_end(&svg);
 *
 * Looks are classes: the colours of colour.h, and
 *   title note end mid                 of text: heading, less important, where it is anchored
 *   plot ground                        filled: behind curves, the whole picture
 *   grid frame ink soft dash dot thick lines; halo: below a line that crosses colours
 * Text and tooltips are escaped here, and numbers that are not finite are written as 0. Write
 * errors stay in the FILE's error flag.
 */
#ifndef XY_DRAW_SVG_H
#define XY_DRAW_SVG_H

#include <stdbool.h>
#include <stdio.h>

#include "draw/colour.h"

typedef struct {
    FILE *file;
} xy_svg_t;

typedef struct {
    double width, height;
    const char *title;    /* for those who do not see the picture */
    const xy_ink_t *inks; /* colours of further classes, or NULL */
    const char *style;    /* further rules, or NULL */
    bool is_embedded;     /* in a page of page.h, which has the style and the ground */
} xy_svg_head_t;

xy_svg_t xy_svg_begin(FILE *file, const xy_svg_head_t *head);
void xy_svg_end(const xy_svg_t *svg);

/* ---- Shapes: class, position, and tooltip (NULL: none) ---- */

void xy_svg_rect(const xy_svg_t *svg, const char *class, double x, double y, double width,
                 double height, const char *tip);
/* The same, only so opaque. */
void xy_svg_cell(const xy_svg_t *svg, const char *class, double x, double y, double width,
                 double height, double opacity, const char *tip);
void xy_svg_line(const xy_svg_t *svg, const char *class, double x0, double y0, double x1,
                 double y1);
/* The same with an open head at the end, no longer than the line. */
void xy_svg_arrow(const xy_svg_t *svg, const char *class, double x0, double y0, double x1,
                  double y1);
void xy_svg_circle(const xy_svg_t *svg, const char *class, double x, double y, double radius,
                   const char *tip);
/* Through n points, broken where one is no number. */
void xy_svg_curve(const xy_svg_t *svg, const char *class, const double *x, const double *y,
                  size_t n);
/* From above to below, bending to leave and to arrive upright. */
void xy_svg_bend(const xy_svg_t *svg, const char *class, double wide, double x0, double y0,
                 double x1, double y1, const char *tip);
/* Many strokes in one path, to the right or upwards: a tenth of what rectangles take. `wide` in
 * pixels. */
void xy_svg_strokes_begin(const xy_svg_t *svg, const char *class, double wide);
void xy_svg_stroke(const xy_svg_t *svg, double x, double y, double length);
void xy_svg_stroke_up(const xy_svg_t *svg, double x, double y, double length);
void xy_svg_strokes_end(const xy_svg_t *svg);

/* Shapes that belong together, with a tooltip for all of them. */
void xy_svg_group_begin(const xy_svg_t *svg, const char *tip);
void xy_svg_group_end(const xy_svg_t *svg);

/* ---- Text ---- */

void xy_svg_text(const xy_svg_t *svg, const char *class, double x, double y, const char *format,
                 ...) __attribute__((format(printf, 5, 6)));
/* From below to above. */
void xy_svg_text_up(const xy_svg_t *svg, const char *class, double x, double y, const char *text);
/* About how wide a text is. */
double xy_text_width(const char *text);

typedef enum { XY_LEGEND_BOX = false, XY_LEGEND_LINE = true, XY_LEGEND_ARROW } xy_legend_mark_t;

typedef struct {
    const char *name;
    const char *class; /* of a line, or of a rectangle */
    xy_legend_mark_t mark;
} xy_legend_t;

/* From (left, top) to the right, in as many lines as `width` takes, and how high they are. */
void xy_svg_legend(const xy_svg_t *svg, double left, double top, double width,
                   const xy_legend_t *entries, size_t count);
double xy_legend_height(double width, const xy_legend_t *entries, size_t count);

#endif
