/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of what was used: memories and links. */
#include <math.h>

#include "tasks/picture/picture_internal.h"

enum { BINS = 200 };

static double most_used(const film_layout_t *l, int32_t *memories_p)
{
    double most = 1;

    *memories_p = 1;
    for (size_t i = 0; i < l->film->rooms.count; i++) {
        const film_room_t *r = &XY_VEC_AT(&l->film->rooms, film_room_t, i);

        most = r->used > most ? r->used : most;
        *memories_p = r->memory >= *memories_p ? r->memory + 1 : *memories_p;
    }
    return most;
}

/* Of the points of one pixel the highest counts: a memory that is full shows as full. */
static void draw_memory(const film_layout_t *l, int32_t memory, double most)
{
    double used = 0, high = 0;
    int at = 0;

    fprintf(l->f, "<polyline fill='none' stroke='#%06x' stroke-width='1.5' points='",
            film_colour(memory - 1));
    for (size_t i = 0; i <= l->film->rooms.count; i++) {
        bool is_last = i == l->film->rooms.count;
        const film_room_t *r = is_last ? NULL : &XY_VEC_AT(&l->film->rooms, film_room_t, i);
        int x = is_last ? FILM_WIDE : (int)(fmin(1, r->time / l->end) * FILM_WIDE);

        if (!is_last && r->memory != memory)
            continue;
        if (x > at || is_last) {
            fprintf(l->f, "%d,%.1f %d,%.1f ", FILM_LEFT + at, film_y(1 - high / most),
                    FILM_LEFT + x, film_y(1 - used / most));
            at = x;
            high = used;
        }
        used = is_last ? used : r->used;
        high = fmax(high, used);
    }
    fprintf(l->f, "'/>\n");
}

void film_draw_memory(const film_layout_t *l)
{
    int32_t memories;
    double most = most_used(l, &memories);
    double unit = most >= 1 << 20 ? 1 << 20 : most >= 1 << 10 ? 1 << 10 : 1;

    film_begin(l, "Memories", "time",
               unit > 1 << 10 ? "MiB used"
               : unit > 1     ? "KiB used"
                              : "bytes used");
    film_scale_time(l);
    film_scale_y(l, most / unit, true);
    for (int32_t m = 1; m < memories; m++)
        draw_memory(l, m, most);
    fprintf(l->f, "</svg>\n");
}

/* Seconds of transfers of each kind in each of BINS stretches of time. */
static void fill_bins(const film_layout_t *l, double busy[3][BINS])
{
    for (size_t i = 0; i < l->film->transfers.count; i++) {
        const film_transfer_t *t = &XY_VEC_AT(&l->film->transfers, film_transfer_t, i);
        int kind = t->from == 0 ? 0 : t->to == 0 ? 1 : 2;
        int first = (int)(t->start / l->end * BINS), last = (int)(t->end / l->end * BINS);

        for (int b = first; b <= last && b < BINS; b++) {
            double from = fmax(t->start, l->end * b / BINS);
            double to = fmin(t->end, l->end * (b + 1) / BINS);

            busy[kind][b] += to > from ? to - from : 0;
        }
    }
}

void film_draw_links(const film_layout_t *l)
{
    static const uint32_t colours[3] = {0xd55e00, 0x56b4e9, 0xcc79a7};
    double busy[3][BINS] = {{0}}, wide = l->end / BINS, most = 1;

    fill_bins(l, busy);
    for (int b = 0; b < BINS; b++)
        most = fmax(most, (busy[0][b] + busy[1][b] + busy[2][b]) / wide);
    most = ceil(most - 1e-9);
    film_begin(l, "Links", "time", "transfers under way");
    film_scale_time(l);
    film_scale_y(l, most, true);
    for (int k = 0; k < 3; k++) {
        fprintf(l->f, "<path fill='#%06x' d='", colours[k]);
        for (int b = 0; b < BINS; b++) {
            double below = (k > 0 ? busy[0][b] : 0) + (k > 1 ? busy[1][b] : 0);
            double high = busy[k][b] / wide / most * FILM_HIGH;

            if (high > 0)
                fprintf(l->f, "M%.1f %.1fh%.2fv%.1fh%.2fz", film_x((double)b / BINS),
                        film_y(1 - below / wide / most), (double)FILM_WIDE / BINS, -high,
                        -(double)FILM_WIDE / BINS);
        }
        fprintf(l->f, "'/>\n");
    }
    fprintf(l->f, "</svg>\n");
}
