/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work of a process that no call of its own does at once: receiving a message, answering one,
 * sending the next one of a collective. The process does it while it is in a call that waits; else
 * a communication core, a thread on its core, or nothing until it waits again. Pieces of direct
 * collectives that find all communication cores busy are also done by processes that wait, as the
 * library does.
 */
#include "sim/job_internal.h"

/* The process has done an item by the clock. */
static void handled(xy_vjob_t *job, job_copier_t *copier, job_item_t *item)
{
    job_proc_t *p = &job->procs[copier->who];
    job_core_t *core = &job->cores[p->core];
    job_node_t *node;

    job_proc_busy(job, p, job->clock.now);
    if (job_core_is_shared(core))
        core->busy = job->clock.now;
    node = job_node_use(p->node);
    item->done(job, item, p->now, node);
    job_node_drop(job, node);
    if (p->state == JOB_WAITING && job->host[p->host].has_comm)
        xy_vclock_set(&job->clock, &p->event, p->now); /* for shared work */
    job_wait_free(job, p);
    job_core_plan(job, core);
}

/* By the process itself, when it has come to it. */
static void handle(xy_vjob_t *job, job_proc_t *p, job_item_t *item)
{
    job_core_t *core = &job->cores[p->core];
    job_node_t *node = item->node;

    if (core->copier.item != NULL) {
        job_load_keep(core, item);
        return;
    }
    item->node = NULL;
    job_proc_idle(job, p, item->ready, node);
    job_node_drop(job, node);
    if (job_core_is_shared(core))
        job_proc_idle(job, p, core->busy, NULL);
    if (job_is_load(job, item)) {
        job_load_begin(job, p->core, p->number, item, p->now, handled);
        core->busy = job_core_is_shared(core) ? INFINITY : core->busy;
        return;
    }
    job_proc_busy(job, p, p->now + item->seconds(job, item, p->now));
    if (job_core_is_shared(core))
        core->busy = fmax(core->busy, p->now);
    node = job_node_use(p->node); /* later work of the process may depend on it */
    item->done(job, item, p->now, node);
    job_node_drop(job, node);
}

static void comm_over(xy_vjob_t *job, job_copier_t *copier, job_item_t *item);

static void comm_begin(xy_vjob_t *job, job_comm_core_t *core, job_item_t *item)
{
    double start = fmax(job->clock.now, item->ready);

    core->item = item;
    if (job_is_load(job, item))
        job_load_begin(job, core->core, core->event.index, item, start, comm_over);
    else
        xy_vclock_set(&job->clock, &core->event, start + item->seconds(job, item, start));
}

/* A communication core has done its item, and takes the next one of its host. */
static void comm_done(xy_vjob_t *job, job_comm_core_t *core)
{
    job_host_t *host = &job->host[core->host];
    job_item_t *item = core->item, *next = host->first;
    job_node_t *node = item->node;

    item->node = NULL;
    node = job_path_extend(job, node, job->clock.now, job->procs[item->proc].line);
    if (next != NULL) {
        host->first = next->next;
        comm_begin(job, core, next);
    } else {
        core->next = host->idle;
        host->idle = core;
    }
    item->done(job, item, job->clock.now, node);
    job_node_drop(job, node);
}

static void comm_over(xy_vjob_t *job, job_copier_t *copier, job_item_t *item)
{
    (void)item;
    comm_done(job, &job->comm[copier->who]);
}

void job_comm_due(xy_event_t *event)
{
    xy_vjob_t *job = event->owner;

    comm_done(job, &job->comm[event->index]);
}

/* ---- Helpers ---- */

/* Does the process wait, with its core to itself? */
static bool can_help(const xy_vjob_t *job, const job_proc_t *p)
{
    const job_core_t *core = &job->cores[p->core];

    return p->state == JOB_WAITING && p->now <= job->clock.now && core->copier.item == NULL &&
           (!job_core_is_shared(core) || (core->first < 0 && core->busy <= job->clock.now));
}

static void help(xy_vjob_t *job, job_proc_t *p, job_item_t *item)
{
    handle(job, p, item);
    if (p->state == JOB_WAITING)
        xy_vclock_set(&job->clock, &p->event, p->now); /* for more */
}

/* A process of the host that can help; NULL: none. */
static job_proc_t *take_helper(xy_vjob_t *job, job_host_t *host)
{
    while (host->helper >= 0) {
        job_proc_t *p = &job->procs[host->helper];

        host->helper = p->next_helper;
        p->is_helper = false;
        if (can_help(job, p))
            return p;
    }
    return NULL;
}

/* The first piece that any core can do, but before it one of the process itself. */
static job_item_t *take_shared(job_host_t *host, int32_t proc)
{
    job_item_t **found = NULL, *item;

    for (job_item_t **place = &host->first; (item = *place) != NULL; place = &item->next)
        if (item->is_shared && (found == NULL || item->proc == proc)) {
            found = place;
            if (item->proc == proc)
                break;
        }
    if (found == NULL)
        return NULL;
    item = *found;
    *found = item->next;
    if (host->last == &item->next)
        host->last = found;
    return item;
}

void job_work_help(xy_vjob_t *job, job_proc_t *p)
{
    job_host_t *host = &job->host[p->host];
    job_item_t *item = can_help(job, p) ? take_shared(host, p->process->number) : NULL;

    if (item != NULL) {
        help(job, p, item);
    } else if (!p->is_helper && host->has_comm) {
        p->is_helper = true;
        p->next_helper = host->helper;
        host->helper = p->number;
    }
}

