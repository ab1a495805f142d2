/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A log is sorted once, so that all later code can rely on its invariants.
 */
#include "trace/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/reader.h"

/* Okabe and Ito's colours, a few of them toned for large areas; each role starts with its own. */
uint32_t xy_trace_colour(xy_trace_role_t role, unsigned n)
{
    static const uint32_t compute[] = {0x0072b2, 0x009e73, 0x56b4e9, 0x44aa99, 0x332288};
    static const uint32_t progress[] = {0xe69f00, 0xf0e442, 0xddcc77};
    static const uint32_t wait[] = {0xcc6677, 0xcc79a7, 0xd55e00};
    static const uint32_t idle[] = {0xc3c9d1, 0xa3abb6};
    static const uint32_t other[] = {0x8b6fc0, 0x999933, 0x882255, 0x117733};
    static const struct {
        const uint32_t *colours;
        unsigned count;
    } table[XY_TRACE_ROLES] = {
        [XY_TRACE_OTHER] = {other, 4},       [XY_TRACE_COMPUTE] = {compute, 5},
        [XY_TRACE_PROGRESS] = {progress, 3}, [XY_TRACE_WAIT] = {wait, 3},
        [XY_TRACE_IDLE] = {idle, 2},
    };

    return table[role].colours[n % table[role].count];
}

/* Calls have the same colour in recorded and in predicted runs, beside whatever other kinds. */
static uint32_t colour_of(const xy_trace_kind_info_t *kind, unsigned *used)
{
    if (kind->colour != 0)
        return kind->colour;
    return strcmp(kind->name, "MPI") == 0 ? 0x9467bd
                                          : xy_trace_colour(kind->role, used[kind->role]++);
}

void xy_trace_log_free(xy_trace_log_t *log)
{
    if (log == NULL)
        return;
    xy_free(log->rows);
    xy_free(log->kinds);
    xy_free(log->labels);
    xy_free(log->counters);
    xy_free(log->states);
    xy_free(log->links);
    xy_free(log->samples);
    xy_free(log->marks);
    xy_free(log->steps);
    xy_free(log->sites);
    xy_free(log->sources);
    xy_arena_destroy(log->arena);
    xy_free(log);
}

static int order(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* `depth` holds the order of recording until the states are nested. */
static int state_compare(const void *a, const void *b)
{
    const xy_trace_state_t *x = a, *y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->start != y->start)
        return order(x->start, y->start);
    if (x->end != y->end)
        return order(y->end, x->end);
    return order(x->depth, y->depth);
}

static int link_compare(const void *a, const void *b)
{
    const xy_trace_link_t *x = a, *y = b;
    int c = order(x->start, y->start);

    c = c != 0 ? c : order(x->end, y->end);
    c = c != 0 ? c : order(x->from, y->from);
    c = c != 0 ? c : order(x->to, y->to);
    return c != 0 ? c : (x->bytes < y->bytes ? -1 : x->bytes > y->bytes);
}

static int sample_compare(const void *a, const void *b)
{
    const xy_trace_sample_t *x = a, *y = b;
    int c = order(x->counter, y->counter);

    c = c != 0 ? c : order(x->row, y->row);
    return c != 0 ? c : order(x->time, y->time);
}

static int mark_compare(const void *a, const void *b)
{
    const xy_trace_mark_t *x = a, *y = b;
    int c = order(x->time, y->time);

    c = c != 0 ? c : order(x->row, y->row);
    c = c != 0 ? c : order(x->label, y->label);
    return c != 0 ? c : order(x->id, y->id);
}

/* A rank is on one row, whose steps were read in their order. */
static int step_compare(const void *a, const void *b)
{
    const xy_trace_step_t *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Recorded traces are nearly sorted; looking is cheaper than sorting. */
static void sort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    for (size_t i = 1; i < n; i++) {
        const char *p = (const char *)base + i * size;

        if (compare(p - size, p) > 0) {
            qsort(base, n, size, compare);
            return;
        }
    }
}

static void span(xy_trace_log_t *log, bool *any, int64_t time)
{
    if (!*any || time < log->begin)
        log->begin = time;
    if (!*any || time > log->end)
        log->end = time;
    *any = true;
}

