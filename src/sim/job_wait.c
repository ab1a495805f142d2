/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting, testing, probing, cancelling: the calls that depend on what others have done by the time
 * of the process, and that do its work.
 */
#include "sim/job_internal.h"

static bool is_over(const job_proc_t *p, const xy_vreq_t *r)
{
    return r->is_done && r->done_at <= p->now;
}

static bool are_over(const job_proc_t *p, xy_vreq_t *const *requests, size_t count,
                     xy_vjob_how_t how)
{
    bool is_any = false;

    for (size_t i = 0; i < count; i++) {
        if (requests[i] == NULL)
            continue;
        if (is_over(p, requests[i]) == (how == XY_VJOB_ONE))
            return how == XY_VJOB_ONE;
        is_any = true;
    }
    return how == XY_VJOB_ALL || !is_any;
}

/* ---- Wait ---- */

/* The clock must come to the process before it continues; it keeps its core. */
static void sync_later(xy_vjob_t *job, job_proc_t *p)
{
    p->state = JOB_TESTING;
    xy_vclock_set(&job->clock, &p->event, p->now);
}

/* May the process leave its call? False: not before its core is free; job_wait_free() comes then.
 */
static bool leave(xy_vjob_t *job, job_proc_t *p)
{
    const job_copier_t *copier = &job->cores[p->core].copier;

    p->is_leaving = copier->item != NULL && copier->who == p->number;
    return !p->is_leaving && job_sim_leave(job, p);
}

static void wait_over(xy_vjob_t *job, job_proc_t *p)
{
    job_call_t *c = &p->call;

    if (!leave(job, p))
        return;
    for (size_t i = 0; c->how == XY_VJOB_ONE && i < c->count; i++)
        if (c->requests[i] != NULL)
            c->requests[i]->is_waited = false;
    job_record_wait(job, p, fmax(p->now, c->until));
    job_proc_resume(job, p, fmax(p->now, c->until));
}

/* A request is complete: by when, and what that came from. */
static void count_done(xy_vjob_t *job, job_proc_t *p, xy_vreq_t *r)
{
    job_call_t *c = &p->call;

    r->is_waited = false;
    c->left--;
    if (c->how == XY_VJOB_ONE ? c->has_until && r->done_at >= c->until : r->done_at < c->until)
        return;
    c->has_until = true;
    c->until = r->done_at;
    job_node_set(job, &c->node, r->node);
}

void job_wait_done(xy_vjob_t *job, job_proc_t *p, xy_vreq_t *r)
{
    count_done(job, p, r);
    if (p->call.left == 0)
        wait_over(job, p);
}

/* Starts to wait for one or all requests; ends at once if they are complete. */
static void begin_wait(xy_vjob_t *job, job_proc_t *p, xy_vreq_t *const *requests, size_t count,
                       xy_vjob_how_t how)
{
    p->call = (job_call_t){.requests = requests, .count = count, .how = how};
    p->state = JOB_WAITING;
    p->wait_since = p->now;
    for (size_t i = 0; i < count; i++) {
        xy_vreq_t *r = requests[i];

        if (r == NULL)
            continue;
        p->call.left++;
        r->is_waited = true;
        if (r->is_done)
            count_done(job, p, r);
    }
    if (how == XY_VJOB_ONE)
        p->call.left = p->call.has_until ? 0 : 1;
    if (p->call.left == 0)
        wait_over(job, p);
    while (p->process->first != NULL && p->state == JOB_WAITING)
        job_work_take(job, p);
    if (p->state == JOB_WAITING && (job->host[p->host].has_comm || job->sims != NULL))
        xy_vclock_set(&job->clock, &p->event, p->now);
}

