/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page: page/view.html with its style, its scripts and the data put in place of {{...}}. The
 * data is one stream of varints, read by page/data.js in the same order as it is written here, in
 * base64: some 13 bytes per state, where JSON would take a hundred.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "trace/format.h"
#include "trace/report.h"
#include "trace/trace_page.h"

typedef struct {
    FILE *file;
    uint8_t bytes[3 * 1024];
    size_t count;
} stream_t;

/* Writes the buffered bytes in base64. */
static void stream_flush(stream_t *s)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[4 * 1024];
    size_t n = 0;

    for (size_t i = 0; i < s->count; i += 3) {
        size_t left = s->count - i;
        uint32_t v = (uint32_t)s->bytes[i] << 16;

        v |= left > 1 ? (uint32_t)s->bytes[i + 1] << 8 : 0;
        v |= left > 2 ? (uint32_t)s->bytes[i + 2] : 0;
        text[n++] = digits[v >> 18];
        text[n++] = digits[v >> 12 & 63];
        text[n++] = left > 1 ? digits[v >> 6 & 63] : '=';
        text[n++] = left > 2 ? digits[v & 63] : '=';
    }
    fwrite(text, 1, n, s->file);
    s->count = 0;
}

static void put_byte(stream_t *s, uint8_t byte)
{
    s->bytes[s->count++] = byte;
    if (s->count == sizeof(s->bytes))
        stream_flush(s);
}

static void put_u(stream_t *s, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        put_byte(s, (uint8_t)(v | 0x80));
    put_byte(s, (uint8_t)v);
}

static void put_z(stream_t *s, int64_t v)
{
    put_u(s, trace_zigzag(v));
}

static void put_double(stream_t *s, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    for (int i = 0; i < 8; i++)
        put_byte(s, (uint8_t)(bits >> (8 * i)));
}

static void put_string(stream_t *s, const char *string)
{
    size_t n = strlen(string);

    put_u(s, n);
    for (size_t i = 0; i < n; i++)
        put_byte(s, (uint8_t)string[i]);
}

static const char *title(const xy_trace_log_t *log)
{
    const char *slash = strrchr(log->path, '/');

    if (log->title[0] != '\0')
        return log->title;
    return slash != NULL ? slash + 1 : log->path;
}

static const char *damage(const xy_trace_log_t *log)
{
    const xy_trace_damage_t *d = &log->damage;

    if (d->is_unfinished)
        return "This trace was not closed: its program stopped early or was still running. What "
               "was readable is shown.";
    if (d->bytes_skipped > 0 || d->chunks_missing > 0 || d->records_bad > 0)
        return "Parts of this trace are damaged or missing. What was readable is shown.";
    return "";
}

static void put_kinds(stream_t *s, const xy_trace_kind_info_t *kinds, size_t count)
{
    put_u(s, count);
    for (size_t i = 0; i < count; i++) {
        put_string(s, kinds[i].name);
        put_u(s, kinds[i].role);
        put_u(s, kinds[i].colour);
    }
}

/* Writes title, span and the names of rows, kinds, labels and counters. */
static void put_names(stream_t *s, const xy_trace_log_t *log)
{
    put_string(s, title(log));
    put_string(s, damage(log));
    put_u(s, log->clock == XY_TRACE_VIRTUAL);
    put_u(s, log->wall_ns > 0 ? (uint64_t)log->wall_ns / 1000 : 0);
    put_z(s, log->begin);
    put_u(s, (uint64_t)(log->end - log->begin));
    put_u(s, log->row_count);
    for (size_t i = 0; i < log->row_count; i++) {
        put_string(s, log->rows[i].name);
        put_string(s, log->rows[i].group);
    }
    put_kinds(s, log->kinds, log->kind_count);
    put_u(s, log->label_count);
    for (size_t i = 0; i < log->label_count; i++)
        put_string(s, log->labels[i]);
    put_u(s, log->counter_count);
    for (size_t i = 0; i < log->counter_count; i++) {
        put_string(s, log->counters[i].name);
        put_string(s, log->counters[i].unit);
    }
}

/* Writes the states of a row, with starts as differences. */
static void put_states(stream_t *s, const xy_trace_log_t *log, const xy_trace_row_info_t *row)
{
    int64_t last = log->begin;

    put_u(s, row->state_count);
    for (size_t i = row->first_state; i < row->first_state + row->state_count; i++) {
        const xy_trace_state_t *st = &log->states[i];

        put_u(s, (uint64_t)(st->start - last));
        put_u(s, (uint64_t)(st->end - st->start));
        put_u(s, (uint64_t)st->kind << 1 | st->is_open);
        put_u(s, st->label);
        put_z(s, st->id);
        last = st->start;
    }
}

