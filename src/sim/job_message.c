/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages: sends and receives, and what happens between them. A message goes through stages, at
 * most one planned at a time:
 *
 *   eager               (inject) arrive; its data is there with it, or flows after it
 *   large, in a node    arrive, is copied by the receiver, notice to the sender
 *   large, in a network inject, arrive (a question), answer, flow; where that was measured, the
 * receiver acknowledges it, and the sender confirms that this was all
 *
 * Messages of one process to another arrive in the order of their sends, whatever their sizes: what
 * arrives is the first byte, after a latency that all have, behind the packets that left before.
 */
#include "sim/job_internal.h"

/* Sends of a process ahead of the clock; the last of them is only over when the clock has come
 * there. Who waits for it lets the others run, so that messages in flight stay bounded. */
enum { AHEAD_MAX = 256 };

/* Does a rank of Xylem that has left much for others of its core let them run (p2p/message.h)? What
 * meets a receive is not left: one that was posted, and that none on its way will take. */
static bool lets_run(xy_vjob_t *job, const xy_vmsg_t *m)
{
    const job_proc_t *to = &job->procs[m->to];
    job_core_t *core = &job->cores[to->core];

    if (m->way == NULL || !m->way->is_same || !m->is_eager || job->library->rules != NULL ||
        to->match.posted.count >= to->incoming - to->arrived)
        return false;
    core->left += (double)(XY_MATCH_HEAD + m->bytes);
    if (core->left <= XY_MATCH_LEFT)
        return false;
    core->left = 0;
    return true;
}

/* ---- Requests ---- */

static void request_free(xy_vjob_t *job, xy_vreq_t *r)
{
    job_node_drop(job, r->node);
    job_put(&job->requests, r);
}

/* Returns a request in its initial state; NULL without memory, with the job failed. */
static xy_vreq_t *request_new(xy_vjob_t *job, int32_t proc, job_request_kind_t kind, void *data)
{
    xy_vreq_t *r = job_get(job, &job->requests);

    if (r == NULL)
        return NULL;
    r->kind = kind;
    r->is_done = r->is_waited = r->is_released = r->is_posted = r->is_cancelled = false;
    r->proc = proc;
    r->data = data;
    r->message = NULL;
    r->coll = NULL;
    r->node = NULL;
    r->status = (xy_vjob_status_t){.source = XY_VJOB_ANY, .tag = XY_VJOB_ANY};
    return r;
}

xy_vreq_t *job_request_collective(xy_vjob_t *job, int32_t proc, void *data)
{
    return request_new(job, proc, JOB_COLLECTIVE, data);
}

xy_vreq_t *job_request_timed(xy_vjob_t *job, int32_t proc)
{
    return request_new(job, proc, JOB_TIMED, NULL);
}

void job_request_done(xy_vjob_t *job, xy_vreq_t *r, double at, job_node_t *because)
{
    job_proc_t *p = &job->procs[r->proc];

    p->process->has_received |= r->kind == JOB_RECEIVE;
    r->is_done = true;
    r->done_at = at;
    r->message = NULL;
    if (r->is_released) {
        request_free(job, r);
        return;
    }
    job_node_set(job, &r->node, because);
    if (r->is_waited)
        job_wait_done(job, p, r);
}

void xy_vjob_release(xy_vjob_t *job, xy_vreq_t *r)
{
    if (r == NULL)
        return;
    if (r->message != NULL && r->kind == JOB_SEND && r->is_done)
        r->message->send = NULL;
    r->is_released = true;
    if (r->is_done)
        request_free(job, r);
}

bool xy_vjob_is_done(const xy_vjob_t *job, const xy_vreq_t *r)
{
    return r->is_done && r->done_at <= job->procs[r->proc].now;
}

void xy_vjob_status(const xy_vjob_t *job, const xy_vreq_t *r, xy_vjob_status_t *status)
{
    (void)job;
    *status = r->status;
    status->is_cancelled = r->is_cancelled;
}

/* ---- Receiving ---- */

