/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All data from one process to another goes through one socket, in the order in which it was
 * written. The system takes all of it at once, so an answer to a question, a question or a small
 * message that is written behind the data of a large one comes when that data is there. Two
 * processes that send each other large messages thus often do it one after the other: the process
 * that is answered first has written its data before it answers.
 *
 *
 * Small messages that are written one after the other are packets: job_message.c keeps their order.
 */
#include "sim/job_internal.h"

bool job_stream_has(const xy_vjob_t *job, const xy_vmsg_t *m)
{
    return m->way->model != NULL && (m->bytes <= job->costs.socket || m->ends == JOB_HELD);
}

static job_stream_t *find(const xy_vjob_t *job, int32_t from, int32_t to)
{
    return xy_hash_get(&job->sockets, (uint64_t)from << 32 | (uint32_t)to);
}

/* Returns the socket stream from one process to another, created if it is new; NULL without memory,
 * with the job failed. */
static job_stream_t *find_or_make(xy_vjob_t *job, int32_t from, int32_t to)
{
    job_stream_t *s = find(job, from, to);

    if (s != NULL)
        return s;
    s = xy_arena_alloc(job->arena, sizeof(*s));
    if (s == NULL || xy_hash_set(&job->sockets, (uint64_t)from << 32 | (uint32_t)to, s) != XY_OK) {
        job_fail(job, xy_fail_memory("simulating a job"));
        return NULL;
    }
    *s = (job_stream_t){.last = &s->first};
    return s;
}

static void append(xy_vjob_t *job, job_stream_t *s, xy_vmsg_t *m, job_stage_t stage, double when)
{
    job_behind_t *b = job_get(job, &job->behinds);

    if (b == NULL)
        return;
    *b = (job_behind_t){.message = m, .stage = stage, .when = when};
    *s->last = b;
    s->last = &b->next;
}

/* ---- Links ---- */

/* Bytes in front of a link at a time, not before the last that was added. */
static double queued_at(const job_queue_t *q, double rate, double time)
{
    double left = fmax(0, time - q->since);
    double coming = q->rate > 0 ? fmin(left, q->coming / q->rate) : 0;
    double queued = fmax(0, q->queued + (q->rate - rate) * coming);

    return fmax(0, queued - rate * (left - coming));
}

/* So many more come to it, at most at that rate. */
static void add_bytes(job_queue_t *q, double rate, double now, double bytes, double comes)
{
    double left = now - q->since;

    q->queued = queued_at(q, rate, now);
    q->coming = fmax(0, q->coming - q->rate * left);
    q->rate = q->coming > 0 ? q->rate + comes : comes;
    q->coming += bytes;
    q->since = now;
}

/* How much of its data a socket has in front of its host's own link at once, so that others have
 * their turn. Linux lets it have two packets, which the device cuts (tcp_limit_output_bytes): each
 * is 1/1024 s of twice what the connection carries, and 64 KiB more, halved for each 512 us of the
 * round trip (tcp_tso_rtt_log); at most 64 KiB. */
static double own_limit(const sim_path_t *path)
{
    const int most = 1 << 16;
    int halvings = (int)fmin(2 * path->latency / 512e-6, 16);

    return 2 * fmin(most, 2 * path->bandwidth / 1024 + ldexp(most, -halvings));
}

/* So many more come to the first link of their way. */
static void add_own(job_queue_t *q, double rate, double now, double bytes, double limit)
{
    double left = fmax(0, q->own_left - rate * (now - q->own_since));

    q->own_most = (left > 0 ? q->own_most : 0) + fmin(bytes, limit);
    q->own_left = left + bytes;
    q->own_since = now;
}

static double own_at(const job_queue_t *q, double rate, double time)
{
    return fmin(q->own_most, fmax(0, q->own_left - rate * (time - q->own_since)));
}

/* Data that the system has taken goes out as fast as its host's own link takes it, and is queued
 * where a link is slower, or gets it from many. In front of the host's own link is a part of it. */
