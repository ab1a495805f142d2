/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Axes: from values to pixels, ticks at round numbers, and the grid behind curves.
 *
 *   xy_axis_t up = {.scale = XY_SCALE_LINEAR, .low = 0, .high = most, .from = 240, .to = 20};
 *   xy_axis_widen(&up, 5);                                  (so that ticks stand at both ends)
 *   xy_axis_draw_up(svg, &up, 5, 60, 620, xy_tick_seconds);
 *   y = xy_axis_at(&up, value);
 */
#ifndef XY_DRAW_AXIS_H
#define XY_DRAW_AXIS_H

#include "draw/svg.h"

/* By tens: 1, 2, 5, 10, 20 ... ; by doubling: 1, 2, 4, 8 ... */
typedef enum { XY_SCALE_LINEAR, XY_SCALE_TENS, XY_SCALE_DOUBLING } xy_scale_t;

typedef struct {
    xy_scale_t scale;
    double low, high; /* values; for the scales by tens and by doubling > 0 */
    double from, to;  /* where they are, in pixels */
} xy_axis_t;

enum { XY_TICKS_MAX = 64 };

/* Values beyond the ends are drawn at the ends. */
double xy_axis_at(const xy_axis_t *axis, double value);
/* Round numbers within the axis, growing, about `about` of them (1 to 30) and at most XY_TICKS_MAX;
 * how many. */
int xy_axis_ticks(const xy_axis_t *axis, int about, double ticks[XY_TICKS_MAX]);
/* Move low and high outwards to ticks. */
void xy_axis_widen(xy_axis_t *axis, int about);

/* The text at a tick. */
typedef char *(*xy_tick_fn)(double value, char buffer[32]);
char *xy_tick_number(double value, char buffer[32]);
char *xy_tick_seconds(double value, char buffer[32]);
char *xy_tick_size(double value, char buffer[32]);

/* Lines across the plot from `left` to `right` with their values to the left. */
void xy_axis_draw_up(const xy_svg_t *svg, const xy_axis_t *axis, int about, double left,
                     double right, xy_tick_fn format);
/* Lines from `top` down to `bottom` with their values below. */
void xy_axis_draw_across(const xy_svg_t *svg, const xy_axis_t *axis, int about, double top,
                         double bottom, xy_tick_fn format);
/* Values of one's own, growing, in the place of ticks; those that would touch are left out. */
void xy_axis_draw_values(const xy_svg_t *svg, const xy_axis_t *axis, const double *values,
                         size_t count, double top, double bottom, xy_tick_fn format);

/* ---- Bars in groups, from 0 upwards ---- */

typedef struct {
    const xy_axis_t *up;
    double left, right; /* of the plot */
    int groups, bars;   /* bars of each group */
} xy_bars_t;

/* Where a bar begins, and how wide it is. */
double xy_bars_at(const xy_bars_t *bars, int group, int bar, double *width_p);
/* A bar with its value above it, where there is room, and its tooltip. What is not a number is left
 * out. */
void xy_bars_draw(const xy_svg_t *svg, const xy_bars_t *bars, int group, int bar, double value,
                  const char *class, const char *label, const char *tip);
/* The text below a group. */
void xy_bars_name(const xy_svg_t *svg, const xy_bars_t *bars, int group, const char *name);

#endif