/* The message was received, or never will be: see crosses(). */
static void forget_last(xy_vjob_t *job, xy_vmsg_t *m)
{
    if (job->procs[m->from].last_sent == m)
        job->procs[m->from].last_sent = NULL;
    job->procs[m->from].flying -= m->is_flying;
    m->is_flying = false;
}

void job_message_free(xy_vjob_t *job, xy_vmsg_t *m)
{
    forget_last(job, m);
    if (m->send != NULL)
        m->send->message = NULL;
    job_node_drop(job, m->node);
    job_node_drop(job, m->item.node);
    job->procs[m->to].gone += m->coll == NULL;
    job_put(&job->messages, m);
}

void job_message_plan(xy_vjob_t *job, xy_vmsg_t *m, job_stage_t stage, double when)
{
    m->stage = (uint8_t)stage;
    xy_vclock_set(&job->clock, &m->event, when);
}

/* The sender's part is complete. */
static void sent(xy_vjob_t *job, xy_vmsg_t *m, double at)
{
    xy_vreq_t *send = m->send;

    if (m->coll != NULL)
        job_coll_sent(job, m->coll, m->op, at, m->node);
    m->send = NULL;
    if (send == NULL)
        return;
    send->message = NULL;
    if (!m->is_captured)
        job_request_done(job, send, at, m->node);
}

/* A large message was copied inside a node, or received: the sender hears of it. */
static void notify(xy_vjob_t *job, xy_vmsg_t *m, double end, job_node_t *because)
{
    forget_last(job, m);
    job_node_set(job, &m->node, because);
    m->receive = NULL;
    job_message_plan(job, m, JOB_NOTICE, end + m->way->latency);
}

static bool has_notice(const xy_vmsg_t *m)
{
    return !m->is_eager && (m->way->path == NULL || m->ends == JOB_NOTICED);
}

/* Returns the time a process spends in receiving a message, with its copy. */
static double receive_seconds(xy_vjob_t *job, job_item_t *item, double start)
{
    const xy_vmsg_t *m = job_message_of(item);

    (void)start;
    if (job->has_link)
        return 0;
    if (m->is_eager)
        return job_cache_eager(job, m);
    if (m->way->path != NULL)
        return m->way->receive;
    return m->way->receive + job_cache_message(job, m, m->receive_busy - m->way->receive);
}

/* The copy of a large message inside a node. */
static bool receive_load(const xy_vjob_t *job, job_item_t *item, double seconds, int32_t i,
                         job_load_t *load)
{
    const xy_vmsg_t *m = job_message_of(item);
    double other = m->way->receive + (m->coll != NULL ? job_coll_seconds(m->coll, m->op) : 0);

    *load = (job_load_t){
        .seconds = fmax(0, seconds - other),
        .domain = sim_memory_domain(&job->memory, job->procs[m->from].core, job->procs[m->to].core),
        .weight = 1};
    return i == 0;
}

/* Completes a receive: copies the data, records the message and tells the sender if it waits. */
static void receive_done(xy_vjob_t *job, job_item_t *item, double end, job_node_t *because)
{
    xy_vmsg_t *m = job_message_of(item);
    xy_vreq_t *r = m->receive;
    bool is_noticed = has_notice(m);

    if (job->config.copy != NULL)
        job->config.copy(job->config.owner, m->send_data, r->data);
    r->status = (xy_vjob_status_t){.source = m->from,
                                   .tag = m->entry.envelope.tag,
                                   .bytes = m->bytes,
                                   .send_data = m->send_data};
    job_record_message(job, m, end);
    if (is_noticed) {
        notify(job, m, end, because);
    } else {
        sent(job, m, end);
        job_message_free(job, m);
    }
    job_request_done(job, r, end, because);
}

/* Completes the message of a collective's step. */
static void step_done(xy_vjob_t *job, job_item_t *item, double end, job_node_t *because)
{
    xy_vmsg_t *m = job_message_of(item);
    xy_vcoll_t *coll = m->coll;
    int32_t op = m->op;
    bool is_noticed = has_notice(m);
    void *slot = m->slot;

    job_record_message(job, m, end);
    if (is_noticed)
        notify(job, m, end, because);
    else
        job_message_free(job, m);
    job_coll_received(job, coll, op, slot, end, because);
}