bool xy_vjob_wait(xy_vjob_t *job, int32_t proc, xy_vreq_t *const *requests, size_t count,
                  xy_vjob_how_t how)
{
    job_proc_t *p = &job->procs[proc];

    job_work_ready(job, p);
    if (p->process->first_thread >= 0)
        job_threads_take(p, requests, count);
    for (size_t i = 0; i < count; i++)
        if (requests[i] != NULL && requests[i]->measured != 0)
            job_sim_measure(p, requests[i]);
    for (size_t i = 0; i < count && p->process->started > 0; i++)
        if (requests[i] != NULL && requests[i]->kind == JOB_RECEIVE)
            p->process->started = 0;
    if (are_over(p, requests, count, how))
        return true;
    begin_wait(job, p, requests, count, how);
    return false;
}

/* ---- Test, probe, cancel ---- */

static void probe_found(job_proc_t *p, xy_vmsg_t *m)
{
    p->flag = true;
    p->found = (xy_vjob_status_t){.source = m->from,
                                  .tag = m->entry.envelope.tag,
                                  .bytes = m->bytes,
                                  .send_data = m->send_data};
    if (!p->call.takes)
        return;
    xy_match_drop(&p->process->match, &m->entry);
    m->is_taken = true;
    p->taken = m;
}

static bool probe_now(job_proc_t *p)
{
    xy_match_entry_t *found = xy_match_find(&p->process->match, &p->call.envelope);

    if (found != NULL)
        probe_found(p, (xy_vmsg_t *)found);
    return found != NULL;
}

void job_probe_arrived(xy_vjob_t *job, job_proc_t *p)
{
    const xy_match_entry_t *found = xy_match_find(&p->process->match, &p->call.envelope);

    if (found == NULL || !leave(job, p))
        return;
    job_node_set(job, &p->call.node, ((const xy_vmsg_t *)found)->node);
    probe_now(p);
    job_record_wait(job, p, fmax(p->now, job->clock.now));
    job_proc_resume(job, p, fmax(p->now, job->clock.now));
}

/* A receive that no message has met, or a send that no receive has. */
static void cancel_now(xy_vjob_t *job, xy_vreq_t *r)
{
    job_proc_t *p = &job->procs[r->proc];
    xy_vmsg_t *m = r->message;

    if (r->kind == JOB_RECEIVE && r->is_posted) {
        xy_match_unpost(&p->process->match, &r->entry);
        r->is_posted = false;
    } else if (r->kind == JOB_SEND && m != NULL && m->receive == NULL && !m->is_taken) {
        m->send = NULL;
        if (m->is_captured && job->config.drop != NULL)
            job->config.drop(job->config.owner, m->send_data);
        if (!m->is_arrived) {
            m->is_dead = true;
        } else {
            xy_match_drop(&job->procs[m->to].match, &m->entry);
            job_message_free(job, m);
        }
        r->message = NULL;
    } else {
        return;
    }
    r->is_cancelled = true;
    if (!r->is_done)
        job_request_done(job, r, p->now, p->node);
}

static void test_failed(xy_vjob_t *job, job_proc_t *p)
{
    job_proc_busy(job, p, p->now + job->costs.test);
    job_proc_resume(job, p, p->now);
}

/* The answer of the call, at the time of the process. False: it waits, or continues later. */
static bool call_now(xy_vjob_t *job, job_proc_t *p)
{
    job_call_t *c = &p->call;

    if (c->cancel != NULL) {
        cancel_now(job, c->cancel);
        return true;
    }
    job_work_ready(job, p);
    p->flag = c->is_probe ? probe_now(p) : are_over(p, c->requests, c->count, c->how);
    if (p->flag)
        return true;
    if (c->is_waiting) {
        p->state = JOB_PROBING;
        p->wait_since = p->now;
        while (p->process->first != NULL && p->state == JOB_PROBING)
            job_work_take(job, p);
        job_sim_wait(job, p);
        return false;
    }
    if (!job_work_test(job, p) && !job_sim_help(job, p))
        test_failed(job, p);
    return false;
}

