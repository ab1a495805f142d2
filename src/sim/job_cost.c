/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of a message on its way: see job.h. Where the way has a model, the message takes the
 * model's time in all.
 */
#include "sim/job_internal.h"

static double rate_seconds(double bytes, double rate)
{
    return rate > 0 ? bytes / rate : 0;
}

/* The time of the model beyond everything else; < 0: it is less. */
static double rest_of(const job_way_t *way, uint64_t bytes, bool is_eager)
{
    double rest = job_way_seconds(way, bytes) - way->send - way->receive - way->latency;

    if (way->is_same)
        rest -= job_way_seconds(way, 0) - way->send - way->receive; /* the switch */
    if (way->path == NULL)
        return fmax(0, rest);
    if (!is_eager)
        rest -= way->send + way->receive + 2 * way->latency;
    return rest - (double)bytes / way->path->bandwidth;
}

/* How far apart messages of a stream arrive; 0: not measured. */
double job_way_gap(const xy_message_model_t *model, uint64_t bytes)
{
    return xy_message_curve(model, XY_MESSAGE_GAP, (double)bytes);
}

/* A message that came before its receive lies where another core has just written; receiving it
 * takes as long as messages of a stream are apart, more or less than one that is waited for. On one
 * core one that is too long for its envelope got memory, which is given back. */
static double late_of(const job_way_t *way, uint64_t bytes)
{
    double gap = job_way_gap(way->model, bytes);

    if (way->is_same)
        return 0;
    return gap > 0 ? gap - way->receive_busy : 0;
}

/* A nonblocking message takes more: requests are made and given back. */
static double request_of(const xy_message_model_t *m, double bytes)
{
    if (!xy_message_has(m, NULL, XY_MESSAGE_NONBLOCKING))
        return 0;
    return fmax(0, xy_message_value(m, NULL, XY_MESSAGE_NONBLOCKING, bytes).seconds -
                       xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, bytes).seconds);
}

/* When the send of a large message between nodes is complete, by how long such a send took while
 * its receive waited: about two latencies, after which it was asked for and written; or most of
 * what the message takes. Then the receiver has acknowledged its data. If the message takes two
 * more latencies than asking, answering and sending it, the receiver was notified after that.
 * `rest` is what it takes beyond these. */
static void find_end(job_way_t *way, uint64_t bytes, double rest)
{
    double all = job_way_seconds(way, bytes), hold = way->model->hold * all;
    double once = way->latency + (way->send + way->receive) / 2;

    if (!(hold > (all + way->latency) / 2))
        return;
    way->ends = rest > 1.5 * way->latency ? JOB_HELD : JOB_NOTICED;
    if (way->ends == JOB_NOTICED)
        return;
    way->extra = fmax(0, rest - 2 * once);
    way->spared = fmax(0, 2 * once - rest);
}

/* Sets the costs of a message of this size on a way, from the measured model or from defaults. */
static void find_cost(const xy_vjob_t *job, job_way_t *way, uint64_t bytes, bool is_eager)
{
    double copy = rate_seconds((double)bytes, job->costs.copy);

    way->bytes = bytes;
    way->was_eager = is_eager;
    way->ends = JOB_WRITTEN;
    way->send_busy = way->send;
    way->receive_busy = way->receive;
    way->extra = way->spared = way->late = way->cross = way->request = 0;
    if (way->model != NULL) {
        double rest = rest_of(way, bytes, is_eager);

        if (way->path != NULL) {
            way->extra = fmax(0, rest);
            /* Measured messages are asked for faster, or not at all. */
            way->spared = is_eager ? 0 : fmax(0, -rest);
            if (!is_eager)
                find_end(way, bytes, rest);
        } else {
            double work = is_eager ? rest / 2 : rest;

            /* Where both cores move a large message, piece by piece, each works for less than it
             * takes: as far apart as those of a stream are. */
            if (!is_eager && !way->is_same && job_way_gap(way->model, bytes) > way->receive)
                work = fmin(work, job_way_gap(way->model, bytes) - way->receive);
            way->receive_busy += work;
            way->extra = is_eager ? 0 : rest - work;
        }
        way->send_busy += way->path == NULL && is_eager ? rest / 2 : 0;
        if (way->path == NULL && is_eager)
            way->late = late_of(way, bytes);
        if (way->path == NULL && !way->is_same)
            way->cross = fmax(0, xy_message_curve(way->model, XY_MESSAGE_EXCHANGE, (double)bytes) -
                                     job_way_seconds(way, bytes));
        if (way->path == NULL)
            way->request = is_eager ? request_of(way->model, (double)bytes) / 2 : 0;
    } else if (is_eager) {
        way->send_busy += copy;
        way->receive_busy += copy;
    } else if (way->path == NULL) {
        way->receive_busy += copy;
    }
}

/* The time of the sender of a stream for one message. A short one is written into a line of the
 * receiver's and forgotten; the buffer of a longer one has to come back. */
static double issue_of(const xy_vjob_t *job, const xy_message_model_t *m, uint64_t bytes,
                       double gap)
{
    if (!(m->issue > 0) || bytes > XY_MESSAGE_SMALL || job->library->rules != NULL)
        return gap;
    return fmin(gap, m->issue);
}

/* The sender has started others since it last waited, all by calls that end them: a stream. Who
 * receives all of its messages gets them as far apart as those of a stream that was measured. */
static void set_stream(const xy_vjob_t *job, const job_way_t *way, xy_vmsg_t *m)
{
    double gap = job_way_gap(way->model, m->bytes);

    if (!(gap > 0))
        return;
    m->send_busy = fmin(m->send_busy, issue_of(job, way->model, m->bytes, gap));
    m->cross = 0;
}

/* Is it the first message of a blocking call of another library, whose sender has sent others
 * since it last received something? */
static bool is_next_call(const xy_vjob_t *job, const xy_vmsg_t *m)
{
    const job_proc_t *p = &job->procs[m->from];

    return m->coll != NULL && job->library->rules != NULL && !m->coll->call.is_nonblocking &&
           m->is_eager && p->flying > 0 && p->started == 0 && !p->has_received;
}

/* The calls are a stream of messages, whether or not the receiver comes to this one before it: once
 * a little behind, it stays behind. */
static void set_next_call(xy_vmsg_t *m)
{
    m->receive_busy += m->late;
    m->late = m->cross = 0;
}

void job_way_cost(xy_vjob_t *job, xy_vmsg_t *m)
{
    job_way_t *way = m->way;
    bool has_model, is_stream;

    if (job->has_link) {
        m->is_eager = true;
        m->extra = job->link.alpha + (double)m->bytes * job->link.beta;
        return;
    }
    m->is_eager = !m->is_synchronous && m->bytes <= way->eager;
    if (m->bytes != way->bytes || m->is_eager != way->was_eager)
        find_cost(job, way, m->bytes, m->is_eager);
    m->ends = way->ends;
    m->send_busy = way->send_busy;
    m->receive_busy = way->receive_busy;
    m->extra = way->extra;
    m->spared = way->spared;
    m->late = way->late;
    m->cross = way->cross;
    has_model = way->path == NULL && way->model != NULL;
    is_stream = has_model && !way->is_same && job->procs[m->from].flying > 0 &&
                job->procs[m->from].started > 0 && m->is_blocking && m->is_eager;
    if (!m->is_blocking && m->coll == NULL) {
        m->send_busy += way->request;
        m->receive_busy += way->request;
    }
    if (is_stream)
        set_stream(job, way, m);
    if (has_model && is_next_call(job, m))
        set_next_call(m);
}
