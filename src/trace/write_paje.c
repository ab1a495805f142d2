/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pajé: a text file that first defines its own events, then types, containers, states, links and
 * variables, then what happened, in time order. Nested states become pushes and pops. Marks are
 * Pajé events. Aliases are short (r3, k2) and never come from the input, which is quoted.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "trace/report.h"

static const char header[] = "%EventDef PajeDefineContainerType 0\n"
                             "% Alias string\n% Type string\n% Name string\n%EndEventDef\n"
                             "%EventDef PajeDefineStateType 1\n"
                             "% Alias string\n% Type string\n% Name string\n%EndEventDef\n"
                             "%EventDef PajeDefineEventType 2\n"
                             "% Alias string\n% Type string\n% Name string\n% Color color\n"
                             "%EndEventDef\n"
                             "%EventDef PajeDefineVariableType 3\n"
                             "% Alias string\n% Type string\n% Name string\n% Color color\n"
                             "%EndEventDef\n"
                             "%EventDef PajeDefineLinkType 4\n"
                             "% Alias string\n% Type string\n% StartContainerType string\n"
                             "% EndContainerType string\n% Name string\n%EndEventDef\n"
                             "%EventDef PajeDefineEntityValue 5\n"
                             "% Alias string\n% Type string\n% Name string\n% Color color\n"
                             "%EndEventDef\n"
                             "%EventDef PajeCreateContainer 6\n"
                             "% Time date\n% Alias string\n% Type string\n% Container string\n"
                             "% Name string\n%EndEventDef\n"
                             "%EventDef PajeDestroyContainer 7\n"
                             "% Time date\n% Type string\n% Name string\n%EndEventDef\n"
                             "%EventDef PajePushState 8\n"
                             "% Time date\n% Type string\n% Container string\n% Value string\n"
                             "% Label string\n% Id string\n%EndEventDef\n"
                             "%EventDef PajePopState 9\n"
                             "% Time date\n% Type string\n% Container string\n%EndEventDef\n"
                             "%EventDef PajeStartLink 10\n"
                             "% Time date\n% Type string\n% Container string\n"
                             "% StartContainer string\n% Value string\n% Key string\n"
                             "% Size string\n%EndEventDef\n"
                             "%EventDef PajeEndLink 11\n"
                             "% Time date\n% Type string\n% Container string\n"
                             "% EndContainer string\n% Value string\n% Key string\n%EndEventDef\n"
                             "%EventDef PajeSetVariable 12\n"
                             "% Time date\n% Type string\n% Container string\n% Value double\n"
                             "%EndEventDef\n"
                             "%EventDef PajeNewEvent 13\n"
                             "% Time date\n% Type string\n% Container string\n% Value string\n"
                             "% Id string\n%EndEventDef\n";

/* One thing to be written at one time. Order at equal times: pops before pushes, inner pops first,
 * outer pushes first, so that stacks are right; ends of links after their starts. */
typedef enum { POP, PUSH, LINK_START, LINK_END, SAMPLE, MARK } what_t;

typedef struct {
    int64_t time;
    what_t what;
    uint32_t row;
    size_t index;
} item_t;

static int item_compare(const void *a, const void *b)
{
    const item_t *x = a, *y = b;
    int c = x->time < y->time ? -1 : x->time > y->time;

    if (c == 0)
        c = (int)x->what - (int)y->what;
    if (c == 0 && x->index != y->index)
        c = (x->index < y->index) == (x->what != POP) ? -1 : 1;
    return c;
}

/* Quotes cannot be escaped in Pajé, some readers lose the end of an empty string, and others print
 * names between commas: "core 1, communication" becomes "core 1 communication". */
static void put_string(FILE *file, const char *s)
{
    if (*s == '\0')
        s = "-";
    putc('"', file);
    for (; *s != '\0'; s++)
        if (*s != ',' || s[1] != ' ')
            putc((unsigned char)*s < ' ' || *s == ',' ? ' ' : *s == '"' ? '\'' : *s, file);
    putc('"', file);
}

static void put_colour(FILE *file, uint32_t rgb)
{
    fprintf(file, "\"%.4f %.4f %.4f\"\n", (double)(rgb >> 16 & 255) / 255,
            (double)(rgb >> 8 & 255) / 255, (double)(rgb & 255) / 255);
}

static void put_time(FILE *file, const xy_trace_log_t *log, int event, int64_t time)
{
    int64_t t = time - log->begin; /* Pajé readers expect times from 0 on */

    fprintf(file, "%d %" PRId64 ".%09" PRId64 " ", event, t / 1000000000, t % 1000000000);
}

/* Writes the definitions of types, kinds and counters. */
static void put_types(const xy_trace_log_t *log, FILE *file)
{
    fputs("0 P 0 \"Program\"\n0 G P \"Group\"\n0 R G \"Row\"\n1 S R \"State\"\n"
          "2 M R \"Mark\" \"0.3 0.3 0.3\"\n4 L P R R \"Message\"\n",
          file);
    for (size_t k = 0; k < log->kind_count; k++) {
        fprintf(file, "5 k%zu S ", k);
        put_string(file, log->kinds[k].name);
        putc(' ', file);
        put_colour(file, log->kinds[k].colour);
    }
    for (size_t c = 0; c < log->counter_count; c++) {
        fprintf(file, "3 c%zu R ", c);
        put_string(file, log->counters[c].name);
        putc(' ', file);
        put_colour(file, xy_trace_colour(XY_TRACE_COMPUTE, (unsigned)c));
    }
}