/* Writes all links, with starts as differences. */
static void put_links(stream_t *s, const xy_trace_log_t *log)
{
    int64_t last = log->begin;

    put_u(s, log->link_count);
    for (size_t i = 0; i < log->link_count; i++) {
        const xy_trace_link_t *l = &log->links[i];

        put_u(s, (uint64_t)(l->start - last));
        put_z(s, l->end - l->start);
        put_u(s, l->from);
        put_u(s, l->to);
        put_u(s, l->bytes);
        put_u(s, l->label);
        last = l->start;
    }
}

static bool is_same_series(const xy_trace_sample_t *a, const xy_trace_sample_t *b)
{
    return a->counter == b->counter && a->row == b->row;
}

/* Samples come sorted by counter and row: each stretch is a curve. */
static void put_series(stream_t *s, const xy_trace_log_t *log)
{
    const xy_trace_sample_t *sample = log->samples;
    size_t n = log->sample_count, series = 0;

    for (size_t i = 0; i < n; i++)
        series += i == 0 || !is_same_series(&sample[i - 1], &sample[i]);
    put_u(s, series);
    for (size_t i = 0, end; i < n; i = end) {
        int64_t last = log->begin;

        for (end = i; end < n && is_same_series(&sample[i], &sample[end]); end++)
            continue;
        put_u(s, sample[i].counter);
        put_u(s, sample[i].row);
        put_u(s, end - i);
        for (size_t j = i; j < end; j++) {
            put_u(s, (uint64_t)(sample[j].time - last));
            put_double(s, sample[j].value);
            last = sample[j].time;
        }
    }
}

static void put_marks(stream_t *s, const xy_trace_log_t *log)
{
    put_u(s, log->mark_count);
    for (size_t i = 0; i < log->mark_count; i++) {
        put_u(s, (uint64_t)(log->marks[i].time - log->begin));
        put_u(s, log->marks[i].row);
        put_u(s, log->marks[i].label);
        put_z(s, log->marks[i].id);
    }
}

/* The two ends of a message between ranks. */
typedef struct {
    const xy_trace_step_t *sent, *received;
} ends_t;

static int by_sent(const void *left, const void *right)
{
    const ends_t *a = left, *b = right;

    return a->sent->time != b->sent->time        ? (a->sent->time < b->sent->time ? -1 : 1)
           : a->sent->message < b->sent->message ? -1
                                                 : a->sent->message > b->sent->message;
}

/* Messages from rank to rank, as the links are. */
static xy_status_t put_messages(stream_t *s, const xy_trace_log_t *log)
{
    ends_t *ends = xy_calloc(log->message_count + 1, sizeof(*ends));
    int64_t last = log->begin;
    size_t n = 0;

    if (ends == NULL)
        return xy_fail_memory("writing a page");
    for (size_t i = 0; i < log->step_count; i++) {
        const xy_trace_step_t *step = &log->steps[i];

        if (step->message == 0)
            continue;
        if (step->kind == XY_TRACE_STEP_SENT)
            ends[step->message].sent = step;
        else if (step->kind == XY_TRACE_STEP_RECEIVED)
            ends[step->message].received = step;
    }
    for (size_t i = 1; i <= log->message_count; i++)
        if (ends[i].sent != NULL && ends[i].received != NULL)
            ends[n++] = ends[i];
    if (n > 0)
        qsort(ends, n, sizeof(*ends), by_sent);
    put_u(s, n);
    for (size_t i = 0; i < n; i++) {
        put_u(s, (uint64_t)(ends[i].sent->time - last));
        put_z(s, ends[i].received->time - ends[i].sent->time);
        put_u(s, ends[i].sent->rank);
        put_u(s, ends[i].received->rank);
        put_u(s, ends[i].sent->bytes);
        put_u(s, 0);
        last = ends[i].sent->time;
    }
    xy_free(ends);
    return XY_OK;
}

/* The ranks, each with the row that it was first seen on, from 1. */
static xy_status_t put_ranks(stream_t *s, const xy_trace_log_t *log)
{
    uint32_t ranks = 0, *row_of;

    for (size_t i = 0; i < log->step_count; i++)
        ranks = log->steps[i].rank >= ranks ? log->steps[i].rank + 1 : ranks;
    row_of = xy_calloc((size_t)ranks + 1, sizeof(*row_of));
    if (row_of == NULL)
        return xy_fail_memory("writing a page");
    for (size_t i = log->step_count; i > 0; i--)
        row_of[log->steps[i - 1].rank] = log->steps[i - 1].row + 1;
    put_u(s, ranks);
    for (uint32_t r = 0; r < ranks; r++)
        put_u(s, row_of[r]);
    xy_free(row_of);
    return XY_OK;
}