static void queue_data(xy_vjob_t *job, const xy_vmsg_t *m)
{
    const sim_path_t *path = m->way->path;
    double comes = INFINITY, now = job->clock.now;

    for (int32_t i = 0; i < path->path.link_count; i++) {
        double rate = job->net.flows.links[path->links[i]].rate;
        job_queue_t *q = &job->link_queue[path->links[i]];

        if (i == 0)
            add_own(q, rate, now, (double)m->bytes, own_limit(path));
        else
            add_bytes(q, rate, now, (double)m->bytes, comes);
        comes = fmin(comes, rate);
    }
}

/* Link after link, each behind what came to it before, and on the next one as soon as it is free: a
 * packet keeps each link for itself while its bytes cross it, the first byte of a flow, a question
 * or an answer does not. What waits for a link is in front of it and not on those before. */
double job_stream_cross(xy_vjob_t *job, const job_way_t *way, uint64_t bytes, bool keeps,
                        double *first_p)
{
    const sim_path_t *path = way->path;
    double first = *first_p, last = first;

    for (int32_t i = 0; i < path->path.link_count; i++) {
        int32_t link = path->links[i];
        double rate = job->net.flows.links[link].rate;
        const job_queue_t *q = &job->link_queue[link];

        first = fmax(first, job->link_free[link]);
        if (job->sockets.count > 0)
            first += ((i == 0 ? own_at(q, rate, first) : 0) + queued_at(q, rate, first)) / rate;
        if (keeps)
            job->link_free[link] = first + (double)bytes / rate;
        last = fmax(last, first + (double)bytes / rate);
    }
    *first_p = first;
    return last;
}

/* ---- Sockets ---- */

static void start(xy_vjob_t *job, job_stream_t *s, xy_vmsg_t *m, double when)
{
    s->flowing = m;
    queue_data(job, m);
    xy_flow_init(&m->flow, &m->way->path->path);
    xy_flow_start(&m->flow, fmax(0, when - job->clock.now), (double)m->bytes);
}

bool job_stream_waits(xy_vjob_t *job, xy_vmsg_t *m, bool is_answer, job_stage_t stage, double when)
{
    job_stream_t *s;

    if (job->sockets.count == 0 || m->way->model == NULL)
        return false;
    s = is_answer ? find(job, m->to, m->from) : find(job, m->from, m->to);
    if (s == NULL || s->flowing == NULL)
        return false;
    append(job, s, m, stage, when);
    return true;
}

void job_stream_answer(xy_vjob_t *job, xy_vmsg_t *m, job_stage_t stage, double from, double when)
{
    if (m->way->model != NULL) {
        job_way_t *back = job_way(job, m->to, m->from);
        double first = from;

        if (back == NULL)
            return;
        job_stream_cross(job, back, 0, false, &first);
        when += first - from;
    }
    if (!job_stream_waits(job, m, true, stage, when))
        job_message_plan(job, m, stage, when);
}

void job_stream_data(xy_vjob_t *job, xy_vmsg_t *m, double when)
{
    job_stream_t *s;

    if (!job_stream_has(job, m)) {
        xy_flow_init(&m->flow, &m->way->path->path);
        xy_flow_start(&m->flow, fmax(0, when - job->clock.now), (double)m->bytes);
        return;
    }
    s = find_or_make(job, m->from, m->to);
    if (s == NULL)
        return;
    if (s->flowing != NULL)
        append(job, s, m, JOB_DATA, when);
    else
        start(job, s, m, when);
}

/* It was written behind data that is there now. */
static void follow(xy_vjob_t *job, const job_behind_t *b)
{
    xy_vmsg_t *m = b->message;
    double now = job->clock.now;

    if (b->stage == JOB_ARRIVE && m->is_there && m->is_eager)
        m->data_at = fmax(m->data_at, now + (double)m->bytes / m->way->path->bandwidth);
    job_message_plan(job, m, b->stage, fmax(b->when, now));
}

void job_stream_flowed(xy_vjob_t *job, const xy_vmsg_t *m)
{
    job_stream_t *s = job_stream_has(job, m) ? find(job, m->from, m->to) : NULL;

    if (s == NULL || s->flowing != m)
        return;
    s->flowing = NULL;
    while (s->first != NULL && s->flowing == NULL) {
        job_behind_t *b = s->first;

        s->first = b->next;
        if (s->first == NULL)
            s->last = &s->first;
        if (b->stage == JOB_DATA)
            start(job, s, b->message, b->when);
        else
            follow(job, b);
        job_put(&job->behinds, b);
    }
}
