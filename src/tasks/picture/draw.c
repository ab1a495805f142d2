/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pictures of the domain. Marks of one colour are one path of horizontal strokes, as wide as a cell
 * is high: a tenth of what rectangles take.
 */
#include <math.h>

#include "tasks/picture/picture_internal.h"

enum { LINE_CELLS_MAX = 1 << 25, FRAMES = 6 };

uint32_t film_colour(int32_t worker)
{
    static const uint32_t colours[] = {0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7,
                                       0x56b4e9, 0xd55e00, 0x8a7a00, 0x555555};

    return colours[worker % 8];
}

void film_begin(const film_layout_t *l, const char *title, const char *x, const char *y)
{
    fprintf(l->f,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' role='img' "
            "aria-label='%s' font-family='system-ui,sans-serif' font-size='12' fill='#333'>\n"
            "<rect x='%d' y='%d' width='%d' height='%d' fill='#f7f7f7' stroke='#bbb'/>\n"
            "<text x='%d' y='%d' text-anchor='middle'>%s</text>\n"
            "<text transform='translate(14,%d) rotate(-90)' text-anchor='middle'>%s</text>\n",
            FILM_WIDTH, FILM_HEIGHT, title, FILM_LEFT, FILM_TOP, FILM_WIDE, FILM_HIGH,
            FILM_LEFT + FILM_WIDE / 2, FILM_HEIGHT - 4, x, FILM_TOP + FILM_HIGH / 2, y);
}

/* 1, 2 or 5 times a power of ten, so that there are at most `count` of them below `most`. */
static double tick(double most, int count)
{
    double unit = pow(10, floor(log10(most / count)));
    double steps = most / count / unit;

    return unit * (steps <= 1 ? 1 : steps <= 2 ? 2 : steps <= 5 ? 5 : 10);
}

static void scale_x(const film_layout_t *l, double most, double step, const char *unit)
{
    for (int i = 0; i * step <= most * (1 + 1e-9); i++)
        fprintf(l->f, "<text x='%.1f' y='%d' text-anchor='middle'>%.6g%s</text>\n",
                fmin(film_x(i * step / most), FILM_WIDTH - 20), FILM_TOP + FILM_HIGH + 16, i * step,
                unit);
}

void film_scale_time(const film_layout_t *l)
{
    double unit = l->end >= 1 ? 1 : l->end >= 1e-3 ? 1e-3 : 1e-6;

    scale_x(l, l->end / unit, tick(l->end / unit, 6),
            l->end >= 1      ? " s"
            : l->end >= 1e-3 ? " ms"
                             : " us");
}

/* What is counted has whole numbers at its marks. */
void film_scale_y(const film_layout_t *l, double most, bool is_upward)
{
    double step = fmax(1, tick(most, 5));

    for (int i = 0; i * step <= most * (1 + 1e-9); i++)
        fprintf(l->f, "<text x='%d' y='%.1f' text-anchor='end'>%.6g</text>\n", FILM_LEFT - 6,
                film_y(is_upward ? 1 - i * step / most : i * step / most) + 4, i * step);
}

static void stroke(const film_layout_t *l, double from, double to, double y)
{
    fprintf(l->f, "M%.1f %.1fh%.1f", film_x(from), film_y(y), fmax(0.5, (to - from) * FILM_WIDE));
}

static void path_begin(const film_layout_t *l, uint32_t colour, double high)
{
    fprintf(l->f, "<path stroke='#%06x' stroke-width='%.2f' d='", colour, fmax(0.5, high));
}

/* ---- The domain against time ---- */

static void draw_transfers(const film_layout_t *l, int kind, uint32_t colour)
{
    double high = (double)FILM_HIGH / (double)l->cells;

    path_begin(l, colour, 0.4 * high);
    for (size_t i = 0; i < l->film->transfers.count; i += l->step) {
        const film_transfer_t *t = &XY_VEC_AT(&l->film->transfers, film_transfer_t, i);
        int64_t place = film_place_of_data(l, t->data);

        if (place >= 0 && kind == (t->from == 0 ? 0 : t->to == 0 ? 1 : 2))
            stroke(l, t->start / l->end, t->end / l->end, ((double)place + 0.5) / (double)l->cells);
    }
    fprintf(l->f, "'/>\n");
}

