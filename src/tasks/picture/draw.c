/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pictures of the domain. Marks of one colour are one path of horizontal strokes, as wide as a cell
 * is high: a tenth of what rectangles take.
 */
#include <math.h>

#include "tasks/picture/picture_internal.h"

enum { LINE_CELLS_MAX = 1 << 25, FRAMES = 6, WORKER_COLOURS = 6 };

static const char *const kind_names[PICTURE_KINDS] = {"loads", "stores",
                                                      "transfers between memories"};

int picture_kind_colour(picture_kind_t kind)
{
    static const int colours[PICTURE_KINDS] = {1, 7, 3};

    return colours[kind];
}

int picture_colour(int32_t worker)
{
    static const int colours[XY_COLOURS] = {0, 2, 6, 8, 4, 5, 7, 3, 1};

    return colours[worker % XY_COLOURS];
}

void picture_begin(picture_layout_t *l, const char *title, const char *x, const char *y)
{
    l->svg = xy_svg_begin(l->f, &(xy_svg_head_t){.width = PICTURE_WIDTH,
                                                 .height = PICTURE_HEIGHT,
                                                 .title = title,
                                                 .is_embedded = l->is_embedded});
    xy_svg_rect(&l->svg, "plot", PICTURE_LEFT, PICTURE_TOP, PICTURE_WIDE, PICTURE_HIGH, NULL);
    xy_svg_text(&l->svg, "mid", PICTURE_LEFT + PICTURE_WIDE / 2.0, PICTURE_HEIGHT - 4, "%s", x);
    xy_svg_text_up(&l->svg, "mid", 14, PICTURE_TOP + PICTURE_HIGH / 2.0, y);
}

static void scale_x(const picture_layout_t *l, double most, xy_tick_fn format)
{
    xy_axis_t axis = {.high = most, .from = picture_x(0), .to = picture_x(1)};

    xy_axis_draw_across(&l->svg, &axis, 8, picture_y(0), picture_y(1), format);
}

void picture_scale_time(const picture_layout_t *l)
{
    scale_x(l, l->end, xy_tick_seconds);
}

/* An axis of counts has whole numbers at its marks. */
void picture_scale_y(const picture_layout_t *l, double most, bool is_upward)
{
    xy_axis_t axis = {.high = most, .from = picture_y(is_upward), .to = picture_y(!is_upward)};

    xy_axis_draw_up(&l->svg, &axis, most < 5 ? (int)fmax(most, 1) : 5, picture_x(0), picture_x(1),
                    xy_tick_number);
}

static size_t kinds_of(const picture_layout_t *l, xy_legend_t *legend)
{
    bool is_there[PICTURE_KINDS] = {false};
    size_t n = 0;

    for (size_t i = 0; i < l->picture->transfers.count; i++)
        is_there[picture_kind_of(&XY_VEC_AT(&l->picture->transfers, picture_transfer_t, i))] = true;
    for (int k = 0; k < PICTURE_KINDS; k++)
        if (is_there[k])
            legend[n++] = (xy_legend_t){
                kind_names[k], xy_colour_fill[picture_kind_colour((picture_kind_t)k)], false};
    return n;
}

/* The number of workers with a colour of their own, different from those of transfers. */
static size_t workers_of(const picture_layout_t *l, xy_legend_t *legend, char names[][24])
{
    size_t n = 0;

    for (int32_t w = 0; w < l->workers && n < WORKER_COLOURS; w++, n++) {
        bool is_last = n + 1 == WORKER_COLOURS && w + 1 < l->workers, is_gpu = w < l->picture->gpus;

        snprintf(names[n], sizeof(names[n]), "%s %d%s", is_gpu ? "GPU" : "core",
                 is_gpu ? w : w - l->picture->gpus, is_last ? ", ..." : "");
        legend[n] = (xy_legend_t){names[n], xy_colour_fill[picture_colour(w)], false};
    }
    return n;
}

void picture_draw_legend(const picture_layout_t *l, bool has_workers, bool has_transfers)
{
    xy_legend_t legend[WORKER_COLOURS + PICTURE_KINDS];
    char names[WORKER_COLOURS][24];
    size_t n = has_workers ? workers_of(l, legend, names) : 0;

    n += has_transfers ? kinds_of(l, legend + n) : 0;
    xy_svg_legend(&l->svg, PICTURE_LEFT, 6, PICTURE_WIDE, legend, n);
}

static void stroke(const picture_layout_t *l, double from, double to, double y)
{
    xy_svg_stroke(&l->svg, picture_x(from), picture_y(y), fmax(0.5, (to - from) * PICTURE_WIDE));
}

static void strokes_begin(const picture_layout_t *l, int colour, double high)
{
    xy_svg_strokes_begin(&l->svg, xy_colour_line[colour], fmax(0.5, high));
}

