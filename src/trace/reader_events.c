/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From chunks to events. Rows are decoded one after the other, each in the order of its chunks, so
 * that one stack of open states is enough.
 */
#include <math.h>
#include <stdlib.h>

#include "trace/reader.h"

/* Far from the ends of int64_t: differences and sums of two times cannot overflow. */
#define TIME_MAX (INT64_C(1) << 60)

typedef struct {
    reader_t *reader;
    reader_cursor_t cursor;
    uint64_t ticks; /* of the previous event */
    uint32_t row, source;
} decoder_t;

static int64_t clamp(double ns)
{
    if (!(ns > -(double)TIME_MAX))
        return -TIME_MAX;
    return ns < (double)TIME_MAX ? (int64_t)llrint(ns) : TIME_MAX;
}

static int64_t to_ns(const decoder_t *d, uint64_t ticks)
{
    const reader_source_t *s = &XY_VEC_AT(&d->reader->sources, reader_source_t, d->source);
    int64_t distance = (int64_t)(ticks - s->start_ticks);
    double ns = (double)distance * s->scale;

    if (d->source == 0 && s->scale == 1.0 && distance > -TIME_MAX && distance < TIME_MAX)
        return distance;
    ns += (double)s->shift + s->drift * (ns + s->before);
    return clamp(ns);
}

/* The scale of a source's ticks, and its clock on that of the file. */
static void set_clock(const reader_t *r, reader_source_t *s)
{
    const reader_source_t *file = r->sources.data;
    uint64_t ticks = s->last_ticks - s->start_ticks, ns = s->last_ns - s->start_ns;
    const xy_trace_clock_fit_t *fit = &s->fit;

    s->scale = r->log->clock == XY_TRACE_REAL && ticks > 0 ? (double)ns / (double)ticks : 1.0;
    if (s == file)
        return;
    s->shift = clamp((double)(int64_t)(s->start_ns - file->start_ns + (uint64_t)fit->offset[0]));
    if (fit->time[1] > fit->time[0])
        s->drift = (double)(int64_t)((uint64_t)fit->offset[1] - (uint64_t)fit->offset[0]) /
                   (double)(fit->time[1] - fit->time[0]);
    s->before = (double)(int64_t)(s->start_ns - fit->time[0]);
}

static int64_t read_time(decoder_t *d)
{
    d->ticks += (uint64_t)trace_unzigzag(reader_varint(&d->cursor));
    return to_ns(d, d->ticks);
}

/* The dense index of a number; memory running out is seen by the caller in *st_p. */
static uint32_t read_index(decoder_t *d, reader_table_t *table, xy_status_t *st_p)
{
    uint64_t number = reader_varint(&d->cursor);
    uint32_t index = 0;

    if (!d->cursor.failed && reader_entry(table, d->source, number, &index) == NULL)
        *st_p = XY_ENOMEM;
    return index;
}

/* Reads the start of a state and pushes it on the row's stack of open ones. */
static xy_status_t read_enter(decoder_t *d)
{
    reader_t *r = d->reader;
    xy_status_t st = XY_OK;
    xy_trace_state_t s = {.row = d->row, .is_open = true};
    size_t at = r->states.count;

    s.start = s.end = read_time(d);
    s.kind = read_index(d, &r->kinds, &st);
    s.id = trace_unzigzag(reader_varint(&d->cursor));
    s.label = read_index(d, &r->labels, &st);
    if (st != XY_OK || d->cursor.failed)
        return st;
    st = xy_vec_append(&r->states, &s);
    return st == XY_OK ? xy_vec_append(&r->open, &at) : st;
}

/* Reads the end of the innermost open state; one without a start is counted as damage. */
static xy_status_t read_leave(decoder_t *d)
{
    reader_t *r = d->reader;
    int64_t time = read_time(d);
    xy_trace_state_t *s;

    if (d->cursor.failed)
        return XY_OK;
    if (r->open.count == 0) {
        r->log->damage.leaves_alone++;
        return XY_OK;
    }
    s = &XY_VEC_AT(&r->states, xy_trace_state_t, XY_VEC_AT(&r->open, size_t, r->open.count - 1));
    xy_vec_pop(&r->open);
    s->end = time > s->start ? time : s->start;
    s->is_open = false;
    return XY_OK;
}

