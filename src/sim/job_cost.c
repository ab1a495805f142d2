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

/* A message in all; between nodes, where that was measured, of one that is sent from several
 * places. */
static double all_of(const job_way_t *way, uint64_t bytes, bool is_split)
{
    double seconds =
        is_split && way->path != NULL ? xy_message_pieces(way->model, (double)bytes) : 0;

    return seconds > 0 ? seconds : job_way_seconds(way, bytes);
}

/* The time of the model beyond everything else; < 0: it is less. */
static double rest_of(const job_way_t *way, uint64_t bytes, bool is_eager)
{
    double rest = all_of(way, bytes, way->was_split) - way->send - way->receive - way->latency;

    if (way->is_same)
        rest -= job_way_seconds(way, 0) - way->send - way->receive; /* the switch */
    if (way->path == NULL)
        return fmax(0, rest);
    if (!is_eager)
        rest -= way->send + way->receive + 2 * way->latency;
    return rest - (double)bytes / way->path->bandwidth;
}

/* How far apart messages of a stream arrive, by the samples; 0: not measured. */
double job_way_gap(const xy_message_model_t *model, uint64_t bytes)
{
    if (!xy_message_has(model, "plogp", XY_MESSAGE_BLOCKING))
        return 0;
    return xy_message_value(model, "plogp", XY_MESSAGE_BLOCKING, (double)bytes).seconds -
           model->plogp_latency;
}

/* A message that came before its receive lies where another core has just written; receiving it
 * takes as long as messages of a stream are apart, more or less than one that is waited for. On one
 * core it was copied by its sender, too, which one that is waited for is not. */
static double late_of(const job_way_t *way, uint64_t bytes)
{
    double gap = job_way_gap(way->model, bytes);

    if (!(gap > 0))
        return 0;
    return way->is_same ? fmax(0, gap - way->send_busy - way->receive_busy)
                        : gap - way->receive_busy;
}

/* Several at once: what each takes of both cores behind the first, which is an exchange. On one
 * core all of them follow one another, with two switches. */
static double burst_of(const xy_vjob_t *job, const job_way_t *way, double bytes)
{
    double all = xy_message_burst(way->model, bytes);

    if (!(all > 0))
        return 0;
    if (way->is_same)
        return fmax(0, all - 2 * job->costs.swap) / (2 * XY_MESSAGE_BURST);
    return fmax(0, all - xy_message_exchange(way->model, bytes)) / (XY_MESSAGE_BURST - 1);
}

/* A message to itself is work in all its parts. */
static void find_self_cost(job_way_t *way, uint64_t bytes, bool is_eager)
{
    double all = fmax(xy_message_self(way->model, (double)bytes), 2 * way->send);

    way->send_busy = is_eager ? all / 2 : way->send;
    way->receive_busy = all - way->send_busy;
}

/* The extra time of so many bytes with so many processes on a core, compared with two, besides the
 * switch. */
static double crowd_of(const xy_message_model_t *m, const xy_crowd_t *crowd, double bytes)
{
    double least = xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, 0).seconds;
    double most = xy_message_value(m, NULL, XY_MESSAGE_BLOCKING, XY_MESSAGE_BCAST).seconds;
    double small = fmax(0, crowd->message - least), large = fmax(0, crowd->large - most);

    if (!(crowd->message > 0))
        return 0;
    return fmax(0, large - small) * fmin(bytes / XY_MESSAGE_BCAST, 1);
}

/* Both sides of a message of these bytes between two that are alone. */
static double work_of(const job_way_t *way, uint64_t bytes)
{
    return job_way_seconds(way, bytes) - way->latency;
}

/* Both sides of a message between cores where so many processes of each do the same: in units of
 * what they take alone. Others have the core while one waits for a line, and packets come many at a
 * time. In between by the bytes. */