/* ---- The domain against time ---- */

/* The middle of a cell; in more than one dimension that of its row, as single cells would be too
 * small to be seen. */
static double row_of(const picture_layout_t *l, int64_t place)
{
    int64_t row = place / (l->size[1] * l->size[2]);

    return ((double)row + 0.5) / (double)l->size[0];
}

static double mark_high(const picture_layout_t *l)
{
    return (l->dims == 1 ? 1 : 0.8) * PICTURE_HIGH / (double)l->size[0];
}

/* Draws the transfers of one kind at the positions of their data, against time. */
static void draw_transfers(const picture_layout_t *l, picture_kind_t kind)
{
    double high = mark_high(l);

    strokes_begin(l, picture_kind_colour(kind), 0.4 * high);
    for (size_t i = 0; i < l->picture->transfers.count; i += l->step) {
        const picture_transfer_t *t = &XY_VEC_AT(&l->picture->transfers, picture_transfer_t, i);
        int64_t place = picture_place_of_data(l, t->data);

        if (place >= 0 && kind == picture_kind_of(t))
            stroke(l, t->start / l->end, t->end / l->end, row_of(l, place));
    }
    xy_svg_strokes_end(&l->svg);
}

void picture_draw_time(picture_layout_t *l)
{
    picture_begin(l, "Domain against time", "time",
                  l->dims == 1 ? "position" : "position in the first dimension");
    picture_scale_time(l);
    picture_scale_y(l, (double)l->size[0], false);
    picture_draw_legend(l, true, true);
    for (int k = 0; k < PICTURE_KINDS; k++)
        draw_transfers(l, (picture_kind_t)k);
    for (int32_t w = 0; w < l->workers; w++) {
        strokes_begin(l, picture_colour(w), mark_high(l));
        for (size_t i = 0; i < l->picture->tasks.count; i += l->step) {
            const picture_task_t *t = &XY_VEC_AT(&l->picture->tasks, picture_task_t, i);

            if (t->worker == w && l->place[t->op] >= 0)
                stroke(l, t->start / l->end, t->end / l->end, row_of(l, l->place[t->op]));
        }
        xy_svg_strokes_end(&l->svg);
    }
    xy_svg_end(&l->svg);
}

/* ---- The middle line of the domain against iterations ---- */

typedef struct {
    double end; /* < 0: nothing ran there */
    int32_t worker;
} moment_t;

/* The number on the line of a cell; -1: it lies beside. */
static int64_t on_line(const picture_layout_t *l, int64_t place)
{
    int64_t across = l->size[1] * l->size[2];
    int64_t middle = l->size[1] / 2 * l->size[2] + l->size[2] / 2;

    return place >= 0 && place % across == middle ? place / across : -1;
}

/* Returns end and worker of each position and iteration on the middle line; NULL without memory;
 * the caller frees it. */