/* Reads a state with start and length. */
static xy_status_t read_state(decoder_t *d)
{
    reader_t *r = d->reader;
    xy_status_t st = XY_OK;
    xy_trace_state_t s = {.row = d->row};

    s.start = read_time(d);
    s.end = to_ns(d, d->ticks + reader_varint(&d->cursor));
    s.kind = read_index(d, &r->kinds, &st);
    s.id = trace_unzigzag(reader_varint(&d->cursor));
    s.label = read_index(d, &r->labels, &st);
    if (st != XY_OK || d->cursor.failed)
        return st;
    if (s.end < s.start)
        s.end = s.start;
    return xy_vec_append(&r->states, &s);
}

/* Reads a link with both of its ends. */
static xy_status_t read_link(decoder_t *d)
{
    reader_t *r = d->reader;
    xy_status_t st = XY_OK;
    xy_trace_link_t link;

    link.start = read_time(d);
    link.end = to_ns(d, d->ticks + (uint64_t)trace_unzigzag(reader_varint(&d->cursor)));
    link.from = read_index(d, &r->rows, &st);
    link.to = read_index(d, &r->rows, &st);
    link.bytes = reader_varint(&d->cursor);
    link.label = read_index(d, &r->labels, &st);
    if (st != XY_OK || d->cursor.failed)
        return st;
    return xy_vec_append(&r->links, &link);
}

/* Reads one end of a link; halves with the same key are joined later. */
static xy_status_t read_half(decoder_t *d, bool is_in)
{
    reader_t *r = d->reader;
    xy_status_t st = XY_OK;
    reader_half_t half = {.row = d->row, .is_in = is_in};

    half.time = read_time(d);
    half.key = reader_varint(&d->cursor);
    if (!is_in) {
        half.bytes = reader_varint(&d->cursor);
        half.label = read_index(d, &r->labels, &st);
    }
    if (st != XY_OK || d->cursor.failed)
        return st;
    return xy_vec_append(&r->halves, &half);
}

static uint32_t read_rank(decoder_t *d)
{
    uint64_t rank = reader_varint(&d->cursor);

    if (rank > INT32_MAX)
        d->cursor.failed = true;
    return (uint32_t)rank;
}

/* A half of a message that says whose it is is a step of that rank, too. */
static xy_status_t read_message(decoder_t *d, bool is_in)
{
    reader_t *r = d->reader;
    xy_status_t st = XY_OK;
    reader_half_t half = {.row = d->row, .is_in = is_in};
    xy_trace_step_t step = {.row = d->row,
                            .kind = is_in ? XY_TRACE_STEP_RECEIVED : XY_TRACE_STEP_SENT};

    half.time = read_time(d);
    half.key = reader_varint(&d->cursor);
    if (!is_in) {
        half.bytes = reader_varint(&d->cursor);
        half.label = read_index(d, &r->labels, &st);
    }
    step.rank = read_rank(d);
    step.peer = read_rank(d);
    step.time = half.time;
    step.bytes = half.bytes;
    half.step = r->steps.count + 1;
    if (st != XY_OK || d->cursor.failed)
        return st;
    st = xy_vec_append(&r->steps, &step);
    return st == XY_OK ? xy_vec_append(&r->halves, &half) : st;
}

/* Reads the start of an MPI call. */
static xy_status_t read_call(decoder_t *d)
{
    reader_t *r = d->reader;
    xy_status_t st = XY_OK;
    xy_trace_step_t step = {.row = d->row, .kind = XY_TRACE_STEP_CALL};

    step.time = read_time(d);
    step.rank = read_rank(d);
    step.label = read_index(d, &r->labels, &st);
    step.site = read_index(d, &r->sites, &st);
    if (st != XY_OK || d->cursor.failed)
        return st;
    return xy_vec_append(&r->steps, &step);
}

