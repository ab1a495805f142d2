/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of a graph that several ranks share. They need no worker: each begins as soon as what
 * comes before it is complete, and the transport moves it while tasks run. As many as are ready
 * move at once; a limit could leave a rank without the message that another one waits for.
 */
#include <sched.h>
#include <xylem.h>

#include "tasks/device/device_internal.h"

enum { ENDS = 64 }; /* messages that end at a time */

/* While others run it is looked at messages this often. */
static const double LOOK_SECONDS = 20e-6;

static const xy_task_message_t *message_at(const device_tasks_t *e, int32_t message)
{
    return &XY_VEC_AT(&e->how->share->messages, xy_task_message_t, message);
}

xy_status_t device_messages_init(device_tasks_t *e)
{
    const xy_task_share_t *share = e->how->share;
    size_t n = share != NULL ? share->messages.count : 0;

    e->post.gathering = (xy_vec_t)XY_VEC_INIT(int32_t);
    e->post.passed = (xy_vec_t)XY_VEC_INIT(xy_op_id_t);
    e->post.left = (int32_t)n;
    e->post.start = e->is_recording ? xy_calloc(n + 1, sizeof(*e->post.start)) : NULL;
    return e->is_recording && e->post.start == NULL ? XY_ENOMEM : XY_OK;
}

void device_messages_cleanup(device_tasks_t *e)
{
    xy_vec_cleanup(&e->post.gathering);
    xy_vec_cleanup(&e->post.passed);
    xy_free(e->post.start);
}

/* Of a run that was stopped nothing is worth sending; what comes may still be something. */
static xy_status_t start(device_tasks_t *e, int32_t message)
{
    const xylem_messages *t = e->how->transport;
    const xy_task_message_t *m = message_at(e, message);
    uint64_t bytes = m->is_send && e->post.is_passing ? 0 : m->bytes;
    int failed = t->start(t->arg, message, m->is_send, m->peer, m->tag,
                          (char *)e->homes[m->data].address + m->offset, bytes);

    if (failed != 0)
        return xy_fail(XY_EIO, "a message %s rank %d could not begin (error %d)",
                       m->is_send ? "to" : "from", m->peer, failed);
    e->post.moving++;
    if (e->is_recording)
        e->post.start[message] = device_now(e) - e->start;
    return XY_OK;
}

static xy_access_t access_of(const xy_task_message_t *m)
{
    return (xy_access_t){m->data, m->is_send ? XY_ACCESS_READ : XY_ACCESS_WRITE};
}

xy_status_t device_message_begin(device_tasks_t *e, int32_t message)
{
    xy_access_t a = access_of(message_at(e, message));

    if (e->post.is_passing)
        return start(e, message);
    if (xy_vec_append(&e->post.gathering, &message) != XY_OK)
        return xy_fail_memory("sending data of tasks");
    return device_home_ask(e, &a, 1);
}

/* Ends a message: gives its datum back and releases the tasks that wait for it. */
static xy_status_t over(device_tasks_t *e, int32_t message)
{
    const xy_task_share_t *share = e->how->share;
    const xy_task_message_t *m = message_at(e, message);
    xy_access_t a = access_of(m);

    e->post.moving--;
    e->post.left--;
    if (e->is_recording)
        device_record_message(e, message, e->post.start[message]);
    device_home_give(e, &a, 1);
    if (!m->is_send) {
        e->base.result.messages++;
        e->base.result.bytes_received += m->bytes;
        if (e->how->received != NULL && !e->post.is_passing)
            e->how->received(e->how->arg, m->data);
    }
    return device_release(e, share->node_of_message[message]);
}

/* Ends the messages that the transport has completed; waits for one if `is_waiting`. */
static xy_status_t finish(device_tasks_t *e, bool is_waiting, bool *is_moving_p)
{
    const xylem_messages *t = e->how->transport;
    int numbers[ENDS], count = 0;
    int failed = t->finish(t->arg, is_waiting, numbers, ENDS, &count);
    xy_status_t st = XY_OK;

    if (failed != 0)
        return xy_fail(XY_EIO, "messages between ranks failed (error %d)", failed);
    for (int i = 0; i < count && st == XY_OK; i++)
        st = over(e, numbers[i]);
    *is_moving_p = *is_moving_p || count > 0;
    return st;
}

