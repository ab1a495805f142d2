/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A picture for documents: one band per row, time from left to right. The picture is cut into
 * narrow columns; each shows the kind of state that took most of it, so that its size does not
 * depend on the number of states. A column of a state with a rank or task carries its number where
 * there is room. A message of a row to itself (a collective that is worked on) is a line under the
 * row, others go from row to row while they are few.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "trace/report.h"

enum {
    WIDTH = 960,
    COLUMNS = 2 * WIDTH,
    BAND = 26,
    GAP = 12,
    TOP = 44,
    BOTTOM = 34,
    LINKS_MAX = 300
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
    FILE *file;
} picture_t;

static void write_escaped(const char *text, FILE *file)
{
    for (; *text != '\0'; text++) {
        if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '&')
            fputs("&amp;", file);
        else
            fputc(*text, file);
    }
}

static double x_of(const picture_t *p, int64_t time)
{
    return p->left + WIDTH * ((double)(time - p->begin) / (double)(p->end - p->begin));
}

static double y_of(size_t row)
{
    return TOP + (double)row * (BAND + GAP);
}

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

static void draw_run(const picture_t *p, size_t row, long first, long end)
{
    const column_t *c = &p->columns[first];
    double x = p->left + first / 2.0, width = (double)(end - first) / 2.0;

    if (c->time == 0)
        return;
    p->is_used[c->kind] = true;
    fprintf(p->file,
            "<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" fill=\"#%06" PRIx32 "\"/>\n",
            x, y_of(row), width, BAND, p->log->kinds[c->kind].colour);
    if (first > 0 && width > 4)
        fprintf(p->file, "<path class=\"s\" d=\"M%.1f %.0fv%d\"/>\n", x, y_of(row), BAND);
    if (c->id != XY_TRACE_NO_ID && width > 16 && p->log->kinds[c->kind].role == XY_TRACE_COMPUTE)
        fprintf(p->file, "<text class=\"i\" x=\"%.1f\" y=\"%.0f\">%" PRId64 "</text>\n",
                x + width / 2, y_of(row) + BAND / 2.0 + 4, c->id);
}

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
    fprintf(p->file, "<text class=\"e\" x=\"%.0f\" y=\"%.0f\">", p->left - 8,
            y_of(row) + BAND / 2.0 + 4);
    write_escaped(p->log->rows[row].name, p->file);
    fputs("</text>\n", p->file);
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
        fprintf(p->file, "<path class=\"f\" d=\"M%.1f %.1fH%.1f\"/>\n", a, y_of(l->from) + BAND + 4,
                b);
    else
        fprintf(p->file, "<path class=\"l\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", a,
                y_of(l->from) + BAND / 2.0, b, y_of(l->to) + BAND / 2.0);
}

/* How many were messages of a row to itself. */
static size_t draw_links(const picture_t *p)
{
    size_t between = 0, own = 0;

    for (size_t i = 0; i < p->log->link_count; i++) {
        const xy_trace_link_t *l = &p->log->links[i];

        if (l->end <= p->begin || l->start >= p->end)
            continue;
        between += l->from != l->to;
        own += l->from == l->to;
        if (l->from == l->to || between <= LINKS_MAX)
            draw_link(p, l);
    }
    return own;
}

static void draw_axis(const picture_t *p)
{
    double span = (double)(p->end - p->begin) * 1e-9, step = pow(10, floor(log10(span / 4)));
    double y = y_of(p->log->row_count) - GAP + 8;
    char text[32];

    step *= span / step > 15 ? 5 : span / step > 8 ? 2 : 1;
    for (int i = 0; i * step <= span * 1.0001; i++) {
        double x = p->left + WIDTH * (i * step) / span;

        fprintf(p->file,
                "<path class=\"g\" d=\"M%.1f %.0fv6\"/><text class=\"m\" x=\"%.1f\" "
                "y=\"%.0f\">%s</text>\n",
                x, y, x, y + 20, i > 0 ? xy_format_seconds(i * step, text) : "0");
    }
}

static void draw_legend(const picture_t *p, bool has_own)
{
    double x = p->left;

    for (size_t k = 0; k < p->log->kind_count; k++) {
        if (!p->is_used[k])
            continue;
        fprintf(p->file,
                "<rect x=\"%.0f\" y=\"14\" width=\"14\" height=\"14\" fill=\"#%06" PRIx32
                "\"/><text x=\"%.0f\" y=\"26\">",
                x, p->log->kinds[k].colour, x + 20);
        write_escaped(p->log->kinds[k].name, p->file);
        fputs("</text>\n", p->file);
        x += 110;
    }
    if (has_own)
        fprintf(
            p->file,
            "<path class=\"f\" d=\"M%.0f 21h22\"/><text x=\"%.0f\" y=\"26\">collective</text>\n", x,
            x + 28);
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
    picture_t p = {.log = log, .begin = begin, .end = end, .left = label_width(log), .file = file};
    double width = p.left + WIDTH + 24, height = y_of(log->row_count) + BOTTOM;
    xy_status_t st = XY_OK;

    if (end <= begin)
        return xy_fail(XY_EINVAL, "nothing to draw: the time asked for is empty");
    p.times = xy_calloc(COLUMNS * log->kind_count, sizeof(*p.times));
    p.columns = xy_calloc(COLUMNS, sizeof(*p.columns));
    p.is_used = xy_calloc(log->kind_count, sizeof(*p.is_used));
    if (p.times == NULL || p.columns == NULL || p.is_used == NULL)
        st = xy_fail_memory("drawing a trace");
    if (st == XY_OK)
        fprintf(file,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
                "width=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n<style>"
                ".e{text-anchor:end}.m{text-anchor:middle;fill:#555}.g{stroke:#888}"
                ".i{text-anchor:middle;fill:#fff;font-size:11px}.f{stroke:#000;stroke-width:3}"
                ".s{stroke:#fff;stroke-width:.6}.l{stroke:#000;stroke-width:.7;fill:none}</style>\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                width, height, width);
    for (size_t r = 0; r < log->row_count && st == XY_OK; r++)
        st = draw_row(&p, r);
    if (st == XY_OK) {
        draw_legend(&p, draw_links(&p) > 0);
        draw_axis(&p);
        fputs("</svg>\n", file);
    }
    xy_free(p.times);
    xy_free(p.columns);
    xy_free(p.is_used);
    return st;
}