static moment_t *find_moments(const picture_layout_t *l)
{
    size_t count = (size_t)l->size[0] * (size_t)l->iterations;
    moment_t *m = xy_malloc((count + 1) * sizeof(*m));

    for (size_t i = 0; m != NULL && i < count; i++)
        m[i] = (moment_t){-1, 0};
    for (size_t i = 0; m != NULL && i < l->picture->tasks.count; i++) {
        const picture_task_t *t = &XY_VEC_AT(&l->picture->tasks, picture_task_t, i);
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
 * nothing ever runs are no part of it. x and y have room for the line. */
static void draw_isochrone(const picture_layout_t *l, const moment_t *m, double time, double *x,
                           double *y)
{
    size_t n = 0;

    for (int64_t c = 0; c < l->size[0]; c++) {
        const moment_t *row = &m[c * l->iterations];
        int32_t t = 0;
        bool has_any = false;

        for (int32_t i = 0; i < l->iterations; i++) {
            has_any = has_any || row[i].end >= 0;
            if (row[i].end >= 0 && row[i].end <= time)
                t = i + 1;
        }
        if (!has_any)
            continue;
        x[n] = picture_x((double)t / l->iterations);
        y[n++] = picture_y(((double)c + 0.5) / (double)l->size[0]);
    }
    xy_svg_curve(&l->svg, "halo", x, y, n);
    xy_svg_curve(&l->svg, "ink", x, y, n);
}

/* Draws the iterations of each position that `worker` computed, as horizontal strokes. */
static void draw_runs(const picture_layout_t *l, const moment_t *m, int32_t worker)
{
    /* A little wider than a cell, or the background would shine through. */
    strokes_begin(l, picture_colour(worker), (double)PICTURE_HIGH / (double)l->size[0] + 0.3);
    for (int64_t x = 0; x < l->size[0]; x++)
        for (int32_t i = 0, from; i < l->iterations; i++) {
            const moment_t *row = &m[x * l->iterations];

            for (from = i; i < l->iterations && row[i].end >= 0 && row[i].worker == worker;)
                i++;
            if (i > from)
                stroke(l, (double)from / l->iterations, (double)i / l->iterations,
                       ((double)x + 0.5) / (double)l->size[0]);
        }
    xy_svg_strokes_end(&l->svg);
}

/* Draws the domain against the iteration, with lines of equal time. */
static void draw_iterations(picture_layout_t *l, const moment_t *m, double *line)
{
    int lines = (int)sqrt(l->iterations / 2.0);
    char step[32];

    lines = lines > 3 ? lines : 3;
    picture_begin(l, "Domain against iteration", "iteration",
                  l->dims == 1 ? "position" : "position on the middle line");
    scale_x(l, l->iterations, xy_tick_number);
    picture_scale_y(l, (double)l->size[0], false);
    picture_draw_legend(l, true, false);
    xy_svg_text(&l->svg, "end note", PICTURE_LEFT + PICTURE_WIDE, 16, "a line every %s",
                xy_format_seconds(l->end / (lines + 1), step));
    for (int32_t w = 0; w < l->workers; w++)
        draw_runs(l, m, w);
    for (int i = 1; i <= lines; i++)
        draw_isochrone(l, m, l->end * i / (lines + 1), line, line + l->size[0]);
    xy_svg_end(&l->svg);
}

xy_status_t picture_draw_iterations(picture_layout_t *l)
{
    moment_t *m = (double)l->size[0] * l->iterations <= LINE_CELLS_MAX ? find_moments(l) : NULL;
    double *line = xy_malloc(2 * (size_t)l->size[0] * sizeof(*line));

    if (m != NULL && line != NULL)
        draw_iterations(l, m, line);
    xy_free(line);
    xy_free(m);
    return m != NULL && line != NULL ? XY_OK : xy_fail_memory("drawing the domain");
}

/* ---- The domain at a few instants ---- */

typedef struct {
    int32_t done, worker;
} cell_t;

static void frame_fill(const picture_layout_t *l, double time, cell_t *cells)
{
    for (int64_t c = 0; c < l->cells; c++)
        cells[c] = (cell_t){0};
    for (size_t i = 0; i < l->picture->tasks.count; i++) {
        const picture_task_t *t = &XY_VEC_AT(&l->picture->tasks, picture_task_t, i);
        int64_t c = l->place[t->op];

        if (c >= 0 && t->end <= time && l->iteration[t->op] >= cells[c].done)
            cells[c] = (cell_t){l->iteration[t->op] + 1, t->worker};
    }
}

/* The middle slice: rows are the first dimension, columns the second. */
static void frame_draw(const picture_layout_t *l, double left, double top, double side,
                       const cell_t *cells)
{
    int64_t most = l->size[0] > l->size[1] ? l->size[0] : l->size[1];
    double unit = side / (double)most;

    for (int64_t x = 0; x < l->size[0]; x++)
        for (int64_t y = 0; y < l->size[1]; y++) {
            const cell_t *c = &cells[(x * l->size[1] + y) * l->size[2] + l->size[2] / 2];

            if (c->done > 0)
                xy_svg_cell(&l->svg, xy_colour_fill[picture_colour(c->worker)],
                            left + (double)y * unit, top + (double)x * unit, unit, unit,
                            0.15 + 0.85 * c->done / l->iterations, NULL);
        }
    xy_svg_rect(&l->svg, "frame", left, top, (double)l->size[1] * unit, (double)l->size[0] * unit,
                NULL);
}

xy_status_t picture_draw_slices(picture_layout_t *l)
{
    enum { SIDE = 300, GAP = 30 };
    cell_t *cells = xy_malloc((size_t)l->cells * sizeof(*cells));

    if (cells == NULL)
        return xy_fail_memory("drawing the domain");
    l->svg = xy_svg_begin(l->f, &(xy_svg_head_t){.width = 3 * (SIDE + GAP) + GAP,
                                                 .height = 2 * (SIDE + GAP) + 10,
                                                 .title = "Slices",
                                                 .is_embedded = l->is_embedded});
    for (int i = 0; i < FRAMES; i++) {
        double time = l->end * (i + 0.5) / FRAMES;
        int left = GAP + i % 3 * (SIDE + GAP), top = 24 + i / 3 * (SIDE + GAP);
        char text[32];

        frame_fill(l, time, cells);
        xy_svg_text(&l->svg, "", left, top - 6, "%s", xy_format_seconds(time, text));
        frame_draw(l, left, top, SIDE, cells);
    }
    xy_svg_end(&l->svg);
    xy_free(cells);
    return XY_OK;
}