/* Starts the messages whose data have arrived in main memory. */
static xy_status_t start_gathered(device_tasks_t *e, bool *is_moving_p)
{
    xy_vec_t *list = &e->post.gathering;
    xy_status_t st = XY_OK;
    size_t kept = 0;

    for (size_t i = 0; i < list->count && st == XY_OK; i++) {
        int32_t message = XY_VEC_AT(list, int32_t, i);
        xy_access_t a = access_of(message_at(e, message));
        bool has_come = false;
        void *address;

        st = device_home_has_come(e, &a, 1, &has_come, NULL);
        if (st == XY_OK && has_come) {
            device_home_take(e, &a, 1, &address);
            st = start(e, message);
            *is_moving_p = true;
        } else {
            XY_VEC_AT(list, int32_t, kept++) = message;
        }
    }
    list->count = st == XY_OK ? kept : list->count;
    return st;
}

xy_status_t device_messages_pump(device_tasks_t *e, bool *is_moving_p)
{
    xy_status_t st = start_gathered(e, is_moving_p);

    return st == XY_OK && e->post.moving > 0 ? finish(e, false, is_moving_p) : st;
}

/* Does a GPU still do something? */
static xy_status_t are_gpus_busy(device_tasks_t *e, bool *are_busy_p)
{
    xy_status_t st = XY_OK;

    *are_busy_p = false;
    for (int32_t i = 0; i < e->how->gpu_count * LANES && st == XY_OK; i++) {
        uint64_t behind = 0;

        st = device_lane_behind(&e->devices[i / LANES].lanes[i % LANES], &behind);
        *are_busy_p = *are_busy_p || behind > 0;
    }
    return st;
}

xy_status_t device_messages_wait(device_tasks_t *e, bool *is_moving_p)
{
    uint32_t rings = device_cores_rings(e);
    bool are_busy;
    xy_status_t st = are_gpus_busy(e, &are_busy);

    if (st != XY_OK || (e->post.moving == 0 && e->post.gathering.count == 0))
        return st;
    if (device_jobs_are_running(e)) {
        device_cores_wait(e, rings, LOOK_SECONDS);
    } else if (are_busy || e->post.gathering.count > 0 || e->job_used > 0) {
        (void)sched_yield();
    } else if (e->how->cores > 0 && !e->is_pressed) {
        e->is_pressed = true; /* a task of cores alone may be what another rank waits for */
    } else {
        return finish(e, true, is_moving_p);
    }
    *is_moving_p = true;
    return XY_OK;
}

/* ---- After a stop ---- */

/* Starts passing over the tasks of a stopped run, after sending the results of finished ones. */
static xy_status_t begin_passing(device_tasks_t *e)
{
    post_t *p = &e->post;
    xy_status_t st = XY_OK;
    bool is_moving = false;

    /* Data that comes after tasks that ran is whole: it may tell the others to stop. */
    while (p->gathering.count > 0 && st == XY_OK) {
        st = start_gathered(e, &is_moving);
        (void)sched_yield();
    }
    p->is_passing = true;
    for (xy_op_id_t i = 0; i < e->base.ops && st == XY_OK; i++)
        if (!e->base.is_over[i] && e->base.waiting[device_node(e, i)] == 0 &&
            xy_vec_append(&p->passed, &i) != XY_OK)
            st = xy_fail_memory("ending the run");
    return st;
}

xy_status_t device_messages_pass(device_tasks_t *e)
{
    xy_status_t st = begin_passing(e);
    bool is_moving = false;

    while (st == XY_OK && e->base.left + e->post.left > 0) {
        xy_vec_t *list = &e->post.passed;

        if (list->count == 0) {
            st = finish(e, true, &is_moving);
            continue;
        }
        list->count--;
        e->base.left--;
        st = device_release(e, device_node(e, ((xy_op_id_t *)list->data)[list->count]));
    }
    return st;
}