static double step_seconds(xy_vjob_t *job, job_item_t *item, double start)
{
    const xy_vmsg_t *m = job_message_of(item);
    double seconds = receive_seconds(job, item, start);

    return seconds + job_coll_seconds(m->coll, m->op);
}

static double answer_seconds(xy_vjob_t *job, job_item_t *item, double start)
{
    (void)job;
    (void)start;
    return job_message_of(item)->way->receive;
}

static void answer_done(xy_vjob_t *job, job_item_t *item, double end, job_node_t *because)
{
    xy_vmsg_t *m = job_message_of(item);

    double spared = fmin(m->spared, m->way->latency);

    job_node_set(job, &m->node, because);
    m->spared -= spared;
    job_stream_answer(job, m, JOB_ANSWER, end, end + m->way->latency - spared);
}

static double push_seconds(xy_vjob_t *job, job_item_t *item, double start)
{
    (void)job;
    (void)start;
    return job_message_of(item)->way->send;
}

static void push_done(xy_vjob_t *job, job_item_t *item, double end, job_node_t *because)
{
    xy_vmsg_t *m = job_message_of(item);

    job_node_set(job, &m->node, because);
    m->stage = JOB_DATA;
    if (m->ends == JOB_WRITTEN && job_stream_has(job, m))
        sent(job, m, end);
    job_stream_data(job, m, end + fmax(0, m->way->latency + m->extra - m->spared));
}

static void set_item(xy_vmsg_t *m, int32_t proc, double ready,
                     double (*seconds)(xy_vjob_t *, job_item_t *, double),
                     void (*done)(xy_vjob_t *, job_item_t *, double, job_node_t *))
{
    m->item.seconds = seconds;
    m->item.load = NULL;
    m->item.done = done;
    m->item.proc = proc;
    m->item.ready = ready;
    m->item.is_core = m->coll != NULL && job_coll_is_direct(m->coll);
    m->item.is_shared = false;
    m->item.node = job_node_use(m->node);
}

static void acknowledge_done(xy_vjob_t *job, job_item_t *item, double end, job_node_t *because)
{
    xy_vmsg_t *m = job_message_of(item);

    job_node_set(job, &m->node, because);
    job_stream_answer(job, m, JOB_HEARD, end, end + m->way->latency);
}

static void tell_done(xy_vjob_t *job, job_item_t *item, double end, job_node_t *because)
{
    xy_vmsg_t *m = job_message_of(item);
    double first = end;

    job_node_set(job, &m->node, because);
    sent(job, m, end);
    job_stream_cross(job, m->way, 0, false, &first);
    if (!job_stream_waits(job, m, false, JOB_TOLD, first + m->way->latency))
        job_message_plan(job, m, JOB_TOLD, first + m->way->latency);
}

static void to_receive(xy_vmsg_t *m, double ready)
{
    if (m->coll != NULL)
        set_item(m, m->to, ready, step_seconds, step_done);
    else
        set_item(m, m->to, ready, receive_seconds, receive_done);
    if (!m->is_eager && m->way->path == NULL)
        m->item.load = receive_load;
}

/* The receiver knows what to do with a message that has arrived. */
void job_message_met(xy_vjob_t *job, xy_vmsg_t *m, bool is_now)
{
    double ready;

    if (m->is_eager && !m->is_there)
        return; /* when it has flowed */
    ready = m->receive != NULL ? fmax(m->data_at, m->receive->posted_at) : m->data_at;
    if (m->is_eager || m->way->path == NULL)
        to_receive(m, ready);
    else
        set_item(m, m->to, ready, answer_seconds, answer_done);
    if (is_now) {
        job_work(job, &m->item);
        return;
    }
    m->stage = JOB_WORK;
    job_work_later(job, &job->procs[m->receive->proc], &m->item, &m->event);
}

