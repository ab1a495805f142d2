/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams, and what waits for what. Whatever is put into a stream has a number there. A mark, an
 * event, stands behind each copy and behind every few kernels, as events between kernels cost the
 * GPU some time; what waits for a kernel that has no mark behind it yet makes one. That it then
 * also waits for kernels that were put later is safe, because they were put before it.
 *
 * Marks are a ring: before one is used again the caller waits for what had it. That also bounds how
 * far the decisions run ahead of the GPU.
 *
 * A kernel that waits for an event of another stream begins some microseconds late, even if the
 * event was reached long before. So while the GPU has enough to do, the caller waits for the copy,
 * and then puts the kernel with nothing to wait for:
 *
 *   kernels in the stream   |<- DEVICE_KEEP ->|   more than that: time for the copy to end
 *
 * Meanwhile the caller decides nothing, and so asks for no other copies: it does that only where
 * data are loaded early. With few kernels left the GPU waits as before.
 */
#include "tasks/device/device_internal.h"

static mark_t *mark_of(const lane_t *lane, uint64_t number)
{
    return &lane->marks[(number - 1) / lane->stride % (DEVICE_AHEAD / lane->stride)];
}

/* Cores and other ranks wait for what is complete here: there it is known sooner. */
static uint64_t stride_of(const device_tasks_t *e)
{
    return e->how->cores > 0 || e->how->share != NULL ? DEVICE_STRIDE_BESIDE : DEVICE_STRIDE;
}

xy_status_t device_lane_init(lane_t *lane, xy_gpu_device_t *gpu)
{
    bool is_timed = lane->kind != LANE_COMPUTE && lane->engine->is_recording;
    xy_status_t st = xy_gpu_stream_create(gpu, &lane->stream);

    lane->stride = lane->kind == LANE_COMPUTE ? stride_of(lane->engine) : 1;
    lane->marks = xy_calloc(DEVICE_AHEAD, sizeof(*lane->marks));
    if (st == XY_OK && lane->marks == NULL)
        st = xy_fail_memory("preparing a GPU");
    for (uint64_t i = 0; i < DEVICE_AHEAD / lane->stride && st == XY_OK; i++) {
        st = xy_gpu_event_create(gpu, is_timed, &lane->marks[i].end);
        if (st == XY_OK && is_timed)
            st = xy_gpu_event_create(gpu, true, &lane->marks[i].start);
    }
    if (st == XY_OK)
        st = device_spans_init(lane, gpu);
    return st == XY_OK ? device_stage_init(lane, gpu) : st;
}

void device_lane_cleanup(lane_t *lane)
{
    device_stage_cleanup(lane);
    device_spans_cleanup(lane);
    for (int i = 0; lane->marks != NULL && i < DEVICE_AHEAD; i++) {
        xy_gpu_event_destroy(lane->marks[i].start);
        xy_gpu_event_destroy(lane->marks[i].end);
    }
    xy_free(lane->marks);
    xy_gpu_stream_destroy(lane->stream);
}

static xy_status_t mark_now(lane_t *lane, mark_t *mark)
{
    mark->upto = lane->put;
    return xy_gpu_event_record(mark->end, lane->stream);
}

/* The mark behind something that is not known to be over; it is made if need be. */
static xy_status_t find_mark(lane_t *lane, uint64_t number, mark_t **mark_p)
{
    *mark_p = mark_of(lane, number);
    return (*mark_p)->upto < number ? mark_now(lane, *mark_p) : XY_OK;
}

/* All up to `number` is complete, once it is home. */
static xy_status_t reach(lane_t *lane, uint64_t number)
{
    xy_status_t st = device_stage_reach(lane, number);

    while (lane->reached < number && st == XY_OK) {
        lane->reached++;
        if (lane->engine->is_recording && lane->kind != LANE_COMPUTE)
            st = device_record_copy(lane, mark_of(lane, lane->reached));
    }
    return st == XY_OK ? device_spans_reach(lane) : st;
}

/* Blocks until operation `number` of a stream is complete. */
static xy_status_t wait_for(lane_t *lane, uint64_t number)
{
    mark_t *mark;
    xy_status_t st;

    if (number <= lane->reached)
        return XY_OK;
    st = device_span_break_at(lane, number);
    if (st == XY_OK)
        st = find_mark(lane, number, &mark);
    if (st == XY_OK)
        st = xy_gpu_event_wait(mark->end);
    return st == XY_OK ? reach(lane, mark->upto) : st;
}

xy_status_t device_wait(ticket_t ticket)
{
    return ticket.lane != NULL ? wait_for(ticket.lane, ticket.number) : XY_OK;
}

xy_status_t device_lane_drain(lane_t *lane)
{
    xy_status_t st = device_span_break(lane);

    if (st == XY_OK)
        st = wait_for(lane, lane->put);
    return st == XY_OK ? device_spans_reach(lane) : st;
}