/* By a communication core of the host, a process that waits, or the first of them that has nothing
 * else to do. */
static void comm_work(xy_vjob_t *job, job_host_t *host, job_item_t *item)
{
    job_comm_core_t *core = host->idle;
    job_proc_t *helper = core == NULL && item->is_shared ? take_helper(job, host) : NULL;

    if (core != NULL) {
        host->idle = core->next;
        comm_begin(job, core, item);
        return;
    }
    if (helper != NULL) {
        help(job, helper, item);
        return;
    }
    item->next = NULL;
    if (host->first == NULL)
        host->last = &host->first;
    *host->last = item;
    host->last = &item->next;
}

/* The thread of a process has done an item; `left` of a computation begins after it. */
static void interrupted(xy_vjob_t *job, job_proc_t *p, job_item_t *item, double start, double end,
                        double left)
{
    job_node_t *node = item->node;

    item->node = NULL;
    p->thread_busy = end;
    p->communication += end - start;
    xy_vclock_set(&job->clock, &p->event, end + left);
    node = job_path_extend(job, node, end, p->line);
    item->done(job, item, end, node);
    job_node_drop(job, node);
}

static void thread_over(xy_vjob_t *job, job_copier_t *copier, job_item_t *item)
{
    interrupted(job, &job->procs[copier->who], item, copier->start, job->clock.now, copier->left);
}

/* While the process computes, a thread on its core: that much later it has computed. */
static void interrupt(xy_vjob_t *job, job_proc_t *p, job_item_t *item, double at)
{
    job_copier_t *copier = &job->cores[p->core].copier;
    double start = fmax(at, p->thread_busy), left = p->event.when - start;

    if (copier->item != NULL) {
        job_load_keep(&job->cores[p->core], item);
    } else if (job_is_load(job, item)) {
        copier->left = left;
        xy_event_cancel(&p->event);
        job_load_begin(job, p->core, p->number, item, start, thread_over);
    } else {
        interrupted(job, p, item, start, start + item->seconds(job, item, start), left);
    }
}

static void keep(job_proc_t *p, job_item_t *item)
{
    item->next = NULL;
    *p->last = item;
    p->last = &item->next;
}

bool job_work_has_helper(const xy_vjob_t *job, const job_proc_t *p)
{
    return job->config.progress == XY_SIM_THREADS ||
           (job->config.progress == XY_SIM_TASKS && job->host[p->host].has_comm);
}

/* Handle work from another core for a process that waits for its turn: the process that has the
 * core takes it off the line, and the notified ones need not wait for that process. */
static void core_handle(xy_vjob_t *job, job_core_t *core, job_item_t *item, double at)
{
    double start = fmax(at, core->busy), end;
    job_node_t *node = item->node;

    if (core->copier.item != NULL) {
        job_load_keep(core, item);
        return;
    }
    end = start + item->seconds(job, item, start);
    item->node = NULL;
    core->busy = end;
    node = job_path_extend(job, node, end, job->procs[item->proc].line);
    item->done(job, item, end, node);
    job_node_drop(job, node);
}

void job_work(xy_vjob_t *job, job_item_t *item)
{
    job_proc_t *p = job_thread_for(job, &job->procs[item->proc]);
    double at = fmax(job->clock.now, item->ready);
    bool is_in_call =
        p->state == JOB_WAITING || p->state == JOB_PROBING || p->state == JOB_FINISHED;
    bool is_tasks = job->config.progress == XY_SIM_TASKS && job->host[p->host].has_comm;

    if (is_in_call && (!is_tasks || (p->now <= at && job->cores[p->core].copier.item == NULL))) {
        item->ready = at;
        handle(job, p, item);
    } else if (is_tasks) {
        comm_work(job, &job->host[p->host], item);
    } else if (p->state == JOB_COMPUTING) {
        interrupt(job, p, item, at);
    } else if (item->is_core && p->state == JOB_RESUMING) {
        core_handle(job, &job->cores[p->core], item, at);
    } else {
        keep(p->process, item);
    }
}

void job_work_later(xy_vjob_t *job, job_proc_t *p, job_item_t *item, xy_event_t *event)
{

    if (job_work_has_helper(job, p))
        xy_vclock_set(&job->clock, event, p->now);
    else
        keep(p->process, item);
}

static job_item_t *take(job_proc_t *p, job_item_t **place)
{
    job_item_t *item = *place;

    *place = item->next;
    if (p->last == &item->next)
        p->last = place;
    return item;
}

void job_work_take(xy_vjob_t *job, job_proc_t *p)
{
    job_work(job, take(p->process, &p->process->first));
}

void job_work_ready(xy_vjob_t *job, job_proc_t *p)
{
    job_proc_t *process = p->process;
    bool is_any = process->first != NULL;

    while (is_any) {
        job_item_t **place = &process->first;

        while (*place != NULL && ((*place)->ready > p->now || job_is_load(job, *place)))
            place = &(*place)->next;
        is_any = *place != NULL;
        if (is_any)
            handle(job, p, take(process, place));
    }
}

bool job_work_test(xy_vjob_t *job, job_proc_t *p)
{
    job_item_t **place = &p->process->first;

    while (*place != NULL && ((*place)->ready > p->now || !job_is_load(job, *place)))
        place = &(*place)->next;
    if (*place == NULL || job->cores[p->core].copier.item != NULL)
        return false;
    handle(job, p, take(p->process, place));
    p->is_leaving = true;
    return true;
}