void job_message_flowed(void *model, xy_flow_t *flow)
{
    xy_vjob_t *job = model;
    xy_vmsg_t *m = (xy_vmsg_t *)((char *)flow - offsetof(xy_vmsg_t, flow));
    double now = job->clock.now;

    job->totals.events++;
    m->is_there = true;
    m->data_at = now;
    job_stream_flowed(job, m);
    if (m->is_eager) {
        if (m->receive != NULL || m->is_met)
            job_message_met(job, m, true);
        return;
    }
    if (m->ends == JOB_HELD) {
        set_item(m, m->to, now, answer_seconds, acknowledge_done);
    } else {
        if (m->ends == JOB_WRITTEN && !job_stream_has(job, m))
            sent(job, m, now);
        to_receive(m, now);
    }
    job_work(job, &m->item);
}

bool job_message_asks(const xy_vmsg_t *m)
{
    return !m->is_eager && m->way != NULL && m->way->path != NULL && m->way->model != NULL;
}

void job_message_answer(xy_vjob_t *job, xy_vmsg_t *m, double when)
{
    answer_done(job, &m->item, when, m->node);
}

/* The receive of the process that runs has met the message. */
static void meet_now(xy_vjob_t *job, xy_vmsg_t *m)
{
    job_proc_t *p = &job->procs[m->receive->proc];

    if (!job_message_asks(m)) {
        job_message_met(job, m, false);
        return;
    }
    job_proc_busy(job, p, fmax(p->now, m->data_at) + m->way->receive);
    answer_done(job, &m->item, p->now, p->node);
}

/* ---- On its way ---- */

static void inject(xy_vjob_t *job, xy_vmsg_t *m)
{
    bool is_packet = m->is_eager && m->bytes <= job->costs.packet;
    double first = job->clock.now,
           last = job_stream_cross(job, m->way, m->bytes, is_packet, &first);

    m->is_there = !m->is_eager || is_packet;
    m->data_at = first + m->way->latency;
    if (is_packet)
        m->data_at = last + m->way->latency + m->extra;
    if (!job_stream_waits(job, m, false, JOB_ARRIVE, first + m->way->latency))
        job_message_plan(job, m, JOB_ARRIVE, first + m->way->latency);
}

/* Does it find no receive, or one that its process, ahead of the clock, posts later? */
static bool is_unready(const xy_vjob_t *job, const xy_match_entry_t *receive)
{
    return receive == NULL || ((const xy_vreq_t *)receive)->posted_at > job->clock.now;
}

/* Matches an arrived message with a posted receive, or keeps it; dead ones are freed. */
static void arrive(xy_vjob_t *job, xy_vmsg_t *m)
{
    job_proc_t *p = &job->procs[m->to];
    xy_match_entry_t *entry;

    if (m->is_dead) {
        job_message_free(job, m);
        return;
    }
    m->is_arrived = true;
    __builtin_prefetch(p->node); /* the path that the process leaves when it takes the message */
    if (!m->is_there) {
        m->stage = JOB_DATA;
        job_stream_data(job, m, job->clock.now + m->extra);
    }
    if (m->coll != NULL) {
        job_coll_arrived(job, m);
        return;
    }
    p->arrived++;
    entry = xy_match_arrive(&p->match, &m->entry.envelope);
    if (m->is_ready && job->config.unready != NULL && is_unready(job, entry))
        job->config.unready(job->config.owner, m->send_data);
    if (entry != NULL) {
        m->receive = (xy_vreq_t *)entry;
        m->receive->is_posted = false;
        m->receive->message = m;
        /* The process was ahead of the clock. */
        if (job_message_asks(m) && m->receive->posted_at > job->clock.now)
            job_message_answer(job, m, m->receive->posted_at);
        else
            job_message_met(job, m, true);
        return;
    }
    xy_match_keep(&p->match, &m->entry);
    if (p->first_thread >= 0)
        job_threads_probe(job, p);
    else if (p->state == JOB_PROBING)
        job_probe_arrived(job, p);
}

