/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The summary for a terminal:
 *
 *   heat 4096: 4 rows, 120 states, 16 messages (64 KiB), 10 ms of virtual time
 *
 *           compute  progress   wait   idle  overlap
 *   core 0    71.2%      8.1%   3.0%  17.7%    92.0%
 *   ...
 *   core 0 ████████▓▓░░··████████
 */
#include <string.h>

#include "base/base.h"
#include "trace/report.h"

static const char *const glyphs[XY_TRACE_ROLES] = {
    [XY_TRACE_OTHER] = "▚", [XY_TRACE_COMPUTE] = "█", [XY_TRACE_PROGRESS] = "▓",
    [XY_TRACE_WAIT] = "░",  [XY_TRACE_IDLE] = "·",
};

enum { NAME_MAX_WIDTH = 24, CELL = 9 };

/* Characters of UTF-8, as far as they are one column wide. */
static int width(const char *s)
{
    int n = 0;

    for (; *s != '\0'; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

/* Names come from a file: control characters must not reach the terminal. */
static void put_name(FILE *file, const char *s, int columns)
{
    int n = 0;

    for (; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;

        n += (c & 0xc0) != 0x80;
        if (columns > 0 && n > columns) {
            n--;
            break;
        }
        putc(c < ' ' || c == 0x7f ? '?' : c, file);
    }
    for (; n < columns; n++)
        putc(' ', file);
}

static int cell_width(const char *name)
{
    int w = width(name) + 2;

    return w > CELL ? w : CELL;
}

static void put_share(FILE *file, double part, double whole, int columns)
{
    if (whole > 0)
        fprintf(file, "%*.1f%%", columns - 1, 100.0 * part / whole);
    else
        fprintf(file, "%*s", columns, "-");
}

static bool is_column(const xy_trace_log_t *log, const xy_trace_summary_t *s, size_t k)
{
    return s->kind_time[k] > 0 && log->kinds[k].role != XY_TRACE_IDLE;
}

static void put_row(const xy_trace_log_t *log, const xy_trace_summary_t *s, const double *time,
                    const xy_trace_row_summary_t *row, double whole, FILE *file)
{
    for (size_t k = 0; k < s->kind_count; k++)
        if (is_column(log, s, k))
            put_share(file, time[k], whole, cell_width(log->kinds[k].name));
    put_share(file, row->idle, whole, CELL);
    put_share(file, row->hidden, row->flight, CELL);
    putc('\n', file);
}

static int name_width(const xy_trace_log_t *log, size_t rows)
{
    int best = 3;

    for (size_t r = 0; r < rows; r++) {
        int w = width(log->rows[r].name);

        best = w > best ? w : best;
    }
    return best < NAME_MAX_WIDTH ? best : NAME_MAX_WIDTH;
}

/* Prints the time of each kind per row. */
static void put_table(const xy_trace_log_t *log, const xy_trace_summary_t *s, size_t rows,
                      FILE *file)
{
    int names = name_width(log, rows);

    fprintf(file, "\n%*s", names, "");
    for (size_t k = 0; k < s->kind_count; k++)
        if (is_column(log, s, k)) {
            fprintf(file, "%*s", cell_width(log->kinds[k].name) - width(log->kinds[k].name), "");
            put_name(file, log->kinds[k].name, 0);
        }
    fprintf(file, "%*s%*s\n", CELL, "idle", CELL, "overlap");
    for (size_t r = 0; r < rows; r++) {
        put_name(file, log->rows[r].name, names);
        put_row(log, s, s->time + r * s->kind_count, &s->rows[r], s->span, file);
    }
    if (log->row_count > 1) {
        put_name(file, "all", names);
        put_row(log, s, s->kind_time, &s->total, s->span * (double)log->row_count, file);
    }
    if (rows < log->row_count)
        fprintf(file, "(and %zu more; --json has them all)\n", log->row_count - rows);
}

/* The timeline: per column the time of each role; the longest is drawn. */
typedef struct {
    const xy_trace_log_t *log;
    double scale; /* columns per ns */
    size_t columns;
    double *share; /* [column * XY_TRACE_ROLES + role], in columns */
} line_t;

/* Adds a segment of a state to the columns it covers. */
static void add_line(void *arg, size_t state, int64_t start, int64_t end)
{
    line_t *l = arg;
    double a = (double)(start - l->log->begin) * l->scale;
    double b = (double)(end - l->log->begin) * l->scale;
    xy_trace_role_t role = l->log->kinds[l->log->states[state].kind].role;

    for (size_t c = (size_t)a; c < l->columns && (double)c < b; c++) {
        double low = a > (double)c ? a : (double)c;
        double high = b < (double)(c + 1) ? b : (double)(c + 1);

        l->share[c * XY_TRACE_ROLES + role] += high - low;
    }
}

/* Prints a row of glyphs, one column each, by the role with most time. */
static void put_line(const line_t *l, FILE *file)
{
    for (size_t c = 0; c < l->columns; c++) {
        const double *share = l->share + c * XY_TRACE_ROLES;
        double covered = 0, most;
        size_t best = XY_TRACE_IDLE;

        for (size_t r = 0; r < XY_TRACE_ROLES; r++)
            covered += share[r];
        most = share[XY_TRACE_IDLE] + 1 - covered;
        for (size_t r = 0; r < XY_TRACE_IDLE; r++)
            if (share[r] > most) {
                most = share[r];
                best = r;
            }
        fputs(glyphs[best], file);
    }
    putc('\n', file);
}

static void put_legend(const line_t *l, FILE *file)
{
    static const char *const roles[XY_TRACE_ROLES] = {"other", "compute", "progress", "wait",
                                                      "idle"};
    char step[32];

    fprintf(
        file, "\none column is %s:",
        xy_format_seconds(1e-9 * (double)(l->log->end - l->log->begin) / (double)l->columns, step));
    for (size_t i = 1; i <= XY_TRACE_ROLES; i++)
        fprintf(file, "  %s %s", glyphs[i % XY_TRACE_ROLES], roles[i % XY_TRACE_ROLES]);
    putc('\n', file);
}

/* Prints the timeline of the first `rows` rows in `columns` columns. */
static xy_status_t put_timeline(const xy_trace_log_t *log, size_t columns, size_t rows, FILE *file)
{
    line_t l = {.log = log, .columns = columns};
    xy_status_t st = XY_OK;

    l.scale = (double)columns / (double)(log->end - log->begin);
    l.share = xy_malloc(columns * XY_TRACE_ROLES * sizeof(*l.share));
    if (l.share == NULL)
        return xy_fail_memory("drawing a trace");
    put_legend(&l, file);
    for (size_t r = 0; r < rows && st == XY_OK; r++) {
        memset(l.share, 0, columns * XY_TRACE_ROLES * sizeof(*l.share));
        st = xy_trace_segments(log, r, add_line, &l);
        put_name(file, log->rows[r].name, name_width(log, rows));
        putc(' ', file);
        put_line(&l, file);
    }
    xy_free(l.share);
    return st;
}

static void put_count(FILE *file, const char *before, size_t n, const char *word)
{
    fprintf(file, "%s%zu %s%s", before, n, word, n == 1 ? "" : "s");
}

/* How well the clocks of several processes agree. */
static void put_clocks(const xy_trace_log_t *log, FILE *file)
{
    uint64_t worst = 0;
    bool are_aligned = true;
    char time[32];

    for (size_t i = 0; i < log->source_count; i++) {
        are_aligned = are_aligned && log->sources[i].is_aligned;
        if (log->sources[i].error > worst)
            worst = log->sources[i].error;
    }
    if (log->source_count == 0)
        return;
    fprintf(file, "recorded by %zu process%s", log->source_count,
            log->source_count == 1 ? "" : "es");
    if (!are_aligned)
        fputs("; their clocks were not compared\n", file);
    else if (worst == 0)
        fputs(" with one clock\n", file);
    else
        fprintf(file, "; their clocks are aligned, each within %s\n",
                xy_format_seconds(1e-9 * (double)worst, time));
}

xy_status_t xy_trace_write_text(const xy_trace_log_t *log, const xy_trace_summary_t *summary,
                                size_t columns, size_t row_limit, FILE *file)
{
    size_t rows = row_limit > 0 && log->row_count > row_limit ? row_limit : log->row_count;
    char time[32], size[32];

    put_name(file, log->title[0] != '\0' ? log->title : log->path, 0);
    put_count(file, ": ", log->row_count, "row");
    put_count(file, ", ", log->state_count, "state");
    put_count(file, ", ", log->link_count, "message");
    if (log->link_count > 0)
        fprintf(file, " (%s)", xy_format_size(summary->total.bytes_sent, size));
    fprintf(file, ", %s of %s time\n", xy_format_seconds(1e-9 * summary->span, time),
            log->clock == XY_TRACE_VIRTUAL ? "virtual" : "real");
    put_clocks(log, file);
    if (rows == 0 || summary->span == 0)
        return XY_OK;
    put_table(log, summary, rows, file);
    return put_timeline(log, columns, rows, file);
}
