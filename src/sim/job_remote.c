/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided: a process reads or writes memory of another, which takes no part. The bytes take as
 * long as a message of that size that meets its receive at once and has all links to itself; the
 * receiver's part takes its time and none of its core.
 */
#include "sim/job_internal.h"

/* Seconds from the beginning of the send to the end of the receive. */
static double alone(const xy_vjob_t *job, const xy_vmsg_t *m)
{
    const job_way_t *way = m->way;
    double seconds;

    if (job->has_link)
        return m->extra;
    seconds = m->send_busy + way->latency + m->extra + m->receive_busy;
    if (way->path == NULL)
        return seconds;
    seconds += (double)m->bytes / way->path->bandwidth;
    if (m->ends == JOB_HELD)
        seconds += way->send + way->receive + 2 * way->latency;
    return m->is_eager ? seconds : seconds + way->send + way->receive + 2 * way->latency;
}

/* One way of it, from `start` on; *m is described for the trace. */
static bool travel(xy_vjob_t *job, int32_t from, int32_t to, uint64_t bytes, double start,
                   xy_vmsg_t *m, double *end_p)
{
    *m = (xy_vmsg_t){.from = from, .to = to, .bytes = bytes, .sent = start};
    if (!job->has_link) {
        m->way = job_way(job, from, to);
        if (m->way == NULL)
            return false;
    }
    job_way_cost(job, m);
    *end_p = start + alone(job, m);
    job_record_message(job, m, *end_p);
    return true;
}

bool job_remote_alone(xy_vjob_t *job, int32_t from, int32_t to, double start, double *end_p)
{
    xy_vmsg_t m = {.from = from, .to = to, .sent = start};

    if (!job->has_link) {
        m.way = job_way(job, from, to);
        if (m.way == NULL)
            return false;
    }
    job_way_cost(job, &m);
    *end_p = start + alone(job, &m);
    return true;
}

bool xy_vjob_remote(xy_vjob_t *job, int32_t proc, const xy_vjob_remote_t *remote, double *end_p)
{
    job_proc_t *p = &job->procs[proc];
    int32_t from = p->process->number;
    double busy, end;
    xy_vmsg_t m;

    if (!travel(job, from, remote->peer, remote->bytes, p->now, &m, &end))
        return false;
    busy = p->now + m.send_busy;
    if (remote->is_answered &&
        !travel(job, remote->peer, from, remote->answer_bytes, end, &m, &end))
        return false;
    if (!remote->is_hidden)
        job_count_message(job, from, remote->peer, remote->bytes + remote->answer_bytes, false);
    job_proc_busy(job, p, busy);
    *end_p = end;
    return true;
}

xy_vreq_t *xy_vjob_until(xy_vjob_t *job, int32_t proc, double time)
{
    job_proc_t *p = &job->procs[proc];
    xy_vreq_t *r = job_request_timed(job, proc);

    if (r == NULL)
        return NULL;
    r->is_done = true;
    r->done_at = time;
    r->node = job_node_use(p->node);
    return r;
}

bool xy_vjob_sync(xy_vjob_t *job, int32_t proc)
{
    return xy_vjob_test(job, proc, NULL, 0, XY_VJOB_ALL);
}