/* Continues a message with its next stage; an event of the clock. */
static void message_due(xy_event_t *event)
{
    xy_vjob_t *job = event->owner;
    xy_vmsg_t *m = (xy_vmsg_t *)((char *)event - offsetof(xy_vmsg_t, event));

    job->totals.events++;
    switch ((job_stage_t)m->stage) {
    case JOB_INJECT:
        inject(job, m);
        break;
    case JOB_ARRIVE:
        arrive(job, m);
        break;
    case JOB_WORK:
        job_work(job, &m->item);
        break;
    case JOB_ANSWER:
        set_item(m, m->from, job->clock.now, push_seconds, push_done);
        job_work(job, &m->item);
        break;
    case JOB_NOTICE:
        sent(job, m, job->clock.now);
        job_message_free(job, m);
        break;
    case JOB_HEARD:
        set_item(m, m->from, job->clock.now, push_seconds, tell_done);
        job_work(job, &m->item);
        break;
    case JOB_TOLD:
        to_receive(m, job->clock.now);
        job_work(job, &m->item);
        break;
    case JOB_DATA:
        break; /* never planned: the network has it */
    }
}

void job_message_foresee(const xy_event_t *event)
{
    const xy_vmsg_t *m = (const xy_vmsg_t *)((const char *)event - offsetof(xy_vmsg_t, event));
    const xy_vjob_t *job = event->owner;
    const job_proc_t *p;

    if (event->due != message_due)
        return;
    p = &job->procs[m->to];
    __builtin_prefetch(m);
    __builtin_prefetch(&m->item);
    __builtin_prefetch(&m->receive);
    __builtin_prefetch(p);
    __builtin_prefetch(&p->match);
    __builtin_prefetch(&p->call);
}

xy_vmsg_t *job_message_new(xy_vjob_t *job, int32_t from, int32_t to, uint64_t bytes)
{
    xy_vmsg_t *m = job_get(job, &job->messages);

    if (m == NULL)
        return NULL;
    if (m->event.due == NULL)
        xy_event_init(&m->event, message_due, job, 0);
    m->way = job->has_link ? NULL : job_way(job, from, to);
    m->from = from;
    m->to = to;
    m->bytes = bytes;
    m->buffer = m->step = 0;
    m->send = m->receive = NULL;
    m->coll = NULL;
    m->slot = m->send_data = NULL;
    m->node = m->item.node = NULL;
    m->send_busy = m->receive_busy = m->extra = m->spared = m->late = m->cross = 0;
    m->is_captured = m->is_taken = m->is_there = m->is_arrived = m->is_dead = m->is_met = false;
    m->is_synchronous = m->is_ready = m->is_blocking = m->is_flying = false;
    m->ends = JOB_WRITTEN;
    if (m->way != NULL || job->has_link)
        return m;
    job_put(&job->messages, m);
    return NULL;
}

/* Two cores that write to each other at once disturb each other: has the receiver sent something
 * the other way, before this message arrives, that its own receiver has not received? */
static bool crosses(const xy_vjob_t *job, const xy_vmsg_t *m)
{
    const xy_vmsg_t *other = job->procs[m->to].last_sent;

    return other != NULL && other->to == m->from && other->sent <= m->data_at;
}

/* Add the extra time of an exchange: latency for short messages, because lines go to and fro; work
 * for large ones, because a core that moves pieces of one does not move those of the other
 * meanwhile. */
static void add_cross(xy_vmsg_t *m)
{
    *(m->is_eager ? &m->data_at : &m->receive_busy) += m->cross;
}

void job_message_launch(xy_vjob_t *job, xy_vmsg_t *m, double end)
{
    job->procs[m->from].has_received = false;
    if (m->way != NULL && m->way->path != NULL) {
        job_message_plan(job, m, JOB_INJECT, end);
        return;
    }
    m->is_there = true;
    m->data_at = end + m->extra;
    if (m->way != NULL) {
        double *last = &job->procs[m->from].arrival[m->way->is_same];

        m->is_flying = true;
        m->left = job->cores[job->procs[m->to].core].touched;
        job->procs[m->from].flying++;
        job->procs[m->from].started++;
        if (m->cross > 0) {
            if (crosses(job, m))
                add_cross(m);
            job->procs[m->from].last_sent = m;
        }
        /* A short one does not overtake a long one, which takes longer. */
        *last = m->data_at = fmax(m->data_at + m->way->latency, *last);
    }
    job_message_plan(job, m, JOB_ARRIVE, m->data_at);
}

static double message_send(xy_vjob_t *job, xy_vmsg_t *m, double start)
{
    double end;

    job_way_cost(job, m);
    m->sent = start;
    end = start + m->send_busy;
    job_message_launch(job, m, end);
    return end;
}

