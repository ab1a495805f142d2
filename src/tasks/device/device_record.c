/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of kernels and copies, by the clocks of the GPUs: each copy has an event before and one
 * behind it, and so have kernels (device_span.c), which are read when it is known to be over. In
 * the end all are reported in the order of their ends.
 */
#include <math.h>
#include <stdlib.h>

#include "tasks/device/device_internal.h"

static xy_status_t append(device_tasks_t *e, const record_t *record)
{
    return xy_vec_append(&e->records, record) == XY_OK
               ? XY_OK
               : xy_fail_memory("keeping what the tasks did");
}

void device_record_memory(device_tasks_t *e, int32_t gpu)
{
    double now = device_now(e) - e->start;
    record_t r = {.start = now,
                  .end = now,
                  .used = e->devices[gpu].space->used,
                  .kind = RECORD_MEMORY,
                  .what = gpu + 1};

    (void)append(e, &r);
}

void device_record_home(device_tasks_t *e, int32_t worker, xy_op_id_t op, double start, double end)
{
    record_t r = {.start = start - e->start,
                  .end = end - e->start,
                  .kind = RECORD_TASK,
                  .what = op,
                  .from = worker};

    (void)append(e, &r);
}

void device_record_eviction(device_tasks_t *e, int32_t gpu, int32_t data)
{
    double now = device_now(e) - e->start;
    record_t r = {.start = now, .end = now, .kind = RECORD_EVICTION, .what = data, .from = gpu + 1};

    (void)append(e, &r);
}

void device_record_decision(device_tasks_t *e, int32_t worker, xy_op_id_t op, double start,
                            double end)
{
    record_t r = {.start = start - e->start,
                  .end = end - e->start,
                  .kind = RECORD_DECISION,
                  .what = op,
                  .from = worker};

    (void)append(e, &r);
}

/* `from` is the rank, `to` 1 for one that is sent. */
void device_record_message(device_tasks_t *e, int32_t message, double start)
{
    const xy_task_message_t *m = &XY_VEC_AT(&e->how->share->messages, xy_task_message_t, message);
    record_t r = {.start = start,
                  .end = device_now(e) - e->start,
                  .kind = RECORD_MESSAGE,
                  .what = m->data,
                  .from = m->peer,
                  .to = m->is_send};

    (void)append(e, &r);
}

xy_status_t device_time_of(const lane_t *lane, const xy_gpu_event_t *event, double *time_p)
{
    const device_memory_t *m = &lane->engine->devices[lane->gpu];
    double since = 0;
    xy_status_t st = xy_gpu_event_between(m->origin, event, &since);

    *time_p = m->began + since;
    return st;
}

xy_status_t device_record_kernel(lane_t *lane, int32_t op, double start, double end)
{
    record_t r = {.start = start, .end = end, .kind = RECORD_TASK, .what = op, .from = lane->gpu};

    return append(lane->engine, &r);
}

xy_status_t device_record_copy(lane_t *lane, const mark_t *mark)
{
    int32_t memory = lane->gpu + 1;
    record_t r = {.kind = RECORD_TRANSFER,
                  .what = mark->what,
                  .from = lane->kind == LANE_LOAD ? 0 : memory,
                  .to = lane->kind == LANE_LOAD ? memory : 0};
    xy_status_t st = device_time_of(lane, mark->start, &r.start);

    if (st == XY_OK)
        st = device_time_of(lane, mark->end, &r.end);
    r.start = fmax(r.start, 0);
    r.end = fmax(r.end, r.start);
    return st == XY_OK ? append(lane->engine, &r) : st;
}

/* ---- Afterwards ---- */

static int compare_ends(const void *a, const void *b)
{
    const record_t *x = a, *y = b;

    return x->end < y->end ? -1 : x->end > y->end;
}

/* Passes one record to the observer. */
static void tell(const xy_task_observer_t *o, const record_t *r)
{
    switch (r->kind) {
    case RECORD_TASK:
        if (o->task != NULL)
            o->task(o->arg, r->from, r->what, r->start, r->end);
        break;
    case RECORD_TRANSFER:
        if (o->transfer != NULL)
            o->transfer(o->arg, r->what, r->from, r->to, r->start, r->end);
        break;
    case RECORD_WAIT:
        if (o->pause != NULL)
            o->pause(o->arg, r->from, false, r->start, r->end);
        break;
    case RECORD_EVICTION:
        if (o->evict != NULL)
            o->evict(o->arg, r->from, r->what, r->end);
        break;
    case RECORD_DECISION:
        if (o->decide != NULL)
            o->decide(o->arg, r->from, r->what, r->start, r->end);
        break;
    case RECORD_MESSAGE:
        if (o->message != NULL)
            o->message(o->arg, r->what, r->from, r->to != 0, r->start, r->end);
        break;
    default:
        if (o->memory != NULL)
            o->memory(o->arg, r->what, r->end, r->used);
    }
}

