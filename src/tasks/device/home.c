/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks in the main memory. Nothing here blocks: the thread that called puts kernels and copies
 * into streams while others gather and run. Where there are no cores it runs them itself, as soon
 * as what they need has come.
 */
#include "tasks/device/device_internal.h"

enum { JOBS = 16 }; /* that gather at once, beside those of cores */

/* How often it is looked whether a copy has come, while cores run. */
static const double LOOK_SECONDS = 20e-6;

xy_status_t device_jobs_init(device_tasks_t *e)
{
    size_t n = JOBS + (size_t)e->how->cores;

    e->job_count = (int32_t)n;
    e->jobs = xy_calloc(n, sizeof(*e->jobs));
    e->job_addresses = xy_calloc(n * (size_t)e->base.most, sizeof(*e->job_addresses));
    if (e->jobs == NULL || e->job_addresses == NULL)
        return XY_ENOMEM;
    for (size_t i = 0; i < n; i++)
        e->jobs[i].addresses = e->job_addresses + i * (size_t)e->base.most;
    return XY_OK;
}

void device_jobs_cleanup(device_tasks_t *e)
{
    xy_free(e->jobs);
    xy_free(e->job_addresses);
}

xy_status_t device_job_begin(device_tasks_t *e, int32_t worker, int32_t core, xy_op_id_t op)
{
    job_t *job = e->jobs;

    while (job->step != JOB_FREE)
        job++;
    job->step = JOB_GATHERS;
    job->op = op;
    job->worker = worker;
    job->core = core;
    e->job_used++;
    if (core >= 0)
        e->cores[core].job = job;
    job->count = xy_graph_accesses(e->base.graph, op, &job->accesses);
    return device_home_ask(e, job->accesses, job->count);
}

static xy_status_t end(device_tasks_t *e, job_t *job)
{
    job->step = JOB_FREE;
    e->job_used--;
    device_home_give(e, job->accesses, job->count);
    return device_task_over(e, job->worker, job->op);
}

static xy_status_t run_here(device_tasks_t *e, job_t *job)
{
    xy_task_turn_t turn = {e->how->gpu_count, job->op, job->addresses};

    e->how->run(e->how->arg, &turn);
    return end(e, job);
}

void device_jobs_drop(device_tasks_t *e)
{
    for (int32_t i = 0; i < e->job_count; i++)
        if (e->jobs[i].step == JOB_GATHERS) {
            e->jobs[i].step = JOB_FREE;
            e->job_used--;
        }
}

/* Start a job whose data is home. It does not begin where no core is free, or the run is stopped.
 */
static xy_status_t start(device_tasks_t *e, job_t *job, bool *is_moving_p)
{
    core_t *core = job->core >= 0 ? &e->cores[job->core] : NULL;

    if (device_is_stopped(e))
        return XY_OK;
    if (core == NULL && e->how->cores > 0) {
        core = device_core_idle(e);
        if (core == NULL)
            return XY_OK;
    }
    *is_moving_p = true;
    device_home_take(e, job->accesses, job->count, job->addresses);
    job->step = JOB_RUNS;
    if (core == NULL)
        return run_here(e, job);
    device_core_give(core, job);
    return XY_OK;
}

/* Ends the job of a core if it has run. */
static xy_status_t look_at_core(device_tasks_t *e, core_t *core, bool *is_moving_p)
{
    job_t *job = core->job;

    if (atomic_load_explicit(&core->mail, memory_order_acquire) != MAIL_RAN)
        return XY_OK;
    atomic_store_explicit(&core->mail, MAIL_NONE, memory_order_relaxed);
    device_pace_core(e, core);
    if (e->is_recording)
        device_record_home(e, core->worker, job->op, core->start, core->end);
    core->job = NULL;
    e->now = device_now(e) - e->start;
    *is_moving_p = true;
    return end(e, job);
}

xy_status_t device_jobs_pump(device_tasks_t *e, bool *is_moving_p)
{
    xy_status_t st = XY_OK;

    for (int32_t i = 0; i < e->how->cores && st == XY_OK; i++)
        st = look_at_core(e, &e->cores[i], is_moving_p);
    for (int32_t i = 0; e->job_used > 0 && i < e->job_count && st == XY_OK; i++) {
        job_t *job = &e->jobs[i];
        bool has_come = false;

        if (job->step == JOB_GATHERS)
            st = device_home_has_come(e, job->accesses, job->count, &has_come, NULL);
        if (st == XY_OK && has_come)
            st = start(e, job, is_moving_p);
    }
    return st;
}

/* ---- Waiting ---- */

bool device_jobs_are_running(const device_tasks_t *e)
{
    for (int32_t i = 0; i < e->job_count; i++)
        if (e->jobs[i].step == JOB_RUNS)
            return true;
    return false;
}

/* Something that is not over: what a job waits for, or the first kernel of a GPU. */
static xy_status_t find_awaited(device_tasks_t *e, ticket_t *ticket_p)
{
    bool has_come = true;
    xy_status_t st = XY_OK;

    *ticket_p = (ticket_t){0};
    for (int32_t i = 0; i < e->job_count && st == XY_OK && has_come; i++)
        if (e->jobs[i].step == JOB_GATHERS)
            st =
                device_home_has_come(e, e->jobs[i].accesses, e->jobs[i].count, &has_come, ticket_p);
    if (!has_come || st != XY_OK)
        return st;
    *ticket_p = (ticket_t){0};
    for (int32_t g = 0; g < e->how->gpu_count; g++) {
        lane_t *lane = &e->devices[g].lanes[LANE_COMPUTE];

        if (lane->reached < lane->put) {
            *ticket_p = (ticket_t){lane, lane->reached + 1};
            return XY_OK;
        }
    }
    return XY_OK;
}

xy_status_t device_jobs_wait(device_tasks_t *e, bool *is_moving_p)
{
    uint32_t rings = device_cores_rings(e);
    ticket_t ticket;
    xy_status_t st = find_awaited(e, &ticket);

    if (st == XY_OK) /* a core may have rung before the count was taken */
        st = device_jobs_pump(e, is_moving_p);
    if (st != XY_OK || *is_moving_p)
        return st;
    *is_moving_p = ticket.lane != NULL || device_jobs_are_running(e);
    if (device_jobs_are_running(e))
        device_cores_wait(e, rings, ticket.lane != NULL ? LOOK_SECONDS : 0);
    else if (ticket.lane != NULL)
        st = device_wait(ticket);
    return st;
}