/* Reads a rank's part of a collective; fails for members out of range. */
static xy_status_t read_collective(decoder_t *d)
{
    reader_t *r = d->reader;
    xy_trace_step_t step = {.row = d->row, .kind = XY_TRACE_STEP_COLLECTIVE};

    step.time = read_time(d);
    step.rank = read_rank(d);
    step.collective = read_rank(d);
    step.context = (uint32_t)reader_varint(&d->cursor);
    step.first = read_rank(d);
    step.member = read_rank(d);
    step.members = read_rank(d);
    step.peer = read_rank(d);
    step.bytes = reader_varint(&d->cursor);
    step.element = reader_varint(&d->cursor);
    if (step.member >= step.members || step.peer >= step.members)
        d->cursor.failed = true;
    return d->cursor.failed ? XY_OK : xy_vec_append(&r->steps, &step);
}

/* Reads a sample of a counter. */
static xy_status_t read_counter(decoder_t *d)
{
    reader_t *r = d->reader;
    xy_status_t st = XY_OK;
    xy_trace_sample_t sample = {.row = d->row};
    uint64_t bits;

    sample.time = read_time(d);
    sample.counter = read_index(d, &r->counters, &st);
    if (d->cursor.end - d->cursor.at < 8)
        d->cursor.failed = true;
    if (st != XY_OK || d->cursor.failed)
        return st;
    bits = trace_get_u64(d->cursor.at);
    d->cursor.at += 8;
    memcpy(&sample.value, &bits, sizeof(bits));
    return xy_vec_append(&r->samples, &sample);
}

static xy_status_t read_mark(decoder_t *d)
{
    reader_t *r = d->reader;
    xy_status_t st = XY_OK;
    xy_trace_mark_t mark = {.row = d->row};

    mark.time = read_time(d);
    mark.id = trace_unzigzag(reader_varint(&d->cursor));
    mark.label = read_index(d, &r->labels, &st);
    if (st != XY_OK || d->cursor.failed)
        return st;
    return xy_vec_append(&r->marks, &mark);
}

/* Reads one event; an unknown one ends the chunk as damaged. */
static xy_status_t read_event(decoder_t *d)
{
    switch (*d->cursor.at++) {
    case TRACE_ENTER:
        return read_enter(d);
    case TRACE_LEAVE:
        return read_leave(d);
    case TRACE_STATE:
        return read_state(d);
    case TRACE_LINK:
        return read_link(d);
    case TRACE_LINK_OUT:
        return read_half(d, false);
    case TRACE_LINK_IN:
        return read_half(d, true);
    case TRACE_COUNTER:
        return read_counter(d);
    case TRACE_MARK:
        return read_mark(d);
    case TRACE_SENT:
        return read_message(d, false);
    case TRACE_RECEIVED:
        return read_message(d, true);
    case TRACE_CALL:
        return read_call(d);
    case TRACE_COLLECTIVE:
        return read_collective(d);
    default:
        d->cursor.failed = true;
        return XY_OK;
    }
}

/* Reads all events of a chunk, up to the first bad one. */
static xy_status_t decode_chunk(reader_t *r, const reader_chunk_t *chunk)
{
    decoder_t d = {.reader = r, .ticks = chunk->head.base, .source = chunk->source};
    xy_status_t st = XY_OK;

    d.cursor = (reader_cursor_t){chunk->payload, chunk->payload + chunk->head.length, false};
    if (reader_entry(&r->rows, d.source, chunk->head.row, &d.row) == NULL)
        return XY_ENOMEM;
    while (st == XY_OK && d.cursor.at < d.cursor.end && !d.cursor.failed)
        st = read_event(&d);
    if (d.cursor.failed)
        r->log->damage.records_bad++;
    return st;
}

