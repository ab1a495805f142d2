/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking collectives that something makes progress with: communication cores, progress
 * threads, a split. Those of Xylem whose processes are on one node, each alone on its core, are
 * done by the simulated node (node.h): the one that `xylem bench nbc --simulate` runs, here by the
 * clock of the job. A process comes, stays for what belongs to its start call, and while it waits
 * its core is one of the node. There is a node for each way to place and order progress threads.
 */
#include "sim/job_internal.h"
#include "sim/sim_internal.h"

#include <stdlib.h>

struct job_sim_way {
    const xy_threads_t *place; /* NULL: no progress threads */
    const xy_order_t *order;
    xy_sim_t *sim;
    job_sim_way_t *next;
};

/* A collective of the node. */
struct job_scheduled {
    sim_call_t call; /* first */
    xy_vjob_t *job;
    xy_vcoll_t *coll;
    job_node_t *last; /* critical path: the last process that came */
    xy_event_t gone;
    job_scheduled_t *next; /* of all that run */
};

/* ---- Which ---- */

bool job_sim_splits(const xy_vjob_t *job, xy_collective_t collective)
{
    return job->config.split != XY_VJOB_SPLIT_OFF && xy_coll_is_tree(collective);
}

/* Is each process alone on its core, and where the nodes were made for it? */
static bool has_own_cores(const xy_vjob_t *job, const xy_vcomm_t *comm)
{
    for (int32_t i = 0; i < job->config.procs; i++)
        if (job->cores[job->core_of[i]].procs != 1 || job->cores[job->core_of[i]].has_threads)
            return false;
    for (int32_t i = 0; i < comm->count; i++)
        if (comm->nodes[i] > 0 || comm->procs[i] >= job->config.procs ||
            job->procs[comm->procs[i]].core != job->core_of[comm->procs[i]])
            return false;
    return true;
}

bool job_sim_takes(const xy_vjob_t *job, const xy_vcomm_t *comm, const xy_vjob_coll_t *call)
{
    xy_sim_progress_t progress = job->config.progress;
    bool has_comm = job->host[job->procs[comm->procs[0]].host].has_comm;

    if (job->library->rules != NULL || !call->is_nonblocking || call->is_user_op ||
        call->is_agreement || job->has_link || comm->count < 2)
        return false;
    return (progress == XY_SIM_THREADS || job_sim_splits(job, call->collective) ||
            (progress == XY_SIM_TASKS && has_comm)) &&
           has_own_cores(job, comm);
}

/* ---- Nodes ---- */

void xy_vjob_costs_of_node(const xy_vjob_costs_t *costs, xy_sim_costs_t *node)
{
    double copy = costs->copy > 0 ? 1 / costs->copy : 0;
    double sum = copy + (costs->reduce > 0 ? 1 / costs->reduce : 0);

    xy_sim_costs_scaled(node, costs->send + costs->latency + costs->receive, costs->copy,
                        sum > 0 ? 1 / sum : 0);
    node->numa = costs->numa;
    node->link = costs->link;
    node->task = costs->task;
}

void xy_vjob_costs_from_node(xy_vjob_costs_t *costs, const xy_sim_costs_t *node)
{
    double copy = node->copy > 0 ? 1 / node->copy : 0;
    double sum = node->reduce > 0 ? 1 / node->reduce : 0;

    xy_vjob_costs_default(costs);
    costs->send = costs->receive = costs->latency = node->alpha / 3;
    costs->copy = node->copy;
    costs->reduce = sum > copy ? 1 / (sum - copy) : 0;
    costs->numa = node->numa;
    costs->link = node->link;
    costs->task = node->task;
}

/* The costs of a node by what a message and a copy take in this job. */
static void find_costs(const xy_vjob_t *job, const xy_vcomm_t *comm, xy_sim_costs_t *costs)
{
    enum { BYTES = 1 << 20 };
    double copy = job_way_copy(job, BYTES, false), sum = job_way_read(job, BYTES, false);

    if (job->copy_model == NULL) {
        xy_vjob_costs_of_node(&job->costs, costs);
        return;
    }
    sum +=
        job->copy_model->reduce > 0 ? job->copy_model->reduce * BYTES / XY_MESSAGE_BCAST : copy / 2;
    xy_sim_costs_scaled(costs, comm->inside.alpha, copy > 0 ? BYTES / copy : 0,
                        sum > 0 ? BYTES / sum : 0);
    /* The memory feeds as many cores as without a model. */
    costs->numa = job->costs.copy > 0 ? job->costs.numa / job->costs.copy * costs->copy : 0;
    costs->link = job->costs.copy > 0 ? job->costs.link / job->costs.copy * costs->copy : 0;
    costs->task = job->piece;
}