/* Sets begin and end of the log to its first and last event. */
static void find_span(xy_trace_log_t *log)
{
    bool any = false;

    for (size_t i = 0; i < log->state_count; i++) {
        span(log, &any, log->states[i].start);
        span(log, &any, log->states[i].end);
    }
    for (size_t i = 0; i < log->link_count; i++) {
        span(log, &any, log->links[i].start);
        span(log, &any, log->links[i].end);
    }
    for (size_t i = 0; i < log->sample_count; i++)
        span(log, &any, log->samples[i].time);
    for (size_t i = 0; i < log->mark_count; i++)
        span(log, &any, log->marks[i].time);
    for (size_t i = 0; i < log->step_count; i++)
        span(log, &any, log->steps[i].time);
}

/* Moves a vector into an array of the log, which is never NULL. */
static xy_status_t take(xy_vec_t *vec, void *array_p, size_t *count_p)
{
    size_t count = vec->count;
    void *data = xy_vec_take(vec);

    /* An empty vector has no memory: the log's arrays are never NULL. */
    if (data == NULL)
        data = xy_calloc(1, vec->size);
    if (data == NULL)
        return XY_ENOMEM;
    memcpy(array_p, &data, sizeof(data));
    *count_p = count;
    return XY_OK;
}

static int source_compare(const void *a, const void *b)
{
    const reader_source_t *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

/* All but the file itself, whose number 0 comes first. */
static xy_status_t take_sources(reader_t *r)
{
    xy_trace_log_t *log = r->log;

    if (r->sources.count <= 1)
        return XY_OK;
    log->sources = xy_calloc(r->sources.count - 1, sizeof(*log->sources));
    if (log->sources == NULL)
        return XY_ENOMEM;
    qsort(r->sources.data, r->sources.count, sizeof(reader_source_t), source_compare);
    for (size_t i = 1; i < r->sources.count; i++) {
        const reader_source_t *s = &XY_VEC_AT(&r->sources, reader_source_t, i);

        log->sources[log->source_count++] =
            (xy_trace_source_info_t){s->name, s->is_fit, s->fit.offset[0], s->fit.error};
    }
    return XY_OK;
}

/* Moves all tables and events from the reader into the log. */
static xy_status_t take_all(reader_t *r)
{
    xy_trace_log_t *log = r->log;
    xy_status_t st = take(&r->rows.items, &log->rows, &log->row_count);

    st = st == XY_OK ? take(&r->kinds.items, &log->kinds, &log->kind_count) : st;
    st = st == XY_OK ? take(&r->labels.items, &log->labels, &log->label_count) : st;
    st = st == XY_OK ? take(&r->counters.items, &log->counters, &log->counter_count) : st;
    st = st == XY_OK ? take(&r->states, &log->states, &log->state_count) : st;
    st = st == XY_OK ? take(&r->links, &log->links, &log->link_count) : st;
    st = st == XY_OK ? take(&r->samples, &log->samples, &log->sample_count) : st;
    st = st == XY_OK ? take(&r->marks, &log->marks, &log->mark_count) : st;
    st = st == XY_OK ? take(&r->sites.items, &log->sites, &log->site_count) : st;
    st = st == XY_OK ? take_sources(r) : st;
    return st == XY_OK ? take(&r->steps, &log->steps, &log->step_count) : st;
}

/* Names that were used and never defined, because the chunk that did is lost. */
static const char *invent(xy_trace_log_t *log, const char *what, size_t i)
{
    char name[48];
    int n = snprintf(name, sizeof(name), "%s %zu", what, i);

    return xy_arena_strndup(log->arena, name, (size_t)n);
}

/* Gives rows, kinds, labels and counters without a definition an invented name, and kinds a
 * colour. */
static xy_status_t name_all(xy_trace_log_t *log)
{
    unsigned used[XY_TRACE_ROLES] = {0};
    bool ok = true;

    for (size_t i = 0; i < log->row_count; i++)
        if (log->rows[i].name == NULL) {
            log->rows[i].name = invent(log, "row", i);
            log->rows[i].group = "";
            ok = ok && log->rows[i].name != NULL;
        }
    for (size_t i = 0; i < log->kind_count; i++) {
        xy_trace_kind_info_t *kind = &log->kinds[i];

        if (kind->name == NULL)
            kind->name = invent(log, "kind", i);
        ok = ok && kind->name != NULL;
        if (kind->name != NULL)
            kind->colour = i == 0 && kind->colour == 0 ? 0x999999 : colour_of(kind, used);
    }
    for (size_t i = 0; i < log->label_count; i++)
        if (log->labels[i] == NULL)
            ok = (log->labels[i] = invent(log, "label", i)) != NULL && ok;
    for (size_t i = 0; i < log->site_count; i++)
        if (log->sites[i] == NULL)
            log->sites[i] = "";
    for (size_t i = 0; i < log->counter_count; i++)
        if (log->counters[i].name == NULL) {
            log->counters[i].name = invent(log, "counter", i);
            log->counters[i].unit = "";
            ok = ok && log->counters[i].name != NULL;
        }
    return ok ? XY_OK : XY_ENOMEM;
}

/* Depths, and no state longer than the one around it. `stack` is empty before and after. */
static xy_status_t nest_row(xy_trace_log_t *log, const xy_trace_row_info_t *row, xy_vec_t *stack)
{
    stack->count = 0;
    for (size_t i = row->first_state; i < row->first_state + row->state_count; i++) {
        xy_trace_state_t *s = &log->states[i], *top = NULL;

        while (stack->count > 0) {
            top = XY_VEC_AT(stack, xy_trace_state_t *, stack->count - 1);
            if (top->end > s->start)
                break;
            xy_vec_pop(stack);
        }
        if (stack->count > 0 && s->end > top->end) {
            log->damage.states_clipped += !s->is_open;
            s->end = top->end;
        }
        s->depth = (uint32_t)stack->count;
        if (xy_vec_append(stack, &s) != XY_OK)
            return XY_ENOMEM;
    }
    return XY_OK;
}

/* Sets the states of each row and their depth. */
static xy_status_t nest(xy_trace_log_t *log)
{
    xy_vec_t stack = XY_VEC_INIT(xy_trace_state_t *);
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < log->state_count; i++) {
        xy_trace_row_info_t *row = &log->rows[log->states[i].row];

        if (row->state_count++ == 0)
            row->first_state = i;
    }
    for (size_t i = 0; i < log->row_count && st == XY_OK; i++)
        st = nest_row(log, &log->rows[i], &stack);
    xy_vec_cleanup(&stack);
    return st;
}