static double apart_of(const xy_vjob_t *job, const job_way_t *way, int k, double bytes)
{
    const xy_crowd_t *crowd = k == 0 ? &job->core_model->crowd : &job->core_model->throng;
    double swap = job->costs.swap + job->swap[k], from = XY_MESSAGE_SMALL, to = XY_MESSAGE_BCAST;
    double small = work_of(way, XY_MESSAGE_SMALL), large = work_of(way, XY_MESSAGE_BCAST);
    double medium = work_of(way, XY_MESSAGE_MEDIUM);

    if (!(crowd->across > swap) || !(crowd->large_across > swap) || !(small > 0) || !(large > 0))
        return 1;
    small = (crowd->across - swap) / small;
    large = way->eager >= XY_MESSAGE_BCAST ? (crowd->large_across - swap) / large : small;
    if (crowd->medium_across > swap && medium > 0 && way->eager >= XY_MESSAGE_BCAST) {
        medium = (crowd->medium_across - swap) / medium;
        *(bytes < XY_MESSAGE_MEDIUM ? &large : &small) = medium;
        *(bytes < XY_MESSAGE_MEDIUM ? &to : &from) = XY_MESSAGE_MEDIUM;
    }
    return small + (large - small) * fmin(fmax(bytes - from, 0) / (to - from), 1);
}

static void find_apart(const xy_vjob_t *job, job_way_t *way, double bytes)
{
    for (int k = 0; k < JOB_CROWDS; k++)
        way->crowd[k] = job->core_model != NULL ? apart_of(job, way, k, bytes) : 1;
}

static void find_crowds(job_way_t *way, double bytes)
{
    const xy_message_model_t *m = way->model;
    const xy_crowd_t *crowds[JOB_CROWDS] = {&m->crowd, &m->throng};

    for (int k = 0; k < JOB_CROWDS; k++)
        way->crowd[k] = crowd_of(m, crowds[k], bytes);
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
    double hold = xy_message_hold(way->model, (double)bytes), all = all_of(way, bytes, false);
    double once = way->latency + (way->send + way->receive) / 2;

    /* In pieces it may be sent in another way. */
    if (way->was_split && all_of(way, bytes, true) < all - way->latency)
        return;
    if (!(hold > (all + way->latency) / 2))
        return;
    way->ends = rest > 1.5 * way->latency ? JOB_HELD : JOB_NOTICED;
    if (way->ends == JOB_NOTICED)
        return;
    way->extra = fmax(0, rest - 2 * once);
    way->spared = fmax(0, 2 * once - rest);
}

/* Sets the costs of a message of this size on a way, from the measured model or from defaults. */
static void find_cost(const xy_vjob_t *job, job_way_t *way, uint64_t bytes, bool is_eager,
                      bool is_split)
{
    double copy = rate_seconds((double)bytes, job->costs.copy);

    way->bytes = bytes;
    way->was_eager = is_eager;
    way->was_split = is_split;
    way->ends = JOB_WRITTEN;
    way->send_busy = way->send;
    way->receive_busy = way->receive;
    way->extra = way->spared = way->late = way->cross = way->burst = way->request = 0;
    if (way->is_self) {
        find_self_cost(way, bytes, is_eager);
    } else if (way->model != NULL) {
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
        if (way->path == NULL && is_eager) {
            way->late = late_of(way, bytes);
            if (!way->is_same)
                find_apart(job, way, (double)bytes);
        }
        if (way->path == NULL && !way->is_same)
            way->cross = fmax(0, xy_message_exchange(way->model, (double)bytes) -
                                     job_way_seconds(way, bytes));
        if (way->path == NULL) {
            way->burst = burst_of(job, way, (double)bytes);
            way->request = is_eager ? request_of(way->model, (double)bytes) / 2 : 0;
        }
        if (way->is_same)
            find_crowds(way, (double)(bytes < way->eager ? bytes : way->eager));
    } else if (is_eager) {
        way->send_busy += copy;
        way->receive_busy += copy;
    } else if (way->path == NULL) {
        way->receive_busy += copy;
    }
}