static void test_helped(xy_vjob_t *job, job_proc_t *p)
{
    const job_call_t *c = &p->call;

    job_proc_busy(job, p, job->clock.now);
    p->flag = c->is_probe ? probe_now(p) : are_over(p, c->requests, c->count, c->how);
    if (p->flag)
        job_proc_resume(job, p, p->now);
    else
        test_failed(job, p);
}

void job_wait_free(xy_vjob_t *job, job_proc_t *p)
{
    if (!p->is_leaving)
        return;
    p->is_leaving = false;
    if (p->state == JOB_WAITING) {
        p->call.until = fmax(p->call.until, job->clock.now);
        wait_over(job, p);
    } else if (p->state == JOB_PROBING) {
        job_probe_arrived(job, p);
    } else if (leave(job, p)) {
        test_helped(job, p);
    }
}

void job_test_due(xy_vjob_t *job, job_proc_t *p)
{
    if (call_now(job, p))
        p->state = JOB_RUNNING;
}

static bool call(xy_vjob_t *job, job_proc_t *p)
{
    if (p->now <= job->clock.now)
        return call_now(job, p);
    sync_later(job, p);
    return false;
}

bool xy_vjob_test(xy_vjob_t *job, int32_t proc, xy_vreq_t *const *requests, size_t count,
                  xy_vjob_how_t how)
{
    job_proc_t *p = &job->procs[proc];

    if (p->process->first_thread >= 0)
        job_threads_take(p, requests, count);
    p->call = (job_call_t){.requests = requests, .count = count, .how = how};
    return call(job, p);
}

bool xy_vjob_probe(xy_vjob_t *job, int32_t proc, const xy_vjob_p2p_t *p2p, bool is_waiting,
                   bool take)
{
    job_proc_t *p = &job->procs[proc];

    p->taken = NULL;
    p->call = (job_call_t){
        .is_probe = true, .is_waiting = is_waiting, .takes = take, .envelope = job_envelope(p2p)};
    return call(job, p);
}

bool xy_vjob_cancel(xy_vjob_t *job, int32_t proc, xy_vreq_t *request)
{
    job_proc_t *p = &job->procs[proc];

    if (p->process->first_thread >= 0)
        job_threads_take(p, &request, 1);
    p->call = (job_call_t){.cancel = request};
    return call(job, p);
}

bool xy_vjob_flag(const xy_vjob_t *job, int32_t proc)
{
    return job->procs[proc].flag;
}

void xy_vjob_found(const xy_vjob_t *job, int32_t proc, xy_vjob_status_t *status)
{
    *status = job->procs[proc].found;
}

xy_vmsg_t *xy_vjob_taken(const xy_vjob_t *job, int32_t proc)
{
    return job->procs[proc].taken;
}

/* ---- What can come ---- */

bool xy_vjob_is_quiet(const xy_vjob_t *job, int32_t proc)
{
    const job_proc_t *p = &job->procs[proc];
    uint64_t kept = 0;

    for (const xy_match_entry_t *e = p->match.first; e != NULL; e = e->list_next)
        kept++;
    return p->incoming == p->gone + kept;
}

bool xy_vjob_is_unmet(const xy_vreq_t *request)
{
    return request->kind == JOB_RECEIVE && request->is_posted && !request->is_done;
}

bool xy_vjob_is_probing(const xy_vjob_t *job, int32_t proc)
{
    return job->procs[proc].state == JOB_PROBING;
}

uint64_t xy_vjob_incoming(const xy_vjob_t *job, int32_t proc)
{
    return job->procs[proc].incoming + job->procs[proc].arrived;
}

void xy_vjob_each_unmet(const xy_vjob_t *job, int32_t proc,
                        void (*found)(void *user, const void *send_data), void *user)
{
    for (const xy_match_entry_t *e = job->procs[proc].match.first; e != NULL; e = e->list_next)
        found(user, ((const xy_vmsg_t *)e)->send_data);
}
