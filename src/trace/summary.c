/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time per kind and row, idle time, and overlap: the part of the time with messages in flight in
 * which the row computed. Everything is one walk over the states and one over the messages.
 */
#include <stdlib.h>

#include "base/base.h"
#include "trace/report.h"

typedef struct {
    int64_t start, end;
} flight_t;

/* The flights of all rows, row after row; those of a row are disjoint and in order. */
typedef struct {
    flight_t *all;
    size_t *first; /* row_count + 1 */
    size_t *count;
} flights_t;

typedef struct {
    const xy_trace_log_t *log;
    xy_trace_row_summary_t *row;
    double *time;
    const flight_t *flight, *flight_end; /* not yet passed */
    double covered;
} walk_t;

static void count_messages(const xy_trace_log_t *log, xy_trace_summary_t *s, size_t *ends)
{
    for (size_t i = 0; i < log->link_count; i++) {
        const xy_trace_link_t *l = &log->links[i];

        s->rows[l->from].sent++;
        s->rows[l->from].bytes_sent += l->bytes;
        s->rows[l->to].received++;
        s->rows[l->to].bytes_received += l->bytes;
        ends[l->from]++;
        ends[l->to]++;
    }
}

/* Links come by start, so each row's flights do too: a new one either extends the last or follows.
 */
static void flight_add(flights_t *f, uint32_t row, const xy_trace_link_t *l)
{
    flight_t *last = &f->all[f->first[row] + f->count[row]];

    if (l->end <= l->start)
        return;
    if (f->count[row] > 0 && l->start <= last[-1].end) {
        if (l->end > last[-1].end)
            last[-1].end = l->end;
        return;
    }
    *last = (flight_t){l->start, l->end};
    f->count[row]++;
}

/* Groups the links by row; a link is in the lists of both its rows. */
static void flights_fill(const xy_trace_log_t *log, flights_t *f)
{
    size_t at = 0;

    for (size_t r = 0; r < log->row_count; r++) {
        f->first[r] = at;
        at += f->count[r];
        f->count[r] = 0;
    }
    for (size_t i = 0; i < log->link_count; i++) {
        flight_add(f, log->links[i].from, &log->links[i]);
        flight_add(f, log->links[i].to, &log->links[i]);
    }
}

static double common(int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t low = a > c ? a : c, high = b < d ? b : d;

    return high > low ? (double)(high - low) : 0;
}

/* Adds the part of a state that no inner one covers to the times of a row; links in flight during
 * computation count as hidden. */
static void add_segment(void *arg, size_t state, int64_t start, int64_t end)
{
    walk_t *w = arg;
    uint32_t kind = w->log->states[state].kind;
    xy_trace_role_t role = w->log->kinds[kind].role;
    double length = (double)(end - start);

    w->time[kind] += length;
    w->covered += length;
    if (role == XY_TRACE_IDLE)
        w->row->idle += length;
    if (role != XY_TRACE_COMPUTE)
        return;
    w->row->compute += length;
    while (w->flight < w->flight_end && w->flight->end <= start)
        w->flight++;
    for (const flight_t *f = w->flight; f < w->flight_end && f->start < end; f++)
        w->row->hidden += common(start, end, f->start, f->end);
}

/* Adds a row to the totals. */
static void add_total(xy_trace_summary_t *s, size_t r)
{
    const xy_trace_row_summary_t *row = &s->rows[r];

    s->total.compute += row->compute;
    s->total.idle += row->idle;
    s->total.flight += row->flight;
    s->total.hidden += row->hidden;
    s->total.sent += row->sent;
    s->total.received += row->received;
    s->total.bytes_sent += row->bytes_sent;
    s->total.bytes_received += row->bytes_received;
    for (size_t k = 0; k < s->kind_count; k++)
        s->kind_time[k] += s->time[r * s->kind_count + k];
}

/* Sums the times of every row; uncovered time is idle. */
static xy_status_t walk_rows(const xy_trace_log_t *log, const flights_t *f, xy_trace_summary_t *s)
{
    for (size_t r = 0; r < log->row_count; r++) {
        const flight_t *first = f->all + f->first[r];
        walk_t w = {.log = log,
                    .row = &s->rows[r],
                    .time = s->time + r * s->kind_count,
                    .flight = first,
                    .flight_end = first + f->count[r]};
        xy_status_t st = xy_trace_segments(log, r, add_segment, &w);

        if (st != XY_OK)
            return st;
        if (s->span > w.covered) /* not so only by rounding, in years of trace */
            w.row->idle += s->span - w.covered;
        for (size_t i = 0; i < f->count[r]; i++)
            w.row->flight += (double)(first[i].end - first[i].start);
        add_total(s, r);
    }
    return XY_OK;
}

/* Returns a summary of zeros; NULL without memory. */
static xy_trace_summary_t *summary_new(const xy_trace_log_t *log)
{
    xy_trace_summary_t *s = xy_calloc(1, sizeof(*s));

    if (s == NULL)
        return NULL;
    s->row_count = log->row_count;
    s->kind_count = log->kind_count;
    s->span = (double)(log->end - log->begin);
    s->rows = xy_calloc(log->row_count, sizeof(*s->rows));
    s->kind_time = xy_calloc(log->kind_count, sizeof(*s->kind_time));
    if (log->row_count == 0 || log->kind_count <= SIZE_MAX / 8 / log->row_count)
        s->time = xy_calloc(log->row_count * log->kind_count, sizeof(*s->time));
    if (s->rows == NULL || s->kind_time == NULL || s->time == NULL) {
        xy_trace_summary_free(s);
        return NULL;
    }
    return s;
}

void xy_trace_summary_free(xy_trace_summary_t *s)
{
    if (s == NULL)
        return;
    xy_free(s->rows);
    xy_free(s->kind_time);
    xy_free(s->time);
    xy_free(s);
}

xy_status_t xy_trace_summarize(const xy_trace_log_t *log, xy_trace_summary_t **summary_p)
{
    xy_trace_summary_t *s = summary_new(log);
    flights_t f = {0};
    xy_status_t st;

    f.all = xy_calloc(2 * log->link_count, sizeof(*f.all));
    f.first = xy_calloc(log->row_count + 1, sizeof(*f.first));
    f.count = xy_calloc(log->row_count + 1, sizeof(*f.count));
    if (s == NULL || f.all == NULL || f.first == NULL || f.count == NULL) {
        st = xy_fail_memory("summing up a trace");
    } else {
        count_messages(log, s, f.count);
        flights_fill(log, &f);
        st = walk_rows(log, &f, s);
    }
    xy_free(f.all);
    xy_free(f.first);
    xy_free(f.count);
    if (st != XY_OK) {
        xy_trace_summary_free(s);
        return st;
    }
    *summary_p = s;
    return XY_OK;
}