/* Others that its sender has started with it are on their way: both sides work as long as for the
 * next one of several at once, the sender no longer than messages of a stream are apart. What is
 * received before it is asked for takes as long as it did. Those that are there already fill the
 * first cache, and so would those of other processes. */
static void set_burst(xy_vmsg_t *m)
{
    bool is_apart = m->late != 0 && !m->way->is_same;
    double gap = is_apart ? m->receive_busy + m->late : INFINITY;
    /* A large one of the same core is copied once, as work of the receiver. */
    double most = m->is_eager || !m->way->is_same ? gap : m->send_busy;
    double send = fmin(m->way->burst / 2, most), receive = m->way->burst - send;

    if (is_apart)
        m->late += m->receive_busy - receive;
    m->send_busy = send;
    m->receive_busy = receive;
    m->cross = 0;
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
    if (!way->is_same)
        m->send_busy = fmin(m->send_busy, issue_of(job, way->model, m->bytes, gap));
    else if (m->late == 0)
        m->late = fmax(gap - m->send_busy, 0) - m->receive_busy;
    m->cross = 0;
}

static double times_of(const xy_vjob_t *job, const job_way_t *way, int32_t proc)
{
    const job_core_t *core = &job->cores[job->procs[proc].core];
    double times = 1;

    for (int k = 0; k < JOB_CROWDS; k++)
        times += core->crowd[k] * (way->crowd[k] - 1);
    return times;
}

/* Between cores that have many processes. One that comes before its receive takes what it took. */
static void set_apart(const xy_vjob_t *job, const job_way_t *way, xy_vmsg_t *m)
{
    double receive = m->receive_busy * times_of(job, way, m->to);

    if (m->late != 0)
        m->late += m->receive_busy - receive;
    m->crowd = m->send_busy + m->receive_busy;
    m->receive_busy = receive;
    m->send_busy *= times_of(job, way, m->from);
    m->crowd = m->send_busy + m->receive_busy - m->crowd;
}

/* Half of it each for sending and receiving. */
static void add_crowd(const job_core_t *core, const double more[JOB_CROWDS], xy_vmsg_t *m)
{
    for (int k = 0; k < JOB_CROWDS; k++) {
        m->send_busy += core->crowd[k] * more[k] / 2;
        m->receive_busy += core->crowd[k] * more[k] / 2;
        m->crowd += core->crowd[k] * more[k];
    }
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
    bool has_model, is_next, is_burst, is_stream;

    if (job->has_link) {
        m->is_eager = true;
        m->extra = job->link.alpha + (double)m->bytes * job->link.beta;
        return;
    }
    m->is_eager = !m->is_synchronous && m->bytes <= way->eager;
    if (m->bytes != way->bytes || m->is_eager != way->was_eager || m->is_split != way->was_split)
        find_cost(job, way, m->bytes, m->is_eager, m->is_split);
    m->ends = way->ends;
    m->send_busy = way->send_busy;
    m->receive_busy = way->receive_busy;
    m->extra = way->extra;
    m->spared = way->spared;
    m->late = way->late;
    m->cross = way->cross;
    has_model = way->path == NULL && way->model != NULL && !way->is_self;
    is_next = has_model && job->procs[m->from].flying > 0 && job->procs[m->from].started > 0;
    is_stream = is_next && m->is_blocking && m->is_eager;
    is_burst = is_next && !m->is_blocking && way->burst > 0;
    if (is_burst) {
        set_burst(m);
    } else if (!m->is_blocking && m->coll == NULL) {
        m->send_busy += way->request;
        m->receive_busy += way->request;
    }
    if (has_model && !way->is_same && m->is_eager && !is_burst)
        set_apart(job, way, m);
    if (is_stream)
        set_stream(job, way, m);
    if (has_model && is_next_call(job, m))
        set_next_call(m);
    if (way->is_same && !is_stream && !is_burst) /* the same core sends and receives */
        add_crowd(&job->cores[job->procs[m->from].core], way->crowd, m);
}
