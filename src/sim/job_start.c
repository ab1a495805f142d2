/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that begin: those of the job all at once, and others that these start while it runs. A
 * number may be used again when its process has finished.
 */
#include "sim/job_internal.h"

xy_status_t job_check_core(const xy_vjob_t *job, const char *what, int32_t number, int32_t core)
{
    if (core >= 0 && core < job->core_count)
        return XY_OK;
    return xy_fail(XY_EINVAL, "%s %d is on core %d, but machine %s has cores 0 to %d", what,
                   (int)number, (int)core, job->config.machine->name, job->core_count - 1);
}

static void count_begun(xy_vjob_t *job, job_proc_t *p)
{
    p->is_there = p->has_core = true;
    job->cores[p->core].procs++;
    job->begun++;
}

int32_t job_room(const xy_vjob_config_t *config)
{
    return config->room > config->procs ? config->room : config->procs;
}

xy_status_t job_start_all(xy_vjob_t *job)
{
    const xy_vjob_config_t *c = &job->config;
    size_t room = (size_t)job_room(c) + (size_t)c->threads;
    xy_status_t st = XY_OK;

    job->procs = job_procs_make(job, room);
    job->core_of = xy_malloc((size_t)c->procs * sizeof(*job->core_of));
    if (job->procs == NULL || job->core_of == NULL)
        return xy_fail_memory("simulating a job");
    memcpy(job->core_of, c->core_of, (size_t)c->procs * sizeof(*job->core_of));
    for (int32_t i = 0; i < c->procs && st == XY_OK; i++) {
        st = job_check_core(job, "process", i, c->core_of[i]);
        if (st != XY_OK)
            return st;
        job->known = i + 1;
        st = job_proc_init(job, i, c->core_of[i]);
        count_begun(job, &job->procs[i]);
    }
    return st;
}

void job_proc_drop_messages(xy_vjob_t *job, job_proc_t *p)
{
    for (xy_match_entry_t *e = p->match.first; e != NULL; e = e->list_next) {
        xy_vmsg_t *m = (xy_vmsg_t *)e;

        if (m->is_captured && job->config.drop != NULL)
            job->config.drop(job->config.owner, m->send_data);
        p->gone++;
    }
}

/* A process that has finished leaves its core to those that begin there. */
static void leave_core(xy_vjob_t *job, job_proc_t *p)
{
    if (!p->has_core || p->is_there)
        return;
    p->has_core = false;
    job->cores[p->core].procs--;
    if (job->cores[p->core].holder == p->number)
        job->cores[p->core].holder = -1;
}

/* A core that had one process has not counted until when it is busy. */
static void make_room(xy_vjob_t *job, int32_t core)
{
    job_core_t *c = &job->cores[core];
    bool was_alone = !job_core_is_shared(c);

    for (int32_t i = 0; i < job->known; i++) {
        job_proc_t *p = &job->procs[i];

        if (p->core != core || !p->has_core)
            continue;
        if (was_alone && p->is_there) {
            c->busy = fmax(c->busy, p->now);
            c->holder = i;
        }
        leave_core(job, p);
    }
}

/* The remains of the one that had the number before. */
static xy_status_t renew(xy_vjob_t *job, job_proc_t *p, int32_t core)
{
    leave_core(job, p);
    job_proc_drop_messages(job, p);
    xy_match_cleanup(&p->match);
    p->core = core;
    p->host = job->host_of[core];
    p->label = p->kernel = 0;
    p->taken = NULL;
    return xy_match_init(&p->match) == XY_OK ? XY_OK : xy_fail_memory("simulating a job");
}

/* Numbers between those that are known and the new one have not been used either. */
xy_status_t job_proc_make_known(xy_vjob_t *job, int32_t proc, int32_t core)
{
    xy_status_t st = XY_OK;

    while (job->known <= proc && st == XY_OK)
        st = job_proc_init(job, job->known++, core);
    return st;
}

xy_status_t xy_vjob_start(xy_vjob_t *job, int32_t proc, int32_t other, int32_t core)
{
    job_proc_t *by = &job->procs[proc], *p = &job->procs[other];
    bool is_new = other >= job->known;
    xy_status_t st = job_check_core(job, "process", other, core);
    int32_t host = is_new ? -1 : p->host;
    double when;

    if (st == XY_OK)
        st = is_new ? job_proc_make_known(job, other, core) : renew(job, p, core);
    if (st == XY_OK && (p->host != host || p->row == NULL))
        st = job_record_start(job, p);
    if (st != XY_OK)
        return st;
    make_room(job, core);
    count_begun(job, p);
    job_proc_busy(job, by, by->now + job->costs.start);
    if (!job_remote_alone(job, proc, other, by->now, &when))
        return job->status;
    when = fmax(when, p->end);
    p->absent += when - p->end;
    p->now = p->call_since = p->wait_since = when;
    job_node_set(job, &p->node, NULL);
    job_path_jump(job, p, by->node);
    job_proc_resume(job, p, when);
    return XY_OK;
}

bool xy_vjob_is_over(const xy_vjob_t *job, int32_t proc)
{
    const job_proc_t *p = &job->procs[proc];

    return !p->is_there && p->end <= job->clock.now;
}