void film_draw_time(const film_layout_t *l)
{
    film_begin(l, "Domain against time", "time", "position");
    film_scale_time(l);
    film_scale_y(l, (double)l->cells, false);
    draw_transfers(l, 0, 0xd55e00);
    draw_transfers(l, 1, 0x56b4e9);
    draw_transfers(l, 2, 0xcc79a7);
    for (int32_t w = 0; w < l->workers; w++) {
        path_begin(l, film_colour(w), (double)FILM_HIGH / (double)l->cells);
        for (size_t i = 0; i < l->film->tasks.count; i += l->step) {
            const film_task_t *t = &XY_VEC_AT(&l->film->tasks, film_task_t, i);

            if (t->worker == w && l->place[t->op] >= 0)
                stroke(l, t->start / l->end, t->end / l->end,
                       ((double)l->place[t->op] + 0.5) / (double)l->cells);
        }
        fprintf(l->f, "'/>\n");
    }
    fprintf(l->f, "</svg>\n");
}

/* ---- The middle line of the domain against iterations ---- */

typedef struct {
    double end; /* < 0: nothing ran there */
    int32_t worker;
} moment_t;

/* The number on the line of a cell; -1: it lies beside. */
static int64_t on_line(const film_layout_t *l, int64_t place)
{
    int64_t across = l->size[1] * l->size[2];
    int64_t middle = l->size[1] / 2 * l->size[2] + l->size[2] / 2;

    return place >= 0 && place % across == middle ? place / across : -1;
}

static moment_t *find_moments(const film_layout_t *l)
{
    size_t count = (size_t)l->size[0] * (size_t)l->iterations;
    moment_t *m = xy_malloc((count + 1) * sizeof(*m));

    for (size_t i = 0; m != NULL && i < count; i++)
        m[i] = (moment_t){-1, 0};
    for (size_t i = 0; m != NULL && i < l->film->tasks.count; i++) {
        const film_task_t *t = &XY_VEC_AT(&l->film->tasks, film_task_t, i);
        int64_t x = on_line(l, l->place[t->op]);
        moment_t *at;

        if (x < 0)
            continue;
        at = &m[x * l->iterations + l->iteration[t->op]];
        if (t->end > at->end)
            *at = (moment_t){t->end, t->worker};
    }
    return m;
}

/* Where the line was at one instant: through the iterations that each cell had done. Cells where
 * nothing ever runs are no part of it. */
static void draw_isochrone(const film_layout_t *l, const moment_t *m, double time)
{
    fprintf(l->f, "<polyline fill='none' stroke='#000' points='");
    for (int64_t x = 0; x < l->size[0]; x++) {
        const moment_t *row = &m[x * l->iterations];
        int32_t t = 0;
        bool has_any = false;

        for (int32_t i = 0; i < l->iterations; i++) {
            has_any = has_any || row[i].end >= 0;
            if (row[i].end >= 0 && row[i].end <= time)
                t = i + 1;
        }
        if (has_any)
            fprintf(l->f, "%.1f,%.1f ", film_x((double)t / l->iterations),
                    film_y(((double)x + 0.5) / (double)l->size[0]));
    }
    fprintf(l->f, "'/>\n");
}

static void draw_runs(const film_layout_t *l, const moment_t *m, int32_t worker)
{
    /* A little wider than a cell, or the background would shine through. */
    path_begin(l, film_colour(worker), (double)FILM_HIGH / (double)l->size[0] + 0.3);
    for (int64_t x = 0; x < l->size[0]; x++)
        for (int32_t i = 0, from; i < l->iterations; i++) {
            const moment_t *row = &m[x * l->iterations];

            for (from = i; i < l->iterations && row[i].end >= 0 && row[i].worker == worker;)
                i++;
            if (i > from)
                stroke(l, (double)from / l->iterations, (double)i / l->iterations,
                       ((double)x + 0.5) / (double)l->size[0]);
        }
    fprintf(l->f, "'/>\n");
}

