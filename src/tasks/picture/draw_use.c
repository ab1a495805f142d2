/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of what was used: memories and links. */
#include <math.h>

#include "tasks/picture/picture_internal.h"

enum { BINS = 200 };

static double most_used(const picture_layout_t *l, int32_t *memories_p)
{
    double most = 1;

    *memories_p = 1;
    for (size_t i = 0; i < l->picture->rooms.count; i++) {
        const picture_room_t *r = &XY_VEC_AT(&l->picture->rooms, picture_room_t, i);

        most = r->used > most ? r->used : most;
        *memories_p = r->memory >= *memories_p ? r->memory + 1 : *memories_p;
    }
    return most;
}

/* Draw the use of a memory. The highest of the points of one pixel counts: a memory that is full
 * shows as full. */
static void draw_memory(const picture_layout_t *l, int32_t memory, double most, double *x,
                        double *y)
{
    double used = 0, high = 0;
    int at = 0;
    size_t n = 0;

    for (size_t i = 0; i <= l->picture->rooms.count; i++) {
        bool is_last = i == l->picture->rooms.count;
        const picture_room_t *r =
            is_last ? NULL : &XY_VEC_AT(&l->picture->rooms, picture_room_t, i);
        int to = is_last ? PICTURE_WIDE : (int)(fmin(1, r->time / l->end) * PICTURE_WIDE);

        if (!is_last && r->memory != memory)
            continue;
        if (to > at || is_last) {
            x[n] = PICTURE_LEFT + at;
            y[n++] = picture_y(1 - high / most);
            x[n] = PICTURE_LEFT + to;
            y[n++] = picture_y(1 - used / most);
            at = to;
            high = used;
        }
        used = is_last ? used : r->used;
        high = fmax(high, used);
    }
    xy_svg_curve(&l->svg, xy_colour_line[picture_colour(memory - 1)], x, y, n);
}

void picture_draw_memory(picture_layout_t *l)
{
    double x[2 * PICTURE_WIDE + 4], y[2 * PICTURE_WIDE + 4];
    int32_t memories;
    double most = most_used(l, &memories);
    double unit = most >= 1 << 20 ? 1 << 20 : most >= 1 << 10 ? 1 << 10 : 1;

    picture_begin(l, "Memories", "time",
                  unit > 1 << 10 ? "MiB used"
                  : unit > 1     ? "KiB used"
                                 : "bytes used");
    picture_scale_time(l);
    picture_scale_y(l, most / unit, true);
    picture_draw_legend(l, true, false);
    for (int32_t m = 1; m < memories; m++)
        draw_memory(l, m, most, x, y);
    xy_svg_end(&l->svg);
}

/* Seconds of transfers of each kind in each of BINS stretches of time. */
static void fill_bins(const picture_layout_t *l, double busy[PICTURE_KINDS][BINS])
{
    for (size_t i = 0; i < l->picture->transfers.count; i++) {
        const picture_transfer_t *t = &XY_VEC_AT(&l->picture->transfers, picture_transfer_t, i);
        picture_kind_t kind = picture_kind_of(t);
        int first = (int)(t->start / l->end * BINS), last = (int)(t->end / l->end * BINS);

        for (int b = first; b <= last && b < BINS; b++) {
            double from = fmax(t->start, l->end * b / BINS);
            double to = fmin(t->end, l->end * (b + 1) / BINS);

            busy[kind][b] += to > from ? to - from : 0;
        }
    }
}

void picture_draw_links(picture_layout_t *l)
{
    double busy[PICTURE_KINDS][BINS] = {{0}}, below[BINS] = {0}, wide = l->end / BINS, most = 1;

    fill_bins(l, busy);
    for (int b = 0; b < BINS; b++)
        most = fmax(most, (busy[0][b] + busy[1][b] + busy[2][b]) / wide);
    most = ceil(most - 1e-9);
    picture_begin(l, "Links", "time", "transfers under way");
    picture_scale_time(l);
    picture_scale_y(l, most, true);
    picture_draw_legend(l, false, true);
    for (int k = 0; k < PICTURE_KINDS; k++) {
        xy_svg_strokes_begin(&l->svg, xy_colour_line[picture_kind_colour((picture_kind_t)k)],
                             (double)PICTURE_WIDE / BINS);
        for (int b = 0; b < BINS; b++) {
            double high = busy[k][b] / wide / most;

            if (high > 0)
                xy_svg_stroke_up(&l->svg, picture_x((b + 0.5) / BINS), picture_y(1 - below[b]),
                                 high * PICTURE_HIGH);
            below[b] += high;
        }
        xy_svg_strokes_end(&l->svg);
    }
    xy_svg_end(&l->svg);
}
