/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trace of a job: a row for each process, grouped by its node, with what it computes, its MPI
 * calls, and inside these what it waits; messages as arrows from the start of the send to the end
 * of the receive.
 */
#include "sim/job_internal.h"

static uint64_t nanoseconds(double seconds)
{
    return (uint64_t)llround(seconds * 1e9);
}

/* Make the row of a process, or of a thread, on its node. */
static xy_status_t make_row(xy_vjob_t *job, job_proc_t *p)
{
    char name[64], group[32];
    xy_status_t st;

    if (p->process == p)
        snprintf(name, sizeof(name), "rank %d", (int)p->number);
    else
        snprintf(name, sizeof(name), "rank %d thread %d", (int)p->process->number, (int)p->thread);
    snprintf(group, sizeof(group), "node %d", (int)p->host);
    st = xy_trace_row_create(job->config.trace, name, group, &p->row);
    xy_trace_counter_at(p->row, nanoseconds(p->now), job->counter_core, p->core);
    return st;
}

xy_status_t job_record_start(xy_vjob_t *job, job_proc_t *p)
{
    return job->config.trace != NULL ? make_row(job, p) : XY_OK;
}

xy_status_t job_record_begin(xy_vjob_t *job)
{
    xy_trace_t *t = job->config.trace;
    xy_status_t st = XY_OK;

    if (t == NULL)
        return XY_OK;
    job->kind_compute = xy_trace_kind(t, "compute", XY_TRACE_COMPUTE, 0);
    job->kind_call = xy_trace_kind(t, "MPI", XY_TRACE_PROGRESS, 0);
    job->kind_wait = xy_trace_kind(t, "wait", XY_TRACE_WAIT, 0);
    job->counter_core = xy_trace_counter_name(t, XY_TRACE_CORE, "");
    for (int32_t i = 0; i < job->config.procs && st == XY_OK; i++)
        st = make_row(job, &job->procs[i]);
    return st;
}

void job_record_compute(xy_vjob_t *job, job_proc_t *p, double start, double end)
{
    if (p->row == NULL)
        return;
    xy_trace_state_at(p->row, nanoseconds(start), nanoseconds(end), job->kind_compute,
                      p->process->number, p->kernel);
}

void job_record_finish(const xy_vjob_t *job, job_proc_t *p)
{
    if (p->is_wait_held)
        xy_trace_state_at(p->row, p->held_since, p->held_end, job->kind_wait, p->process->number,
                          XY_TRACE_NO_LABEL);
    p->is_wait_held = false;
}

/* The first of two states at the same time is around the second: a wait that fills its call is
 * written behind it. */
void job_record_wait(xy_vjob_t *job, job_proc_t *p, double end)
{
    if (p->row == NULL)
        return;
    job_record_finish(job, p);
    p->held_since = nanoseconds(p->wait_since);
    p->held_end = nanoseconds(end);
    p->is_wait_held = true;
    if (p->label == 0)
        job_record_finish(job, p);
}

/* A message is known by its number, so that its halves meet in whatever order they end. */
static xy_trace_message_t half_of(const xy_vmsg_t *m, int32_t rank, int32_t peer)
{
    return (xy_trace_message_t){
        .key = m->step, .bytes = m->bytes, .rank = (uint32_t)rank, .peer = (uint32_t)peer};
}

void job_record_sent(xy_vjob_t *job, xy_vmsg_t *m)
{
    const job_proc_t *p = &job->procs[m->send->proc];
    xy_trace_message_t half;

    if (!job->config.has_steps || p->row == NULL)
        return;
    m->step = ++job->steps;
    half = half_of(m, m->from, m->to);
    xy_trace_put_sent(p->row, nanoseconds(m->sent), &half);
}

void job_record_message(xy_vjob_t *job, const xy_vmsg_t *m, double end)
{
    const job_proc_t *from = &job->procs[m->from];
    const job_proc_t *to = &job->procs[m->receive != NULL ? m->receive->proc : m->to];

    if (m->step != 0) {
        xy_trace_message_t half = half_of(m, m->to, m->from);

        xy_trace_put_received(to->row, nanoseconds(end), &half);
    } else if (to->row != NULL) {
        xy_trace_link_at(to->row, xy_trace_row_number(from->row), nanoseconds(m->sent),
                         xy_trace_row_number(to->row), nanoseconds(end), m->bytes,
                         XY_TRACE_NO_LABEL);
    }
}

void xy_vjob_set_call(xy_vjob_t *job, int32_t proc, uint32_t label)
{
    job_proc_t *p = &job->procs[proc];

    if (p->row != NULL && p->label != 0 && p->now > p->call_since)
        xy_trace_state_at(p->row, nanoseconds(p->call_since), nanoseconds(p->now), job->kind_call,
                          p->process->number, p->label);
    job_record_finish(job, p);
    p->label = label;
    p->call_since = p->now;
}

void xy_vjob_step(xy_vjob_t *job, int32_t proc, uint32_t site)
{
    const job_proc_t *p = &job->procs[proc];

    xy_trace_call_at(p->row, nanoseconds(p->now), (uint32_t)p->process->number, p->label, site);
}

void xy_vjob_step_collective(xy_vjob_t *job, int32_t proc, const xy_trace_collective_t *part)
{
    const job_proc_t *p = &job->procs[proc];

    if (p->row != NULL)
        xy_trace_put_collective(p->row, nanoseconds(p->now), part);
}

void xy_vjob_set_kernel(xy_vjob_t *job, int32_t proc, uint32_t label)
{
    job->procs[proc].kernel = label;
}
