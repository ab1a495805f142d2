/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of a process. Each is a job_proc_t with a number after those of processes, a time and a
 * call of its own. What has come for the process, messages without a receive and work that nobody
 * does yet, is kept by the process.
 *
 *   process 0     thread, number room + 0     thread, number room + 1
 *   match, first  now, call, state            now, call, state
 *   now, call, state
 *
 * All are on one core and one of them has it at a time, so what they do in the memory of the
 * process is in the order of their times, also where they run ahead of the clock.
 */
#include <sys/mman.h>

#include "sim/job_internal.h"

/* Most threads that may be are never there: their memory is not touched before they are. */
job_proc_t *job_procs_make(const xy_vjob_t *job, size_t count)
{
    void *memory;

    if (job->config.threads == 0)
        return xy_calloc(count, sizeof(job_proc_t));
    memory = mmap(NULL, count * sizeof(job_proc_t), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

void job_procs_free(xy_vjob_t *job)
{
    size_t count = (size_t)job_room(&job->config) + (size_t)job->config.threads;

    if (job->config.threads == 0)
        xy_free(job->procs);
    else if (job->procs != NULL)
        munmap(job->procs, count * sizeof(*job->procs));
}

static bool is_in_call(const job_proc_t *p)
{
    return p->state == JOB_WAITING || p->state == JOB_PROBING;
}

static job_proc_t *next_of(const xy_vjob_t *job, const job_proc_t *p)
{
    int32_t next = p->process == p ? p->first_thread : p->next_thread;

    return next >= 0 ? &job->procs[next] : NULL;
}

/* ---- Beginning and end ---- */

static void append(const xy_vjob_t *job, job_proc_t *process, job_proc_t *thread)
{
    int32_t *place = &process->first_thread;

    while (*place >= 0)
        place = &job->procs[*place].next_thread;
    thread->next_thread = -1;
    *place = thread->number;
}

/* A thread of the process with its number: one that another has left, or a new one; NULL: reported.
 */
static job_proc_t *get(xy_vjob_t *job, job_proc_t *process)
{
    int32_t number = process->free_thread;
    bool is_new = number < 0;
    job_proc_t *p;

    if (is_new && job->threads == job->config.threads) {
        xy_fail(XY_ENOMEM, "a job in virtual time has at most %d threads beside its ranks",
                (int)job->config.threads);
        return NULL;
    }
    if (is_new) {
        number = job_room(&job->config) + job->threads++;
        if (job_proc_make_known(job, number, process->core) != XY_OK)
            return NULL;
    }
    p = &job->procs[number];
    if (is_new)
        p->thread = ++process->thread;
    else
        process->free_thread = p->next_thread;
    p->process = process;
    p->core = process->core;
    p->host = process->host;
    return !is_new || job_record_start(job, p) == XY_OK ? p : NULL;
}

/* A core that had one process has not counted until when it is busy. */
static void share_core(xy_vjob_t *job, const job_proc_t *by)
{
    job_core_t *core = &job->cores[by->core];

    if (!job_core_is_shared(core)) {
        core->busy = fmax(core->busy, by->now);
        core->holder = by->number;
    }
    core->has_threads = true;
}

xy_status_t xy_vjob_thread(xy_vjob_t *job, int32_t proc, int32_t *thread_p)
{
    job_proc_t *by = &job->procs[proc], *p = get(job, by->process);

    if (p == NULL)
        return XY_ENOMEM;
    share_core(job, by);
    append(job, by->process, p);
    job->begun++;
    p->is_there = true;
    p->label = 0;
    p->now = p->call_since = p->wait_since = by->now;
    job_node_set(job, &p->node, NULL);
    job_path_jump(job, p, by->node);
    job_proc_resume(job, p, by->now);
    *thread_p = p->number;
    return XY_OK;
}

int32_t xy_vjob_thread_of(const xy_vjob_t *job, int32_t proc)
{
    const job_proc_t *p = &job->procs[proc];

    return p->process != p ? p->thread : 0;
}

/* It no longer wants its core. */
static void leave_queue(xy_vjob_t *job, const job_proc_t *p)
{
    job_core_t *core = &job->cores[p->core];
    int32_t *place = &core->first, before = -1;

    while (*place >= 0 && *place != p->number) {
        before = *place;
        place = &job->procs[*place].next;
    }
    if (*place < 0)
        return;
    *place = p->next;
    if (core->last == p->number)
        core->last = before;
}

/* Times of a thread that has ended are the process's. */
static void add_up(job_proc_t *process, job_proc_t *p)
{
    process->compute += p->compute;
    process->communication += p->communication;
    process->slept += p->slept;
    p->compute = p->communication = p->slept = 0;
}

static void leave_process(xy_vjob_t *job, job_proc_t *p)
{
    job_proc_t *process = p->process;
    int32_t *place = &process->first_thread;

    while (*place != p->number)
        place = &job->procs[*place].next_thread;
    *place = p->next_thread;
    p->next_thread = process->free_thread;
    process->free_thread = p->number;
    add_up(process, p);
}

/* A thread ends wherever it is, because its process does. */
static void stop(xy_vjob_t *job, job_proc_t *p)
{
    for (size_t i = 0; p->state == JOB_WAITING && i < p->call.count; i++)
        if (p->call.requests[i] != NULL)
            p->call.requests[i]->is_waited = false;
    xy_event_cancel(&p->event);
    leave_queue(job, p);
    xy_vjob_finish(job, p->number);
}

void job_threads_finish(xy_vjob_t *job, job_proc_t *p)
{
    if (p->process != p) {
        leave_process(job, p);
        return;
    }
    while (p->first_thread >= 0)
        stop(job, &job->procs[p->first_thread]);
}

/* ---- Waiting for one another ---- */

bool xy_vjob_block(xy_vjob_t *job, int32_t proc, double seconds)
{
    job_proc_t *p = &job->procs[proc];

    job_node_set(job, &p->call.node, NULL);
    p->call = (job_call_t){.count = 0};
    p->state = JOB_RESUMING;
    p->is_blocked = true;
    if (seconds < INFINITY)
        xy_vclock_set(&job->clock, &p->event, p->now + fmax(0, seconds));
    return false;
}

void xy_vjob_wake(xy_vjob_t *job, int32_t proc, int32_t other)
{
    const job_proc_t *by = &job->procs[proc];
    job_proc_t *p = &job->procs[other];

    if (!p->is_blocked)
        return;
    p->is_blocked = false;
    job_node_set(job, &p->call.node, by->node);
    xy_vclock_set(&job->clock, &p->event, fmax(by->now, p->now));
}

/* ---- Work of the process ---- */

job_proc_t *job_thread_for(xy_vjob_t *job, job_proc_t *process)
{
    job_proc_t *found = NULL;

    if (process->first_thread < 0)
        return process;
    for (job_proc_t *p = process; p != NULL; p = next_of(job, p)) {
        if (p->state == JOB_RUNNING) /* it has the core, and takes up what it can itself */
            return p;
        if (is_in_call(p) && (found == NULL || p->now < found->now))
            found = p;
    }
    for (job_proc_t *p = process; p != NULL && found == NULL; p = next_of(job, p))
        if (p->state == JOB_COMPUTING)
            found = p;
    return found != NULL ? found : process;
}

void job_threads_catch_up(xy_vjob_t *job, job_proc_t *process)
{
    while (process->first != NULL && is_in_call(job_thread_for(job, process)))
        job_work_take(job, process);
}

void job_threads_probe(xy_vjob_t *job, job_proc_t *process)
{
    for (job_proc_t *p = process; p != NULL; p = next_of(job, p))
        if (p->state == JOB_PROBING)
            job_probe_arrived(job, p);
}

void job_threads_take(const job_proc_t *p, xy_vreq_t *const *requests, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (requests[i] != NULL)
            requests[i]->proc = p->number;
}