/* Rows without a group are in one without a name; a group may come back later under a new alias. */
static void put_containers(const xy_trace_log_t *log, FILE *file)
{
    size_t group = 0;

    fputs("6 0.000000000 p P 0 ", file);
    put_string(file, log->title[0] != '\0' ? log->title : "trace");
    putc('\n', file);
    for (size_t r = 0; r < log->row_count; r++) {
        if (r == 0 || strcmp(log->rows[r].group, log->rows[r - 1].group) != 0) {
            fprintf(file, "6 0.000000000 g%zu G p ", ++group);
            put_string(file, log->rows[r].group[0] != '\0' ? log->rows[r].group : "rows");
            putc('\n', file);
        }
        fprintf(file, "6 0.000000000 r%zu R g%zu ", r, group);
        put_string(file, log->rows[r].name);
        putc('\n', file);
    }
}

static void put_push(const xy_trace_log_t *log, const xy_trace_state_t *s, FILE *file)
{
    put_time(file, log, 8, s->start);
    fprintf(file, "S r%" PRIu32 " k%" PRIu32 " ", s->row, s->kind);
    put_string(file, log->labels[s->label]);
    if (s->id != XY_TRACE_NO_ID)
        fprintf(file, " \"%" PRId64 "\"\n", s->id);
    else
        fputs(" \"-\"\n", file);
}

/* Readers want an end behind its start, whatever two clocks said. */
static int64_t link_end(const xy_trace_link_t *l)
{
    return l->end > l->start ? l->end : l->start;
}

static void put_link(const xy_trace_log_t *log, size_t i, bool is_start, FILE *file)
{
    const xy_trace_link_t *l = &log->links[i];

    put_time(file, log, is_start ? 10 : 11, is_start ? l->start : link_end(l));
    fprintf(file, "L p r%" PRIu32 " ", is_start ? l->from : l->to);
    put_string(file, log->labels[l->label]);
    fprintf(file, " %zu", i);
    if (is_start)
        fprintf(file, " \"%" PRIu64 "\"", l->bytes);
    putc('\n', file);
}

static void put_sample(const xy_trace_log_t *log, const xy_trace_sample_t *s, FILE *file)
{
    char number[32];

    put_time(file, log, 12, s->time);
    fprintf(file, "c%" PRIu32 " r%" PRIu32 " %s\n", s->counter, s->row,
            s->value - s->value == 0 ? xy_format_double(s->value, number) : "0");
}

static void put_mark(const xy_trace_log_t *log, const xy_trace_mark_t *m, FILE *file)
{
    put_time(file, log, 13, m->time);
    fprintf(file, "M r%" PRIu32 " ", m->row);
    put_string(file, log->labels[m->label]);
    fprintf(file, " \"%" PRId64 "\"\n", m->id);
}

/* Writes one event of the time-ordered list. */
static void put_item(const xy_trace_log_t *log, const item_t *item, FILE *file)
{
    switch (item->what) {
    case POP:
        put_time(file, log, 9, item->time);
        fprintf(file, "S r%" PRIu32 "\n", item->row);
        break;
    case PUSH:
        put_push(log, &log->states[item->index], file);
        break;
    case LINK_START:
    case LINK_END:
        put_link(log, item->index, item->what == LINK_START, file);
        break;
    case SAMPLE:
        put_sample(log, &log->samples[item->index], file);
        break;
    case MARK:
        put_mark(log, &log->marks[item->index], file);
        break;
    }
}

/* States without duration are left out: a push and a pop at one time say nothing in a picture and
 * no order of theirs suits all readers. */
static size_t gather(const xy_trace_log_t *log, item_t *items)
{
    size_t n = 0;

    for (size_t i = 0; i < log->state_count; i++) {
        const xy_trace_state_t *s = &log->states[i];

        if (s->end == s->start)
            continue;
        items[n++] = (item_t){s->start, PUSH, s->row, i};
        items[n++] = (item_t){s->end, POP, s->row, i};
    }
    for (size_t i = 0; i < log->link_count; i++) {
        items[n++] = (item_t){log->links[i].start, LINK_START, 0, i};
        items[n++] = (item_t){link_end(&log->links[i]), LINK_END, 0, i};
    }
    for (size_t i = 0; i < log->sample_count; i++)
        items[n++] = (item_t){log->samples[i].time, SAMPLE, 0, i};
    for (size_t i = 0; i < log->mark_count; i++)
        items[n++] = (item_t){log->marks[i].time, MARK, 0, i};
    return n;
}

xy_status_t xy_trace_write_paje(const xy_trace_log_t *log, FILE *file)
{
    size_t most = 2 * log->state_count + 2 * log->link_count + log->sample_count + log->mark_count;
    item_t *items = xy_calloc(most, sizeof(*items));
    size_t n;

    if (items == NULL)
        return xy_fail_memory("writing a trace for Pajé");
    fputs(header, file);
    put_types(log, file);
    put_containers(log, file);
    n = gather(log, items);
    if (n > 0)
        qsort(items, n, sizeof(*items), item_compare);
    for (size_t i = 0; i < n; i++)
        put_item(log, &items[i], file);
    put_time(file, log, 7, log->end);
    fputs("P p\n", file);
    xy_free(items);
    return XY_OK;
}