xy_status_t film_draw_iterations(const film_layout_t *l)
{
    int lines = (int)sqrt(l->iterations / 2.0);
    moment_t *m = (double)l->size[0] * l->iterations <= LINE_CELLS_MAX ? find_moments(l) : NULL;

    if (m == NULL)
        return xy_fail_memory("drawing the domain");
    lines = lines > 3 ? lines : 3;
    film_begin(l, "Domain against iteration", "iteration",
               l->dims == 1 ? "position" : "position on the middle line");
    scale_x(l, l->iterations, fmax(1, tick(l->iterations, 6)), "");
    film_scale_y(l, (double)l->size[0], false);
    for (int32_t w = 0; w < l->workers; w++)
        draw_runs(l, m, w);
    for (int i = 1; i <= lines; i++)
        draw_isochrone(l, m, l->end * i / (lines + 1));
    fprintf(l->f, "</svg>\n");
    xy_free(m);
    return XY_OK;
}

/* ---- The domain at a few instants ---- */

typedef struct {
    int32_t done, worker;
} cell_t;

static void frame_fill(const film_layout_t *l, double time, cell_t *cells)
{
    for (int64_t c = 0; c < l->cells; c++)
        cells[c] = (cell_t){0};
    for (size_t i = 0; i < l->film->tasks.count; i++) {
        const film_task_t *t = &XY_VEC_AT(&l->film->tasks, film_task_t, i);
        int64_t c = l->place[t->op];

        if (c >= 0 && t->end <= time && l->iteration[t->op] >= cells[c].done)
            cells[c] = (cell_t){l->iteration[t->op] + 1, t->worker};
    }
}

/* The middle slice: rows are the first dimension, columns the second. */
static void frame_draw(const film_layout_t *l, double left, double top, double side,
                       const cell_t *cells)
{
    int64_t most = l->size[0] > l->size[1] ? l->size[0] : l->size[1];
    double unit = side / (double)most;

    for (int64_t x = 0; x < l->size[0]; x++)
        for (int64_t y = 0; y < l->size[1]; y++) {
            const cell_t *c = &cells[(x * l->size[1] + y) * l->size[2] + l->size[2] / 2];

            if (c->done > 0)
                fprintf(l->f,
                        "<rect x='%.1f' y='%.1f' width='%.2f' height='%.2f' fill='#%06x' "
                        "opacity='%.2f'/>\n",
                        left + (double)y * unit, top + (double)x * unit, unit, unit,
                        film_colour(c->worker), 0.15 + 0.85 * c->done / l->iterations);
        }
    fprintf(l->f,
            "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='none' stroke='#bbb'/>\n",
            left, top, (double)l->size[1] * unit, (double)l->size[0] * unit);
}

xy_status_t film_draw_slices(const film_layout_t *l)
{
    enum { SIDE = 300, GAP = 30 };
    cell_t *cells = xy_malloc((size_t)l->cells * sizeof(*cells));

    if (cells == NULL)
        return xy_fail_memory("drawing the domain");
    fprintf(l->f,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' role='img' "
            "aria-label='Slices' font-family='system-ui,sans-serif' font-size='12' "
            "fill='#333'>\n",
            3 * (SIDE + GAP) + GAP, 2 * (SIDE + GAP) + 10);
    for (int i = 0; i < FRAMES; i++) {
        double time = l->end * (i + 0.5) / FRAMES;
        int left = GAP + i % 3 * (SIDE + GAP), top = 24 + i / 3 * (SIDE + GAP);
        char text[32];

        frame_fill(l, time, cells);
        fprintf(l->f, "<text x='%d' y='%d'>%s</text>\n", left, top - 6,
                xy_format_seconds(time, text));
        frame_draw(l, left, top, SIDE, cells);
    }
    fprintf(l->f, "</svg>\n");
    xy_free(cells);
    return XY_OK;
}