/* Writes the MPI calls of all ranks. */
static void put_calls(stream_t *s, const xy_trace_log_t *log, const xy_trace_why_t *why)
{
    int64_t last = log->begin;

    put_u(s, why->call_count);
    for (size_t i = 0; i < why->call_count; i++) {
        const xy_trace_call_t *c = &why->calls[i];

        put_u(s, c->rank);
        put_z(s, c->enter - last);
        put_u(s, c->leave > c->enter ? (uint64_t)(c->leave - c->enter) : 0);
        put_u(s, c->place);
        last = c->enter;
    }
}

/* Writes the waits of all ranks with their root causes. */
static void put_waits(stream_t *s, const xy_trace_log_t *log, const xy_trace_why_t *why)
{
    int64_t last = log->begin;

    put_u(s, why->wait_count);
    for (size_t i = 0; i < why->wait_count; i++) {
        const xy_trace_wait_t *w = &why->waits[i];

        put_u(s, w->rank);
        put_z(s, w->start - last);
        put_u(s, (uint64_t)(w->end - w->start));
        put_u(s, w->kind);
        put_u(s, w->who);
        put_u(s, w->place);
        put_u(s, w->root);
        put_u(s, w->root_place);
        put_z(s, w->end - w->root_end);
        put_u(s, (uint64_t)w->root_ns);
        last = w->end;
    }
}

/* Writes calls, waits and messages, or a 0 if there is no analysis. */
static xy_status_t put_why(stream_t *s, const xy_trace_log_t *log, const xy_trace_why_t *why)
{
    xy_status_t st;

    put_u(s, why != NULL);
    if (why == NULL)
        return XY_OK;
    put_kinds(s, why->kinds, why->kind_count);
    put_u(s, why->place_count);
    for (size_t i = 0; i < why->place_count; i++) {
        put_string(s, why->places[i].function);
        put_string(s, why->places[i].place);
    }
    st = put_ranks(s, log);
    if (st != XY_OK)
        return st;
    put_calls(s, log, why);
    put_waits(s, log, why);
    return put_messages(s, log);
}

/* Writes the whole log in the binary form of the page, in base64. */
static xy_status_t put_data(const xy_trace_log_t *log, const xy_trace_why_t *why, FILE *file)
{
    stream_t s = {.file = file};
    xy_status_t st;

    put_names(&s, log);
    for (size_t r = 0; r < log->row_count; r++)
        put_states(&s, log, &log->rows[r]);
    put_links(&s, log);
    put_series(&s, log);
    put_marks(&s, log);
    st = put_why(&s, log, why);
    stream_flush(&s);
    return st;
}

/* The finding of the page, in one sentence. Without memory for it the page opens without. */
static void put_finding(const xy_trace_log_t *log, const xy_trace_why_t *why, FILE *file)
{
    xy_trace_summary_t *s;
    char span[32];
    double all;

    if (why != NULL) {
        xy_xml_escape(file, why->finding);
        return;
    }
    if (xy_trace_summarize(log, &s) != XY_OK)
        return;
    all = s->span * (double)s->row_count;
    if (all > 0)
        fprintf(file, "Rows compute %.0f %% of %s", 100 * s->total.compute / all,
                xy_format_seconds(1e-9 * s->span, span));
    if (all > 0 && s->total.flight > 0)
        fprintf(file, " and hide %.0f %% of the time of messages",
                100 * s->total.hidden / s->total.flight);
    if (all > 0)
        fputc('.', file);
    xy_trace_summary_free(s);
}

/* Writes the part of the page that replaces the placeholder `name`. */
static xy_status_t put_part(const xy_trace_log_t *log, const xy_trace_why_t *why, const char *name,
                            size_t length, FILE *file)
{
    xy_status_t st = XY_OK;

    if (strncmp(name, "title", length) == 0)
        xy_xml_escape(file, title(log));
    else if (strncmp(name, "finding", length) == 0)
        put_finding(log, why, file);
    else if (strncmp(name, "style", length) == 0)
        fputs(trace_page_css, file);
    else if (strncmp(name, "script", length) == 0)
        fprintf(file, "%s\n%s\n%s\n%s\n%s", trace_page_data_js, trace_page_rows_js,
                trace_page_draw_js, trace_page_table_js, trace_page_view_js);
    else
        st = put_data(log, why, file);
    return st;
}

xy_status_t xy_trace_write_html(const xy_trace_log_t *log, const xy_trace_why_t *why, FILE *file)
{
    const char *at = trace_page_html, *open, *close;
    xy_status_t st = XY_OK;

    while (st == XY_OK && (open = strstr(at, "{{")) != NULL &&
           (close = strstr(open, "}}")) != NULL) {
        fwrite(at, 1, (size_t)(open - at), file);
        st = put_part(log, why, open + 2, (size_t)(close - open) - 2, file);
        at = close + 2;
    }
    fputs(at, file);
    return st;
}