/* ---- Calls ---- */

static xy_envelope_t envelope_of(const xy_vjob_p2p_t *p2p, int32_t source)
{
    return (xy_envelope_t){.context = p2p->context,
                           .source = source == XY_VJOB_ANY ? XY_MATCH_ANY_SOURCE : source,
                           .tag = p2p->tag == XY_VJOB_ANY ? XY_MATCH_ANY_TAG : p2p->tag};
}

xy_envelope_t job_envelope(const xy_vjob_p2p_t *p2p)
{
    return envelope_of(p2p, p2p->peer);
}

/* The clock has come to the end of a send: see AHEAD_MAX. */
static void ahead_due(xy_event_t *event)
{
    xy_vreq_t *r = (xy_vreq_t *)((char *)event - offsetof(xy_vreq_t, event));

    if (r->is_done) /* it was cancelled */
        return;
    if (r->message != NULL)
        r->message->send = NULL;
    job_request_done(event->owner, r, r->done_at, NULL);
}

xy_vreq_t *xy_vjob_isend(xy_vjob_t *job, int32_t proc, const xy_vjob_p2p_t *p2p, void *data)
{
    job_proc_t *p = &job->procs[proc];
    int32_t from = p->process->number;
    xy_vreq_t *r = request_new(job, proc, JOB_SEND, data);
    xy_vmsg_t *m = r != NULL ? job_message_new(job, from, p2p->peer, p2p->bytes) : NULL;

    if (m == NULL)
        return NULL;
    m->entry.envelope = envelope_of(p2p, from);
    m->is_synchronous = p2p->mode == XY_VJOB_SYNCHRONOUS;
    m->is_ready = p2p->mode == XY_VJOB_READY;
    m->is_blocking = p2p->is_blocking;
    m->buffer = p2p->buffer;
    m->send_data = data;
    m->send = r;
    r->message = m;
    job->procs[m->to].incoming++;
    job_proc_busy(job, p, message_send(job, m, p->now));
    job_record_sent(job, m);
    m->node = job_node_use(p->node);
    job_count_message(job, from, p2p->peer, p2p->bytes, false);
    m->is_captured = (m->is_eager && !m->is_synchronous) || p2p->mode == XY_VJOB_BUFFERED;
    if (!m->is_captured)
        return r;
    if (job->config.capture != NULL)
        job->config.capture(job->config.owner, data);
    r->done_at = p->now;
    r->is_done = !lets_run(job, m) && ++p->ahead < AHEAD_MAX;
    if (!r->is_done) {
        p->ahead = 0;
        xy_event_init(&r->event, ahead_due, job, 0);
        xy_vclock_set(&job->clock, &r->event, p->now);
    }
    return r;
}

xy_vreq_t *xy_vjob_irecv(xy_vjob_t *job, int32_t proc, const xy_vjob_p2p_t *p2p, void *data)
{
    job_proc_t *p = &job->procs[proc];
    xy_match_t *match = &p->process->match;
    xy_vreq_t *r = request_new(job, proc, JOB_RECEIVE, data);
    xy_match_entry_t *found;

    if (r == NULL)
        return NULL;
    r->entry.envelope = envelope_of(p2p, p2p->peer);
    r->posted_at = p->now;
    found = xy_match_find(match, &r->entry.envelope);
    if (found == NULL) {
        xy_match_post(match, &r->entry);
        r->is_posted = true;
        return r;
    }
    xy_match_drop(match, found);
    r->message = (xy_vmsg_t *)found;
    r->message->receive = r;
    r->message->receive_busy += r->message->late + job_cache_late(job, r->message, p->now);
    meet_now(job, r->message);
    return r;
}

xy_vreq_t *xy_vjob_imrecv(xy_vjob_t *job, int32_t proc, xy_vmsg_t *message, void *data)
{
    xy_vreq_t *r = request_new(job, proc, JOB_RECEIVE, data);

    if (r == NULL)
        return NULL;
    r->posted_at = job->procs[proc].now;
    r->message = message;
    message->receive = r;
    meet_now(job, message);
    return r;
}