typedef struct {
    double at;
    int32_t gpu, tasks, moves; /* +1: one begins, -1: one ends */
} edge_t;

static int compare_edges(const void *a, const void *b)
{
    const edge_t *x = a, *y = b;

    if (x->gpu != y->gpu)
        return x->gpu < y->gpu ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* How long data moved, and how much of that kernels ran, of each GPU. What is loaded before the
 * first kernel or stored after the last one is not hidden, and nothing is in the gaps between. */
static void overlap(device_tasks_t *e, edge_t *edges, size_t n)
{
    int32_t tasks = 0, moves = 0;

    qsort(edges, n, sizeof(*edges), compare_edges);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && edges[i].gpu == edges[i - 1].gpu) {
            double length = edges[i].at - edges[i - 1].at;

            e->base.result.moving_seconds += moves > 0 ? length : 0;
            e->base.result.hidden_seconds += moves > 0 && tasks > 0 ? length : 0;
        }
        tasks += edges[i].tasks;
        moves += edges[i].moves;
    }
}

/* Sums transfer time, hidden transfer time and the compute bound from the records. */
static xy_status_t sum_up(device_tasks_t *e)
{
    edge_t *edges = xy_malloc((2 * e->records.count + 1) * sizeof(*edges));
    size_t n = 0;

    if (edges == NULL)
        return xy_fail_memory("keeping what the tasks did");
    for (size_t i = 0; i < e->records.count; i++) {
        const record_t *r = &XY_VEC_AT(&e->records, record_t, i);
        bool is_task = r->kind == RECORD_TASK;
        int32_t gpu = is_task ? r->from : r->from + r->to - 1;

        if (!is_task && r->kind != RECORD_TRANSFER)
            continue;
        edges[n++] = (edge_t){r->start, gpu, is_task, !is_task};
        edges[n++] = (edge_t){r->end, gpu, is_task ? -1 : 0, is_task ? 0 : -1};
        e->base.result.compute_bound += is_task ? (r->end - r->start) / e->base.worker_count : 0;
    }
    overlap(e, edges, n);
    xy_free(edges);
    return XY_OK;
}

/* Events are not exact to this: a shorter gap between two tasks is none. */
static const double LEAST_WAIT = 2e-6;

/* Clocks of events are coarse: a task does not begin before the one before it ended. A worker that
 * has no task in between waits: for data, for other tasks, or for a decision. */
static xy_status_t straighten(device_tasks_t *e, double *ends)
{
    size_t count = e->records.count;
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < count && st == XY_OK; i++) {
        record_t *r = &XY_VEC_AT(&e->records, record_t, i);
        record_t wait = {.kind = RECORD_WAIT, .from = r->from};

        if (r->kind != RECORD_TASK)
            continue;
        r->start = fmin(fmax(r->start, ends[r->from]), r->end);
        wait.start = ends[r->from];
        wait.end = r->start;
        ends[r->from] = r->end;
        if (wait.end - wait.start > LEAST_WAIT)
            st = append(e, &wait);
    }
    return st;
}

static void sort(device_tasks_t *e)
{
    if (e->records.count > 0)
        qsort(e->records.data, e->records.count, sizeof(record_t), compare_ends);
}

xy_status_t device_tell(device_tasks_t *e, const xy_task_observer_t *observer)
{
    double *ends = xy_calloc((size_t)e->base.worker_count, sizeof(*ends));
    xy_status_t st;

    if (ends == NULL)
        return xy_fail_memory("keeping what the tasks did");
    sort(e);
    st = straighten(e, ends);
    sort(e);
    xy_free(ends);
    if (st == XY_OK)
        st = sum_up(e);
    for (size_t i = 0; i < e->records.count && st == XY_OK; i++)
        tell(observer, &XY_VEC_AT(&e->records, record_t, i));
    return st;
}
