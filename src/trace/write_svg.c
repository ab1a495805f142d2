/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A picture for documents: one band per row, time from left to right. The picture is cut into
 * narrow columns; each shows the kind of state that took most of it, so that its size does not
 * depend on the number of states. A column of a state with a rank or task carries its number where
 * there is room. A message of a row to itself (a collective that is worked on, a copy to a GPU) is
 * a line under the row, others are arrows from row to row; of many, some.
 */
#include <inttypes.h>
#include <string.h>

#include "base/base.h"
#include "draw/draw.h"
#include "trace/report.h"

enum {
    WIDTH = 960,
    COLUMNS = 2 * WIDTH,
    BAND = 26,
    GAP = 12,
    TOP = 44,
    BOTTOM = 34,
    LINKS_MAX = 300,
    LEGEND_MAX = 24
};

static const xy_ink_t inks[] = {
    {".own", "stroke", "#1f2430", "#e6e9ef"},
    {".message", "stroke", "#1f2430", "#e6e9ef"},
    {".border", "stroke", "#fff", "#14161a"},
    {NULL, NULL, NULL, NULL},
};

typedef struct {
    double time; /* of the winning kind in this column, ns */
    double best; /* of its longest stretch */
    uint32_t kind;
    int64_t id;
} column_t;

typedef struct {
    const xy_trace_log_t *log;
    int64_t begin, end;
    double *times; /* [COLUMNS * kinds] of the row */
    column_t *columns;
    bool *is_used; /* [kinds] */
    double left;   /* where time begins, in pixels */
    xy_svg_t svg;
} picture_t;

static double x_of(const picture_t *p, int64_t time)
{
    return p->left + WIDTH * ((double)(time - p->begin) / (double)(p->end - p->begin));
}

static double y_of(size_t row)
{
    return TOP + (double)row * (BAND + GAP);
}

/* Adds time of a state to a column, which shows its most frequent kind. */
static void add_to_column(const picture_t *p, long c, const xy_trace_state_t *s, double length)
{
    column_t *column = &p->columns[c];
    double *sum = &p->times[(size_t)c * p->log->kind_count + s->kind];

    *sum += length;
    if (column->kind != s->kind && *sum > column->time)
        *column = (column_t){.kind = s->kind, .best = 0};
    if (column->kind != s->kind)
        return;
    column->time = *sum;
    if (length > column->best) {
        column->best = length;
        column->id = s->id;
    }
}

static void add_segment(void *arg, size_t state, int64_t start, int64_t end)
{
    const picture_t *p = arg;
    double per = (double)(p->end - p->begin) / COLUMNS;
    double a = (double)((start > p->begin ? start : p->begin) - p->begin) / per;
    double b = (double)((end < p->end ? end : p->end) - p->begin) / per;

    for (long c = (long)a; b > a && c < COLUMNS && (double)c < b; c++) {
        double low = a > (double)c ? a : (double)c, high = b < (double)c + 1 ? b : (double)c + 1;

        add_to_column(p, c, &p->log->states[state], high - low);
    }
}

/* Draws columns [first, end), which show the same state. */
static void draw_run(const picture_t *p, size_t row, long first, long end)
{
    const column_t *c = &p->columns[first];
    double x = p->left + first / 2.0, width = (double)(end - first) / 2.0;
    char class[16];

    if (c->time == 0)
        return;
    p->is_used[c->kind] = true;
    snprintf(class, sizeof(class), "k%" PRIu32, c->kind);
    xy_svg_rect(&p->svg, class, x, y_of(row), width, BAND, NULL);
    if (first > 0 && width > 4)
        xy_svg_line(&p->svg, "border", x, y_of(row), x, y_of(row) + BAND);
    if (c->id != XY_TRACE_NO_ID && width > 16 && p->log->kinds[c->kind].role == XY_TRACE_COMPUTE)
        xy_svg_text(&p->svg, "id", x + width / 2, y_of(row) + BAND / 2.0 + 4, "%" PRId64, c->id);
}

/* Draws the band of a row. */
static xy_status_t draw_row(const picture_t *p, size_t row)
{
    xy_status_t st;
    long first = 0;

    memset(p->times, 0, COLUMNS * p->log->kind_count * sizeof(*p->times));
    for (long c = 0; c < COLUMNS; c++)
        p->columns[c] = (column_t){.kind = UINT32_MAX, .id = XY_TRACE_NO_ID};
    st = xy_trace_segments(p->log, row, add_segment, (void *)(uintptr_t)p);
    if (st != XY_OK)
        return st;
    xy_svg_text(&p->svg, "end", p->left - 8, y_of(row) + BAND / 2.0 + 4, "%s",
                p->log->rows[row].name);
    for (long c = 1; c <= COLUMNS; c++)
        if (c == COLUMNS || p->columns[c].kind != p->columns[first].kind ||
            p->columns[c].id != p->columns[first].id) {
            draw_run(p, row, first, c);
            first = c;
        }
    return XY_OK;
}

static void draw_link(const picture_t *p, const xy_trace_link_t *l)
{
    double a = x_of(p, l->start > p->begin ? l->start : p->begin);
    double b = x_of(p, l->end < p->end ? l->end : p->end);

    if (l->from == l->to)
        xy_svg_line(&p->svg, "own", a, y_of(l->from) + BAND + 4, b, y_of(l->from) + BAND + 4);
    else if (l->end > p->end)
        xy_svg_line(&p->svg, "message", a, y_of(l->from) + BAND / 2.0, b, y_of(l->to) + BAND / 2.0);
    else
        xy_svg_arrow(&p->svg, "message", a, y_of(l->from) + BAND / 2.0, b,
                     y_of(l->to) + BAND / 2.0);
}