static int chunk_compare(const void *a, const void *b)
{
    const reader_chunk_t *x = a, *y = b;

    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->head.row != y->head.row)
        return x->head.row < y->head.row ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int half_compare(const void *a, const void *b)
{
    const reader_half_t *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->is_in != y->is_in)
        return x->is_in ? 1 : -1;
    return x->time < y->time ? -1 : x->time > y->time;
}

static void join_steps(reader_t *r, const reader_half_t *out, const reader_half_t *in)
{
    xy_trace_step_t *steps = r->steps.data;

    if (out->step == 0 || in->step == 0)
        return;
    steps[in->step - 1].bytes = out->bytes;
    steps[out->step - 1].message = steps[in->step - 1].message = ++r->log->message_count;
}

/* Sorted halves of one key: first all outs, then all ins, each by time. */
static xy_status_t join_key(reader_t *r, const reader_half_t *out, size_t outs, size_t ins)
{
    const reader_half_t *in = out + outs;
    size_t pairs = outs < ins ? outs : ins;

    /* A message that was sent and never received is no damage. */
    r->log->links_unreceived += outs - pairs;
    r->log->damage.links_alone += ins - pairs;
    for (size_t i = 0; i < pairs; i++) {
        xy_trace_link_t link = {.start = out[i].time,
                                .end = in[i].time,
                                .bytes = out[i].bytes,
                                .from = out[i].row,
                                .to = in[i].row,
                                .label = out[i].label};
        xy_status_t st = xy_vec_append(&r->links, &link);

        if (st != XY_OK)
            return st;
        join_steps(r, &out[i], &in[i]);
    }
    return XY_OK;
}

/* Joins the ends of links with the same key. */
static xy_status_t join_halves(reader_t *r)
{
    const reader_half_t *half = r->halves.data;
    size_t n = r->halves.count, i = 0;

    if (n > 0)
        qsort(r->halves.data, n, sizeof(*half), half_compare);
    while (i < n) {
        size_t outs = 0, ins = 0;
        xy_status_t st;

        while (i + outs < n && half[i + outs].key == half[i].key && !half[i + outs].is_in)
            outs++;
        while (i + outs + ins < n && half[i + outs + ins].key == half[i].key)
            ins++;
        st = join_key(r, half + i, outs, ins);
        if (st != XY_OK)
            return st;
        i += outs + ins;
    }
    return XY_OK;
}

/* A flush that was interrupted by the end of its process was made again (record.c). */
static bool is_repeated(const reader_chunk_t *chunk, const reader_chunk_t *next)
{
    const trace_chunk_t *a = &chunk->head, *b = &next->head;

    return chunk->source == next->source && a->row == b->row && a->sequence == b->sequence &&
           a->length <= b->length && memcmp(chunk->payload, next->payload, a->length) == 0;
}

xy_status_t reader_decode_events(reader_t *r)
{
    const reader_chunk_t *chunk = r->chunks.data;

    for (size_t i = 0; i < r->sources.count; i++)
        set_clock(r, &XY_VEC_AT(&r->sources, reader_source_t, i));
    if (r->chunks.count > 0)
        qsort(r->chunks.data, r->chunks.count, sizeof(*chunk), chunk_compare);
    for (size_t i = 0; i < r->chunks.count; i++) {
        bool is_first = i == 0 || chunk[i - 1].source != chunk[i].source ||
                        chunk[i - 1].head.row != chunk[i].head.row;
        uint32_t expected = is_first ? 0 : chunk[i - 1].head.sequence + 1;
        xy_status_t st;

        if (is_first)
            r->open.count = 0;
        if (chunk[i].head.sequence > expected)
            r->log->damage.chunks_missing += chunk[i].head.sequence - expected;
        if (i + 1 < r->chunks.count && is_repeated(&chunk[i], &chunk[i + 1]))
            continue;
        st = decode_chunk(r, &chunk[i]);
        if (st != XY_OK)
            return st;
    }
    return join_halves(r);
}
