/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times of kernels, while recording. Events with times stand before and behind each kernel. But
 * they hold up the GPU, for 2 us, and for 7 while data are loaded, because what it needs for the
 * next kernel then comes late. Kernels that share launches do the same work each: of those that
 * follow each other directly several are timed together, in a span, and each has its part of it.
 *
 *   kernels   | k1 k2 k3 .. k16 | k17 .. k32 |  wait  | k33 |
 *   events    s                 e            e        s     e
 *
 * A span holds no moment in which the GPU had nothing to do. It ends where something else is put
 * into the stream; and when the GPU is near, as the stream may be empty then before the next kernel
 * is put. Otherwise a span begins with the end of the one before.
 */
#include <math.h>

#include "tasks/device/device_internal.h"

static span_t *span_at(const lane_t *lane, uint64_t i)
{
    return &lane->spans[i % DEVICE_SPANS];
}

/* The span that is not closed; NULL: there is none. */
static span_t *open_one(const lane_t *lane)
{
    return lane->spans != NULL && lane->is_span_open ? span_at(lane, lane->spans_put - 1) : NULL;
}

xy_status_t device_spans_init(lane_t *lane, xy_gpu_device_t *gpu)
{
    xy_status_t st = XY_OK;

    if (lane->kind != LANE_COMPUTE || !lane->engine->is_recording)
        return XY_OK;
    lane->spans = xy_calloc(DEVICE_SPANS, sizeof(*lane->spans));
    if (lane->spans == NULL)
        return xy_fail_memory("preparing a GPU");
    for (int i = 0; i < DEVICE_SPANS && st == XY_OK; i++) {
        st = xy_gpu_event_create(gpu, true, &lane->spans[i].start);
        if (st == XY_OK)
            st = xy_gpu_event_create(gpu, true, &lane->spans[i].end);
    }
    return st;
}

void device_spans_cleanup(lane_t *lane)
{
    for (int i = 0; lane->spans != NULL && i < DEVICE_SPANS; i++) {
        xy_gpu_event_destroy(lane->spans[i].start);
        xy_gpu_event_destroy(lane->spans[i].end);
    }
    xy_free(lane->spans);
}

/* Tasks that are alike, put by a host that does nothing else in between: no memory is copied by it,
 * and no messages. */
static bool is_for_spans(const device_tasks_t *e)
{
    return e->how->batch > 1 && e->piece_bytes == 0 && e->how->share == NULL;
}

/* May the GPU have come to the end of this span before the next kernel is put? Not if all of the
 * one before it is still to be done. */
static xy_status_t is_near(const lane_t *lane, uint64_t i, bool *is_near_p)
{
    *is_near_p = true;
    return i > lane->spans_told + 1 ? xy_gpu_event_is_reached(span_at(lane, i - 2)->end, is_near_p)
                                    : XY_OK;
}

static xy_status_t close_span(lane_t *lane, span_t *s)
{
    s->last = lane->put;
    lane->is_span_open = false;
    return xy_gpu_event_record(s->end, lane->stream);
}

xy_status_t device_span_begin(lane_t *lane)
{
    span_t *s = open_one(lane);
    bool is_late = false;
    xy_status_t st = s != NULL ? is_near(lane, lane->spans_put - 1, &is_late) : XY_OK;

    if (st == XY_OK && is_late)
        st = device_span_break(lane);
    if (lane->spans == NULL || lane->is_span_open || st != XY_OK)
        return st;
    s = span_at(lane, lane->spans_put);
    *s = (span_t){.start = s->start, .end = s->end, .first = lane->put + 1};
    s->has_start = lane->is_span_apart || !is_for_spans(lane->engine);
    if (!s->has_start)
        st = is_near(lane, lane->spans_put, &s->has_start);
    if (st == XY_OK && s->has_start)
        st = xy_gpu_event_record(s->start, lane->stream);
    lane->spans_put++;
    lane->is_span_open = true;
    lane->is_span_apart = false;
    return st;
}

xy_status_t device_span_add(lane_t *lane, const int32_t *what, int32_t count)
{
    span_t *s = open_one(lane);
    bool is_due;
    xy_status_t st = XY_OK;

    if (s == NULL)
        return XY_OK;
    for (int32_t i = 0; i < count; i++)
        s->what[s->count++] = what[i];
    s->launches++;
    is_due = s->launches == DEVICE_SPAN || !is_for_spans(lane->engine);
    if (!is_due)
        st = is_near(lane, lane->spans_put - 1, &is_due);
    return st == XY_OK && is_due ? close_span(lane, s) : st;
}

xy_status_t device_span_break(lane_t *lane)
{
    span_t *s = open_one(lane);

    lane->is_span_apart = true;
    return s != NULL ? close_span(lane, s) : XY_OK;
}

xy_status_t device_span_break_at(lane_t *lane, uint64_t number)
{
    const span_t *s = open_one(lane);

    return s != NULL && number >= s->first ? device_span_break(lane) : XY_OK;
}

/* Tasks of a span have equal parts of it. */
static xy_status_t tell(lane_t *lane, const span_t *s)
{
    double begin = lane->span_end, end = 0;
    xy_status_t st = xy_gpu_event_wait(s->end); /* it stands behind the kernel that was reached */

    if (st == XY_OK && s->has_start)
        st = device_time_of(lane, s->start, &begin);
    if (st == XY_OK)
        st = device_time_of(lane, s->end, &end);
    begin = fmax(begin, lane->span_end);
    lane->span_end = fmax(end, begin);
    for (int32_t i = 0; i < s->count && st == XY_OK; i++)
        st = device_record_kernel(lane, s->what[i], begin + i * (lane->span_end - begin) / s->count,
                                  begin + (i + 1) * (lane->span_end - begin) / s->count);
    return st;
}

xy_status_t device_spans_reach(lane_t *lane)
{
    uint64_t closed = lane->spans_put - (lane->is_span_open ? 1 : 0);
    xy_status_t st = XY_OK;

    for (; lane->spans != NULL && lane->spans_told < closed && st == XY_OK; lane->spans_told++) {
        const span_t *s = span_at(lane, lane->spans_told);

        if (s->last > lane->reached)
            break;
        st = tell(lane, s);
    }
    return st;
}