typedef struct {
    size_t own, between; /* messages in sight: of a row to itself, to others */
} links_t;

static bool is_in_sight(const picture_t *p, const xy_trace_link_t *l)
{
    return l->end > p->begin && l->start < p->end;
}

static links_t count_links(const picture_t *p)
{
    links_t n = {0, 0};

    for (size_t i = 0; i < p->log->link_count; i++)
        if (is_in_sight(p, &p->log->links[i])) {
            n.own += p->log->links[i].from == p->log->links[i].to;
            n.between += p->log->links[i].from != p->log->links[i].to;
        }
    return n;
}

/* Draw the links. Those of a row to itself come by start: where one is drawn already, others would
 * not be seen. Of others every `step`-th is drawn. */
static links_t draw_links(const picture_t *p)
{
    column_t *drawn = p->columns; /* the rows are drawn: their columns are free */
    links_t n = count_links(p);
    size_t step = n.between / LINKS_MAX + 1, between = 0;

    memset(drawn, 0, COLUMNS * sizeof(*drawn));
    for (size_t i = 0; i < p->log->link_count; i++) {
        const xy_trace_link_t *l = &p->log->links[i];

        if (!is_in_sight(p, l))
            continue;
        if (l->from == l->to) {
            double end = x_of(p, l->end < p->end ? l->end : p->end);

            if (l->from < COLUMNS && end <= drawn[l->from].time)
                continue;
            if (l->from < COLUMNS)
                drawn[l->from].time = end + 0.2;
        }
        if (l->from == l->to || between++ % step == 0)
            draw_link(p, l);
    }
    return n;
}

static void draw_axis(const picture_t *p)
{
    xy_axis_t axis = {
        .high = (double)(p->end - p->begin) * 1e-9, .from = p->left, .to = p->left + WIDTH};
    double y = y_of(p->log->row_count) - GAP + 8;

    xy_axis_draw_across(&p->svg, &axis, 8, y, y + 6, xy_tick_seconds);
}

/* Draws the legend of the kinds and links in use. */
static void draw_legend(const picture_t *p, links_t links)
{
    xy_legend_t entries[LEGEND_MAX];
    char classes[LEGEND_MAX][16], name[48];
    size_t step = links.between / LINKS_MAX + 1;
    size_t n = 0;

    for (size_t k = 0; k < p->log->kind_count && n < LEGEND_MAX - 2; k++) {
        if (!p->is_used[k])
            continue;
        snprintf(classes[n], sizeof(classes[n]), "k%zu", k);
        entries[n] = (xy_legend_t){p->log->kinds[k].name, classes[n], XY_LEGEND_BOX};
        n++;
    }
    if (links.own > 0)
        entries[n++] = (xy_legend_t){"in flight", "own", XY_LEGEND_LINE};
    snprintf(name, sizeof(name), "message");
    if (step > 1)
        snprintf(name, sizeof(name), "message (1 of %zu is drawn)", step);
    if (links.between > 0)
        entries[n++] = (xy_legend_t){name, "message", XY_LEGEND_ARROW};
    xy_svg_legend(&p->svg, p->left - 8, 12, WIDTH, entries, n);
}

/* A class for each kind of state. Its colour is part of the trace. */
static void write_kinds(const xy_trace_log_t *log, xy_text_t *style)
{
    for (size_t k = 0; k < log->kind_count; k++)
        xy_text_addf(style, ".k%zu{fill:#%06" PRIx32 "}", k, log->kinds[k].colour);
    xy_text_add(
        style,
        "svg .id{text-anchor:middle;fill:#fff;font-size:11px}"
        ".own{stroke-width:3}.message{fill:none;stroke-width:1.1}.border{stroke-width:.6}\n");
}

static double label_width(const xy_trace_log_t *log)
{
    size_t most = 0;

    for (size_t r = 0; r < log->row_count; r++)
        most = strlen(log->rows[r].name) > most ? strlen(log->rows[r].name) : most;
    return 20 + 6.5 * (double)most;
}

xy_status_t xy_trace_write_svg(const xy_trace_log_t *log, int64_t begin, int64_t end, FILE *file)
{
    picture_t p = {.log = log, .begin = begin, .end = end, .left = label_width(log)};
    xy_text_t style = XY_TEXT_INIT;
    xy_status_t st = XY_OK;

    if (end <= begin)
        return xy_fail(XY_EINVAL, "nothing to draw: the given time range is empty");
    p.times = xy_calloc(COLUMNS * log->kind_count, sizeof(*p.times));
    p.columns = xy_calloc(COLUMNS, sizeof(*p.columns));
    p.is_used = xy_calloc(log->kind_count, sizeof(*p.is_used));
    write_kinds(log, &style);
    if (p.times == NULL || p.columns == NULL || p.is_used == NULL || style.failed)
        st = xy_fail_memory("drawing a trace");
    if (st == XY_OK)
        p.svg = xy_svg_begin(file, &(xy_svg_head_t){.width = p.left + WIDTH + 24,
                                                    .height = y_of(log->row_count) + BOTTOM,
                                                    .title = "Timeline",
                                                    .inks = inks,
                                                    .style = style.s});
    for (size_t r = 0; r < log->row_count && st == XY_OK; r++)
        st = draw_row(&p, r);
    if (st == XY_OK) {
        draw_legend(&p, draw_links(&p));
        draw_axis(&p);
        xy_svg_end(&p.svg);
    }
    xy_text_cleanup(&style);
    xy_free(p.times);
    xy_free(p.columns);
    xy_free(p.is_used);
    return st;
}
