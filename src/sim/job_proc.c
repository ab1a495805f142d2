/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process: its own time, which runs ahead of the clock until it must know what others did, and
 * its turn on the core. A core that has one process never asks.
 */
#include "sim/job_internal.h"

void job_proc_busy(xy_vjob_t *job, job_proc_t *p, double until)
{
    if (until <= p->now)
        return;
    p->communication += until - p->now;
    p->now = until;
    job_path_add(job, p, XY_VJOB_CALLING);
}

void job_proc_idle(xy_vjob_t *job, job_proc_t *p, double until, job_node_t *because)
{
    if (until <= p->now)
        return;
    p->now = until;
    if (because != NULL)
        job_path_jump(job, p, because);
    job_path_add(job, p, because != NULL ? XY_VJOB_CARRYING : XY_VJOB_SLEEPING);
}

/* ---- Turns ---- */

void job_core_plan(xy_vjob_t *job, job_core_t *core)
{
    if (core->first >= 0)
        xy_vclock_set(&job->clock, &core->event, fmax(core->busy, job->clock.now));
}

/* The process has its core: it runs until it waits. */
static void go(xy_vjob_t *job, job_proc_t *p)
{
    job_core_t *core = &job->cores[p->core];

    p->state = JOB_RUNNING;
    p->ahead = p->process->started = 0;
    job->config.run(job->config.owner, p->number);
    if (p->process != p || p->first_thread >= 0)
        job_threads_catch_up(job, p->process);
    if (!job_core_is_shared(core))
        return;
    core->holder = p->number;
    core->busy = fmax(core->busy, p->now);
    job_core_plan(job, core);
}

/* Continues a process if its core is free, else queues it for the core. */
static void want_core(xy_vjob_t *job, job_proc_t *p)
{
    job_core_t *core = &job->cores[p->core];

    if (!job_core_is_shared(core) || (core->first < 0 && core->busy <= job->clock.now)) {
        job_proc_idle(job, p, job->clock.now, p->call.node);
        job_node_set(job, &p->call.node, NULL);
        if (job_core_is_shared(core) && core->holder >= 0 && core->holder != p->number)
            job_proc_busy(job, p, p->now + job->costs.swap);
        go(job, p);
        return;
    }
    p->next = -1;
    if (core->first < 0)
        core->first = p->number;
    else
        job->procs[core->last].next = p->number;
    core->last = p->number;
    job_core_plan(job, core);
}

void job_core_due(xy_event_t *event)
{
    xy_vjob_t *job = event->owner;
    job_core_t *core = &job->cores[event->index];
    job_proc_t *p;

    if (core->busy > job->clock.now) {
        job_core_plan(job, core);
        return;
    }
    p = &job->procs[core->first];
    core->first = p->next;
    job_proc_idle(job, p, job->clock.now, NULL);
    job_node_set(job, &p->call.node, NULL);
    if (core->holder != p->number)
        job_proc_busy(job, p, p->now + job->costs.swap);
    go(job, p);
}

/* Continues a process after a test, a computation or a wait; an event of the clock. */
static void proc_due(xy_event_t *event)
{
    xy_vjob_t *job = event->owner;
    job_proc_t *p = &job->procs[event->index];

    job->totals.events++;
    switch (p->state) {
    case JOB_TESTING:
        job_test_due(job, p);
        if (p->state == JOB_RUNNING)
            go(job, p);
        break;
    case JOB_COMPUTING:
        p->now = job->clock.now;
        job_path_add(job, p, XY_VJOB_COMPUTING);
        job_record_compute(job, p, p->compute_since, p->now);
        go(job, p);
        break;
    case JOB_WAITING:
        job_work_help(job, p);
        job_sim_wait(job, p);
        break;
    default:
        p->is_blocked = false;
        want_core(job, p);
    }
}

void job_proc_resume(xy_vjob_t *job, job_proc_t *p, double when)
{
    p->state = JOB_RESUMING;
    xy_vclock_set(&job->clock, &p->event, when);
}

xy_status_t job_proc_init(xy_vjob_t *job, int32_t proc, int32_t core)
{
    job_proc_t *p = &job->procs[proc];

    p->number = proc;
    p->core = core;
    p->host = job->host_of[core];
    p->last = &p->first;
    p->process = p;
    p->first_thread = p->free_thread = p->next_thread = -1;
    xy_hash_init(&p->pairs, XY_HASH_U64);
    xy_event_init(&p->event, proc_due, job, proc);
    return xy_match_init(&p->match) == XY_OK ? XY_OK : xy_fail_memory("simulating a job");
}

/* ---- Calls ---- */

double xy_vjob_now(const xy_vjob_t *job, int32_t proc)
{
    return job->procs[proc].now;
}

int32_t xy_vjob_node(const xy_vjob_t *job, int32_t proc)
{
    return job->procs[proc].host;
}

int32_t xy_vjob_core(const xy_vjob_t *job, int32_t proc)
{
    return job->procs[proc].core;
}

bool xy_vjob_compute(xy_vjob_t *job, int32_t proc, double seconds)
{
    job_proc_t *p = &job->procs[proc];
    double start = p->now;

    if (!(seconds > 0))
        return true;
    p->compute += seconds;
    if (job->config.progress != XY_SIM_THREADS) {
        p->now += seconds;
        job_path_add(job, p, XY_VJOB_COMPUTING);
        job_record_compute(job, p, start, p->now);
        return true;
    }
    p->state = JOB_COMPUTING;
    p->thread_busy = p->compute_since = start;
    xy_vclock_set(&job->clock, &p->event, start + seconds);
    while (p->process->first != NULL && p->state == JOB_COMPUTING) /* the thread has the core now */
        job_work_take(job, p);
    return false;
}

bool xy_vjob_sleep(xy_vjob_t *job, int32_t proc, double seconds)
{
    job_proc_t *p = &job->procs[proc];

    if (!(seconds > 0))
        return true;
    p->slept += seconds;
    job_proc_resume(job, p, p->now + seconds);
    return false;
}

void xy_vjob_finish(xy_vjob_t *job, int32_t proc)
{
    job_proc_t *p = &job->procs[proc];

    job_threads_finish(job, p);
    job_record_finish(job, p);
    p->is_blocked = false;
    p->state = JOB_FINISHED;
    p->is_there = false;
    p->end = p->now;
    job->finished++;
    while (p->first != NULL)
        job_work_take(job, p);
}

void xy_vjob_set_line(xy_vjob_t *job, int32_t proc, uint32_t line)
{
    job->procs[proc].line = line;
}