static int compare_cores(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Describes the node; *comm_p is the caller's to free. */
static xy_status_t describe(const xy_vjob_t *job, const xy_vcomm_t *comm, xy_sim_node_t *node,
                            int32_t **comm_p)
{
    const xy_vjob_config_t *c = &job->config;
    size_t n = (size_t)c->comm_core_count;

    *node = (xy_sim_node_t){.machine = c->machine,
                            .ranks = c->procs,
                            .core_list = job->core_of,
                            .comm_cores = c->progress == XY_SIM_THREADS ? -1 : 0,
                            .progress = c->progress,
                            .priority = c->priority};
    *comm_p = NULL;
    find_costs(job, comm, &node->costs);
    if (n == 0)
        return XY_OK;
    *comm_p = xy_malloc(n * sizeof(**comm_p));
    if (*comm_p == NULL)
        return xy_fail_memory("simulating a node");
    for (size_t i = 0; i < n; i++)
        (*comm_p)[i] = job->comm[i].core;
    qsort(*comm_p, n, sizeof(**comm_p), compare_cores);
    node->comm_list = *comm_p;
    node->comm_cores = (int)n;
    return XY_OK;
}

static void part_over(xy_sim_t *sim, const sim_part_t *part, double when);
static void start_over(xy_sim_t *sim, int32_t rank);
static void core_is_free(xy_sim_t *sim, int32_t rank);

/* Adds a node for this way. */
static xy_status_t make_way(xy_vjob_t *job, const xy_vcomm_t *comm, job_sim_way_t *way)
{
    const sim_driver_t driver = {.over = part_over,
                                 .started = start_over,
                                 .is_free = core_is_free,
                                 .owner = job,
                                 .memory = &job->memory};
    xy_sim_node_t node;
    int32_t *list;
    xy_status_t st = describe(job, comm, &node, &list);

    node.threads = way->place != NULL ? way->place->name : NULL;
    node.order = way->order != NULL ? way->order->name : NULL;
    if (st == XY_OK)
        st = sim_create(&node, &job->clock, &driver, &way->sim);
    xy_free(list);
    if (st != XY_OK)
        return st;
    sim_node_begin(way->sim);
    for (int32_t i = 0; i < job->config.procs; i++) /* they waited before there was a node */
        if (job->procs[i].state == JOB_WAITING)
            xy_vclock_set(&job->clock, &job->procs[i].event,
                          fmax(job->procs[i].now, job->clock.now));
        else if (job->procs[i].state == JOB_PROBING)
            sim_rank_wait(way->sim, i);
    return st;
}

/* The node of this way; NULL: the run ends. */
static xy_sim_t *find_way(xy_vjob_t *job, const xy_vcomm_t *comm, const xy_threads_t *place,
                          const xy_order_t *order)
{
    job_sim_way_t *way = job->sims;
    xy_status_t st;

    while (way != NULL && (way->place != place || way->order != order))
        way = way->next;
    if (way != NULL)
        return way->sim;
    way = xy_arena_alloc(job->arena, sizeof(*way));
    if (way == NULL) {
        job_fail(job, xy_fail_memory("simulating a node"));
        return NULL;
    }
    *way = (job_sim_way_t){.place = place, .order = order, .next = job->sims};
    st = make_way(job, comm, way);
    if (st != XY_OK) {
        job_fail(job, st);
        return NULL;
    }
    job->sims = way;
    return way->sim;
}

void job_sim_cleanup(xy_vjob_t *job)
{
    for (job_scheduled_t *s = job->scheduled, *next; s != NULL; s = next) {
        next = s->next;
        sim_call_cleanup(&s->call);
        xy_free(s);
    }
    for (job_sim_way_t *way = job->sims; way != NULL; way = way->next)
        xy_sim_destroy(way->sim);
}

/* ---- Open settings ---- */

/* Kept by the shape: its forecast. */
static const xy_sim_forecast_t *forecast(xy_vjob_t *job, xy_vcoll_t *coll, int split)
{
    enum { OPS_MAX = 1024 }; /* as in real runs */
    job_shape_t *shape = coll->shape;
    xy_collective_t c = coll->call.collective;
    xy_sim_node_t node;
    int32_t *list;
    xy_status_t st;

    if (shape->forecast != NULL || xy_graph_ops(shape->graph) > OPS_MAX)
        return shape->forecast;
    shape->forecast = xy_calloc(1, sizeof(*shape->forecast));
    if (shape->forecast == NULL) {
        job_fail(job, xy_fail_memory("simulating a collective"));
        return NULL;
    }
    shape->forecast->is_threads = job->config.progress == XY_SIM_THREADS;
    shape->forecast->place = job->config.places != NULL ? job->config.places[c] : NULL;
    shape->forecast->order = job->config.orders != NULL ? job->config.orders[c] : NULL;
    st = describe(job, coll->comm, &node, &list);
    if (st == XY_OK)
        st = xy_sim_forecast(shape->forecast, &node, shape->graph, split);
    xy_free(list);
    if (st != XY_OK)
        job_fail(job, st);
    return shape->forecast;
}

/* Seconds of a message of this collective. */
static double transfer_of(const xy_vcoll_t *coll)
{
    const xy_coll_link_t *link = &coll->comm->link;
    const xy_vjob_coll_t *call = &coll->call;
    bool is_reduction = call->collective == XY_COLL_REDUCE || call->collective == XY_COLL_ALLREDUCE;

    return link->alpha +
           (double)(call->count * call->element) * (link->beta + (is_reduction ? link->gamma : 0));
}

/* Chooses what the settings leave open: S, and the way of progress threads. */
static xy_sim_case_t choose(xy_vjob_t *job, xy_vcoll_t *coll)
{
    const xy_vjob_config_t *config = &job->config;
    xy_collective_t c = coll->call.collective;
    bool is_threads = config->progress == XY_SIM_THREADS, splits = job_sim_splits(job, c);
    xy_sim_case_t of = {.collective = c,
                        .ranks = coll->comm->count,
                        .cores = coll->comm->count,
                        .comm_cores = (int)job->config.comm_core_count,
                        .is_threads = is_threads,
                        .transfer = transfer_of(coll),
                        .computed =
                            config->split == XY_VJOB_SPLIT_ADAPTIVE ? coll->comm->computed[c] : 0,
                        .place = is_threads && config->places != NULL ? config->places[c] : NULL,
                        .order = is_threads && config->orders != NULL ? config->orders[c] : NULL,
                        .split = !splits             ? 0
                                 : config->split > 0 ? config->split - 1
                                                     : -1};

    if (of.split < 0 || (is_threads && (of.place == NULL || of.order == NULL)))
        xy_sim_choose(forecast(job, coll, of.split), &of);
    return of;
}

void job_sim_measure(const job_proc_t *p, xy_vreq_t *r)
{
    enum { WEIGHT = 4 }; /* as in real runs */
    double *mean, seconds = p->now - r->posted_at;

    if (r->kind != JOB_COLLECTIVE || r->measured == 0)
        return;
    mean = &r->coll->comm->computed[r->measured - 1];
    r->measured = 0;
    *mean += *mean > 0 ? (seconds - *mean) / WEIGHT : seconds;
}

/* ---- Collectives ---- */

/* Frees a collective that has ended, when nobody looks at it any more. */
static void scheduled_gone(xy_event_t *event)
{
    job_scheduled_t *s = (job_scheduled_t *)((char *)event - offsetof(job_scheduled_t, gone));
    job_scheduled_t **place = &s->job->scheduled;

    while (*place != s)
        place = &(*place)->next;
    *place = s->next;
    sim_call_end(&s->call);
    sim_call_cleanup(&s->call);
    job_node_drop(s->job, s->last);
    xy_free(s);
}

/* Begins a collective on its node; false: the run ends. */
static bool begin(xy_vjob_t *job, xy_vcoll_t *coll)
{
    xy_sim_case_t way = choose(job, coll);
    xy_sim_t *sim = find_way(job, coll->comm, way.place, way.order);
    job_scheduled_t *s = sim != NULL ? xy_calloc(1, sizeof(*s)) : NULL;
    xy_status_t st;

    if (s == NULL) {
        if (sim != NULL)
            job_fail(job, xy_fail_memory("simulating a collective"));
        return false;
    }
    s->job = job;
    s->coll = coll;
    s->next = job->scheduled;
    xy_event_init(&s->gone, scheduled_gone, job, 0);
    job->scheduled = s;
    coll->scheduled = s;
    s->call =
        (sim_call_t){.graph = coll->shape->cut != NULL ? coll->shape->cut : coll->shape->graph,
                     .rank_of = coll->comm->procs,
                     .ranks = coll->comm->count,
                     .split = way.split};
    st = sim_call_begin(sim, &s->call);
    if (st != XY_OK)
        job_fail(job, st);
    return st == XY_OK;
}

void job_sim_arrive(xy_vjob_t *job, xy_vcoll_t *coll, int32_t rank)
{
    job_proc_t *p = &job->procs[coll->comm->procs[rank]];

    if (coll->scheduled == NULL && !begin(job, coll))
        return;
    job_node_set(job, &coll->scheduled->last, p->node);
    coll->requests[rank]->measured = (int32_t)coll->call.collective + 1;
    sim_call_arrive(&coll->scheduled->call, rank, p->state == JOB_ENTERING);
}

/* A driver callback: completes the part of a process in a collective. */
static void part_over(xy_sim_t *sim, const sim_part_t *part, double when)
{
    job_scheduled_t *s = (job_scheduled_t *)part->call;
    xy_vcoll_t *coll = s->coll;
    xy_vjob_t *job = sim->driver.owner;
    int32_t rank = (int32_t)(part - part->call->parts);
    xy_vreq_t *request = coll->requests[rank];
    job_node_t *node =
        job_path_extend(job, job_node_use(s->last), when, job->procs[coll->comm->procs[rank]].line);

    coll->requests[rank] = NULL;
    coll->last_out = fmax(coll->last_out, when);
    if (--coll->left == 0) {
        coll->scheduled = NULL;
        xy_vclock_set_last(&job->clock, &s->gone);
    }
    job_request_done(job, request, when, node);
    job_node_drop(job, node);
    if (coll->left == 0)
        job_coll_over(job, coll);
}

/* ---- Processes ---- */

/* A driver callback. */
static void start_over(xy_sim_t *sim, int32_t rank)
{
    xy_vjob_t *job = sim->driver.owner;
    job_proc_t *p = &job->procs[rank];

    if (p->state == JOB_WAITING && p->now > job->clock.now)
        xy_vclock_set(&job->clock, &p->event, p->now); /* it waits from then on */
    else if (p->state == JOB_WAITING)
        sim_rank_wait(sim, rank);
    if (p->state != JOB_ENTERING)
        return;
    job_proc_busy(job, p, job->clock.now);
    job_proc_resume(job, p, p->now);
}

void job_sim_wait(xy_vjob_t *job, job_proc_t *p)
{
    for (job_sim_way_t *way = job->sims; way != NULL; way = way->next)
        if (p->number < way->sim->node.ranks &&
            (p->state == JOB_WAITING || p->state == JOB_PROBING))
            sim_rank_wait(way->sim, p->number);
}

bool job_sim_leave(xy_vjob_t *job, job_proc_t *p)
{
    for (job_sim_way_t *way = job->sims; way != NULL; way = way->next)
        if (p->number < way->sim->node.ranks && way->sim->ranks[p->number].phase == SIM_IN_WAIT &&
            sim_rank_is_busy(way->sim, p->number)) {
            p->is_leaving = true;
            return false;
        }
    for (job_sim_way_t *way = job->sims; way != NULL; way = way->next)
        if (p->number < way->sim->node.ranks)
            sim_rank_leave(way->sim, p->number);
    return true;
}

bool job_sim_help(xy_vjob_t *job, job_proc_t *p)
{
    for (job_sim_way_t *way = job->sims; way != NULL; way = way->next)
        if (p->number < way->sim->node.ranks)
            sim_rank_poll(way->sim, p->number);
    return !job_sim_leave(job, p);
}

/* A driver callback. */
static void core_is_free(xy_sim_t *sim, int32_t rank)
{
    xy_vjob_t *job = sim->driver.owner;

    job_wait_free(job, &job->procs[rank]);
}