xy_status_t device_lane_begin(lane_t *lane)
{
    uint64_t number = lane->put + 1;
    xy_status_t st = number > DEVICE_AHEAD ? wait_for(lane, number - DEVICE_AHEAD) : XY_OK;

    if (st == XY_OK && lane->engine->is_recording && lane->kind != LANE_COMPUTE)
        st = xy_gpu_event_record(mark_of(lane, number)->start, lane->stream);
    return st == XY_OK ? device_span_begin(lane) : st;
}

xy_status_t device_lane_end(lane_t *lane, const int32_t *what, int32_t count, ticket_t *ticket_p)
{
    mark_t *mark = mark_of(lane, ++lane->put);
    xy_status_t st = device_span_add(lane, what, count);

    mark->what = what[0];
    *ticket_p = (ticket_t){lane, lane->put};
    return st == XY_OK && lane->put % lane->stride == 0 ? mark_now(lane, mark) : st;
}

/* Streams of other GPUs may have another driver, or none of it in common: there the caller waits.
 */
xy_status_t device_lane_after(lane_t *lane, ticket_t ticket)
{
    lane_t *other = ticket.lane;
    mark_t *mark;
    xy_status_t st;

    if (other == NULL || other == lane || ticket.number <= other->reached)
        return XY_OK;
    if (other->gpu != lane->gpu)
        return device_wait(ticket);
    if (ticket.number <= lane->waited[other->kind])
        return XY_OK;
    st = find_mark(other, ticket.number, &mark);
    if (st == XY_OK)
        st = device_span_break(lane);
    if (st != XY_OK)
        return st;
    lane->waited[other->kind] = mark->upto;
    return xy_gpu_stream_after(lane->stream, mark->end);
}

xy_status_t device_lane_behind(lane_t *lane, uint64_t *count_p)
{
    bool is_reached = true;
    xy_status_t st = XY_OK;

    while (st == XY_OK && is_reached && lane->reached < lane->put) {
        mark_t *mark;

        st = find_mark(lane, lane->reached + 1, &mark);
        if (st == XY_OK)
            st = xy_gpu_event_is_reached(mark->end, &is_reached);
        if (st == XY_OK && is_reached)
            st = reach(lane, mark->upto);
    }
    *count_p = lane->put - lane->reached;
    return st;
}

xy_status_t device_is_over(ticket_t ticket, bool *is_over_p)
{
    uint64_t behind;
    xy_status_t st = XY_OK;

    if (ticket.lane != NULL && ticket.number > ticket.lane->reached)
        st = device_lane_behind(ticket.lane, &behind);
    *is_over_p = ticket.lane == NULL || ticket.number <= ticket.lane->reached;
    return st;
}

/* ---- Kernels behind copies ---- */

/* Streams of another GPU are waited for here, as above. */
xy_status_t device_lane_want(lane_t *lane, ticket_t ticket)
{
    if (ticket.lane == NULL || ticket.lane == lane)
        return XY_OK;
    if (ticket.lane->gpu != lane->gpu)
        return device_wait(ticket);
    if (ticket.number > lane->wanted[ticket.lane->kind])
        lane->wanted[ticket.lane->kind] = ticket.number;
    return XY_OK;
}

/* Cores and other ranks must not wait for this thread. */
static bool may_hold_back(const lane_t *lane)
{
    const xy_task_device_t *how = lane->engine->how;

    return how->share == NULL && how->cores == 0 && how->params.look_ahead > 0 &&
           lane->put - lane->reached > DEVICE_KEEP;
}

/* Blocks while the copy `ticket` is not over and the stream has enough kernels to run. */
static xy_status_t hold_back(lane_t *lane, ticket_t ticket)
{
    bool is_over = false;
    uint64_t behind;
    xy_status_t st = device_is_over(ticket, &is_over);

    while (st == XY_OK && !is_over && may_hold_back(lane)) {
        st = device_lane_behind(lane, &behind);
        if (st == XY_OK && may_hold_back(lane)) /* it has a mark behind the first of them */
            st = wait_for(lane, lane->reached + 1);
        if (st == XY_OK)
            st = device_is_over(ticket, &is_over);
    }
    return st;
}

xy_status_t device_lane_after_wanted(lane_t *lane)
{
    lane_t *lanes = lane->engine->devices[lane->gpu].lanes;
    bool is_waiting = false;
    xy_status_t st = XY_OK;

    for (int k = 0; k < LANES && st == XY_OK; k++) {
        ticket_t ticket = {&lanes[k], lane->wanted[k]};
        uint64_t before = lane->waited[k];

        if (lane->wanted[k] <= before || lane->wanted[k] <= lanes[k].reached)
            continue;
        st = hold_back(lane, ticket);
        if (st == XY_OK)
            st = device_lane_after(lane, ticket);
        is_waiting = is_waiting || lane->waited[k] > before;
    }
    lane->engine->base.result.launches_waiting += is_waiting;
    return st;
}
