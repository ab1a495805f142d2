/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chrome's trace event format, which Perfetto reads too. A group is a process, a row a thread of
 * it. States are complete events (X), messages flows (s, f), counters C, marks instants (i). Times
 * are microseconds with three digits.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "trace/report.h"

typedef struct {
    const xy_trace_log_t *log;
    FILE *file;
    bool has_event;
    uint32_t *process; /* of each row */
} chrome_t;

/* {"ph":"X","pid":1,"tid":3,"ts":1.000 and open for more. */
static void event_begin(chrome_t *c, char phase, uint32_t row, int64_t time)
{
    int64_t t = time - c->log->begin;

    fprintf(c->file,
            "%s\n{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":%" PRId64
            ".%03" PRId64,
            c->has_event ? "," : "", phase, c->process[row], row, t / 1000, t % 1000);
    c->has_event = true;
}

static void put_text(chrome_t *c, const char *key, const char *value)
{
    fprintf(c->file, ",\"%s\":", key);
    xy_json_quote(c->file, value);
}

static void put_state(chrome_t *c, const xy_trace_state_t *s)
{
    const char *label = c->log->labels[s->label], *kind = c->log->kinds[s->kind].name;
    int64_t d = s->end - s->start;

    event_begin(c, 'X', s->row, s->start);
    fprintf(c->file, ",\"dur\":%" PRId64 ".%03" PRId64, d / 1000, d % 1000);
    put_text(c, "cat", kind);
    put_text(c, "name", label[0] != '\0' ? label : kind);
    if (s->id != XY_TRACE_NO_ID)
        fprintf(c->file, ",\"args\":{\"id\":%" PRId64 "}", s->id);
    putc('}', c->file);
}

/* Writes a message as two flow events. */
static void put_link(chrome_t *c, size_t i)
{
    const xy_trace_link_t *l = &c->log->links[i];
    const char *label = c->log->labels[l->label];

    event_begin(c, 's', l->from, l->start);
    put_text(c, "cat", "message");
    put_text(c, "name", label[0] != '\0' ? label : "message");
    fprintf(c->file, ",\"id\":%zu,\"args\":{\"bytes\":%" PRIu64 "}}", i, l->bytes);
    event_begin(c, 'f', l->to, l->end);
    put_text(c, "cat", "message");
    put_text(c, "name", label[0] != '\0' ? label : "message");
    fprintf(c->file, ",\"id\":%zu,\"bp\":\"e\"}", i);
}

static void put_sample(chrome_t *c, const xy_trace_sample_t *s)
{
    char number[32];

    if (!isfinite(s->value))
        return;
    event_begin(c, 'C', s->row, s->time);
    fputs(",\"name\":", c->file);
    xy_json_quote(c->file, c->log->counters[s->counter].name);
    fprintf(c->file, ",\"id\":%" PRIu32 ",\"args\":{\"value\":%s}}", s->row,
            xy_format_double(s->value, number));
}

static void put_mark(chrome_t *c, const xy_trace_mark_t *m)
{
    const char *label = c->log->labels[m->label];

    event_begin(c, 'i', m->row, m->time);
    put_text(c, "name", label[0] != '\0' ? label : "mark");
    fputs(",\"s\":\"t\"", c->file);
    if (m->id != XY_TRACE_NO_ID)
        fprintf(c->file, ",\"args\":{\"id\":%" PRId64 "}", m->id);
    putc('}', c->file);
}

static void put_name(chrome_t *c, const char *what, uint32_t row, const char *name)
{
    event_begin(c, 'M', row, c->log->begin);
    put_text(c, "name", what);
    fputs(",\"args\":{\"name\":", c->file);
    xy_json_quote(c->file, name);
    fputs("}}", c->file);
}

/* Writes the names of rows; each group is a process of Chrome's. */
static void put_rows(chrome_t *c)
{
    const xy_trace_log_t *log = c->log;
    uint32_t process = 0;

    for (uint32_t r = 0; r < log->row_count; r++) {
        bool is_new = r == 0 || strcmp(log->rows[r].group, log->rows[r - 1].group) != 0;

        c->process[r] = process += is_new;
        if (is_new)
            put_name(c, "process_name", r,
                     log->rows[r].group[0] != '\0' ? log->rows[r].group : log->title);
        put_name(c, "thread_name", r, log->rows[r].name);
        event_begin(c, 'M', r, log->begin);
        fprintf(c->file, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}",
                r);
    }
}

xy_status_t xy_trace_write_chrome(const xy_trace_log_t *log, FILE *file)
{
    chrome_t c = {.log = log, .file = file};

    c.process = xy_calloc(log->row_count, sizeof(*c.process));
    if (c.process == NULL)
        return xy_fail_memory("writing a trace for Chrome");
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"title\":", file);
    xy_json_quote(file, log->title);
    fputs("},\"traceEvents\":[", file);
    put_rows(&c);
    for (size_t i = 0; i < log->state_count; i++)
        put_state(&c, &log->states[i]);
    for (size_t i = 0; i < log->link_count; i++)
        put_link(&c, i);
    for (size_t i = 0; i < log->sample_count; i++)
        put_sample(&c, &log->samples[i]);
    for (size_t i = 0; i < log->mark_count; i++)
        put_mark(&c, &log->marks[i]);
    fputs("\n]}\n", file);
    xy_free(c.process);
    return XY_OK;
}