xy_status_t reader_finish(reader_t *r)
{
    xy_trace_log_t *log = r->log;
    xy_status_t st = take_all(r);

    if (st == XY_OK)
        st = name_all(log);
    if (st != XY_OK)
        return st;
    find_span(log);
    for (size_t i = 0; i < log->state_count; i++) {
        log->states[i].depth = (uint32_t)i;
        if (log->states[i].is_open) {
            log->states[i].end = log->end;
            log->damage.states_open++;
        }
    }
    sort(log->states, log->state_count, sizeof(*log->states), state_compare);
    sort(log->links, log->link_count, sizeof(*log->links), link_compare);
    sort(log->samples, log->sample_count, sizeof(*log->samples), sample_compare);
    sort(log->marks, log->mark_count, sizeof(*log->marks), mark_compare);
    for (size_t i = 0; i < log->step_count; i++)
        log->steps[i].order = i;
    sort(log->steps, log->step_count, sizeof(*log->steps), step_compare);
    return nest(log);
}

xy_status_t xy_trace_segments(const xy_trace_log_t *log, size_t row, xy_trace_segment_fn fn,
                              void *arg)
{
    const xy_trace_row_info_t *info = &log->rows[row];
    xy_vec_t stack = XY_VEC_INIT(size_t);
    int64_t at = 0;

    for (size_t i = info->first_state; i <= info->first_state + info->state_count; i++) {
        bool is_last = i == info->first_state + info->state_count;
        int64_t start = is_last ? INT64_MAX : log->states[i].start;

        while (stack.count > 0) {
            size_t top = XY_VEC_AT(&stack, size_t, stack.count - 1);
            int64_t end = log->states[top].end < start ? log->states[top].end : start;

            if (end > at)
                fn(arg, top, at, end);
            at = end > at ? end : at;
            if (log->states[top].end > start)
                break;
            xy_vec_pop(&stack);
        }
        if (is_last)
            break;
        at = start;
        if (xy_vec_append(&stack, &i) != XY_OK) {
            xy_vec_cleanup(&stack);
            return xy_fail_memory("walking a trace");
        }
    }
    xy_vec_cleanup(&stack);
    return XY_OK;
}
