/* SPDX-License-Identifier: BSD-3-Clause */
#include "draw/axis.h"

#include <math.h>

#include "base/base.h"

/* Rounding must not lose the tick at an end. */
static const double slack = 1e-9;

static double scaled(const xy_axis_t *axis, double value)
{
    return axis->scale == XY_SCALE_LINEAR ? value : log(fmax(value, 1e-300));
}

double xy_axis_at(const xy_axis_t *axis, double value)
{
    double low = scaled(axis, axis->low), high = scaled(axis, axis->high);
    double share = high > low ? (scaled(axis, value) - low) / (high - low) : 0.5;

    return axis->from + fmin(fmax(share, 0), 1) * (axis->to - axis->from);
}

/* 1, 2 or 5 times a power of ten, so that about `about` of them fit in `span`. */
static double step_of(double span, int about)
{
    double unit = pow(10, floor(log10(span / about))), steps = span / about / unit;

    return unit * (steps <= 1.0001 ? 1 : steps <= 2.0001 ? 2 : steps <= 5.0001 ? 5 : 10);
}

static int linear_ticks(const xy_axis_t *a, int about, double ticks[XY_TICKS_MAX])
{
    double span = a->high - a->low, step = span > 0 ? step_of(span, about) : 1;
    int n = 0;

    for (double i = ceil(a->low / step - slack);
         n < XY_TICKS_MAX && i * step <= a->high + slack * step; i++)
        ticks[n++] = i * step + 0.0; /* never -0 */
    return n;
}

/* Powers of ten, without some of them when there are many, and 2 and 5 times them when there
 * are few. On a short axis steps are equal. */
static int tens_ticks(const xy_axis_t *a, int about, double ticks[XY_TICKS_MAX])
{
    static const double parts[] = {1, 2, 5};
    int first = (int)floor(log10(a->low) + slack), last = (int)ceil(log10(a->high) - slack);
    int skip = (last - first + about) / about, n = 0;
    bool is_fine = 3 * (last - first) <= about + 1;

    for (int k = first; k <= last; k += skip > 0 ? skip : 1)
        for (int p = 0; p < (is_fine ? 3 : 1) && n < XY_TICKS_MAX; p++) {
            double value = parts[p] * pow(10, k);

            if (value >= a->low * (1 - slack) && value <= a->high * (1 + slack))
                ticks[n++] = value;
        }
    return n >= 2 ? n : linear_ticks(a, about, ticks);
}

static int doubling_ticks(const xy_axis_t *a, int about, double ticks[XY_TICKS_MAX])
{
    int first = (int)ceil(log2(a->low) - slack), last = (int)floor(log2(a->high) + slack);
    int skip = (last - first + about) / about, n = 0;

    for (int k = first; k <= last && n<XY_TICKS_MAX; k += skip> 0 ? skip : 1)
        ticks[n++] = ldexp(1, k);
    return n;
}

int xy_axis_ticks(const xy_axis_t *axis, int about, double ticks[XY_TICKS_MAX])
{
    if (!isfinite(axis->low) || !isfinite(axis->high) || axis->high < axis->low ||
        (axis->scale != XY_SCALE_LINEAR && !(axis->low > 0)))
        return 0;
    return axis->scale == XY_SCALE_LINEAR ? linear_ticks(axis, about, ticks)
           : axis->scale == XY_SCALE_TENS ? tens_ticks(axis, about, ticks)
                                          : doubling_ticks(axis, about, ticks);
}

void xy_axis_widen(xy_axis_t *axis, int about)
{
    double base = axis->scale == XY_SCALE_TENS ? 10 : 2, step;

    if (axis->scale == XY_SCALE_LINEAR) {
        axis->high = axis->high > axis->low ? axis->high : axis->low + 1;
        do { /* a wider axis may have wider steps */
            step = step_of(axis->high - axis->low, about);
            axis->low = floor(axis->low / step + slack) * step;
            axis->high = ceil(axis->high / step - slack) * step;
        } while (step_of(axis->high - axis->low, about) > step * 1.5);
        return;
    }
    axis->low = pow(base, floor(log(axis->low) / log(base) + slack));
    axis->high = pow(base, ceil(log(axis->high) / log(base) - slack));
    axis->high = axis->high > axis->low * 1.5 ? axis->high : axis->low * base;
}

/* ---- What stands at a tick ---- */

char *xy_tick_number(double value, char buffer[32])
{
    snprintf(buffer, 32, "%.6g", value);
    return buffer;
}

char *xy_tick_seconds(double value, char buffer[32])
{
    if (value == 0)
        return xy_tick_number(value, buffer);
    return xy_format_seconds(value, buffer);
}

char *xy_tick_size(double value, char buffer[32])
{
    return xy_format_size((uint64_t)value, buffer);
}

/* ---- Drawing ---- */

void xy_axis_draw_up(const xy_svg_t *svg, const xy_axis_t *axis, int about, double left,
                     double right, xy_tick_fn format)
{
    double ticks[XY_TICKS_MAX];
    int n = xy_axis_ticks(axis, about, ticks);
    char text[32];

    for (int i = 0; i < n; i++) {
        double y = xy_axis_at(axis, ticks[i]);

        xy_svg_line(svg, "grid", left, y, right, y);
        xy_svg_text(svg, "note end", left - 6, y + 4, "%s", format(ticks[i], text));
    }
}

void xy_axis_draw_values(const xy_svg_t *svg, const xy_axis_t *axis, const double *values,
                         size_t count, double top, double bottom, xy_tick_fn format)
{
    double free_from = -1e9;
    char text[32];

    for (size_t i = 0; i < count; i++) {
        double x = xy_axis_at(axis, values[i]), half = xy_text_width(format(values[i], text)) / 2;

        if (x - half < free_from)
            continue;
        xy_svg_line(svg, "grid", x, top, x, bottom);
        xy_svg_text(svg, "note mid", x, bottom + 16, "%s", text);
        free_from = x + half + 8;
    }
}

void xy_axis_draw_across(const xy_svg_t *svg, const xy_axis_t *axis, int about, double top,
                         double bottom, xy_tick_fn format)
{
    double ticks[XY_TICKS_MAX];
    int n = xy_axis_ticks(axis, about, ticks);

    xy_axis_draw_values(svg, axis, ticks, (size_t)n, top, bottom, format);
}

/* ---- Bars ---- */

double xy_bars_at(const xy_bars_t *bars, int group, int bar, double *width_p)
{
    double room = (bars->right - bars->left) / bars->groups;
    double each = fmin(room / (bars->bars + 1), 90);

    *width_p = 0.75 * each;
    return bars->left + room * group + (room - each * bars->bars) / 2 + each * (bar + 0.125);
}

void xy_bars_draw(const xy_svg_t *svg, const xy_bars_t *bars, int group, int bar, double value,
                  const char *class, const char *label, const char *tip)
{
    double width, x = xy_bars_at(bars, group, bar, &width), y = xy_axis_at(bars->up, value);

    if (isnan(value))
        return;
    xy_svg_rect(svg, class, x, y, width, bars->up->from - y, tip);
    if (width >= 30)
        xy_svg_text(svg, "mid", x + width / 2, y - 5, "%s", label);
}

void xy_bars_name(const xy_svg_t *svg, const xy_bars_t *bars, int group, const char *name)
{
    double room = (bars->right - bars->left) / bars->groups;

    xy_svg_text(svg, "note mid", bars->left + room * (group + 0.5), bars->up->from + 16, "%s",
                name);
}
