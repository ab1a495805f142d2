/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways between two nodes, or inside one: which model of the store is theirs, with overheads and
 * latency as before (or the model's), at most what the model gives to a message of no bytes.
 */
#include "sim/job_internal.h"

#include <string.h>

/* The cluster of a host in the store: that of the host's name, else the name of a cluster above it,
 * else the machine alone. */
static const char *cluster_of(const xy_vjob_t *job, int32_t host)
{
    const xy_machine_t *m = job->config.machine;
    const char *name = xy_machine_object_name(m, job->hosts[host]);
    xy_obj_t above = xy_machine_above(m, job->hosts[host], XY_OBJ_CLUSTER);

    for (size_t i = 0; *name != '\0' && i < job->config.store->hosts.count; i++) {
        const xy_host_cost_t *h = &XY_VEC_AT(&job->config.store->hosts, xy_host_cost_t, i);

        if (strcmp(h->name, name) == 0)
            return h->cluster;
    }
    if (above != XY_OBJ_NONE && *xy_machine_object_name(m, above) != '\0')
        return xy_machine_object_name(m, above);
    return XY_COSTS_LOCAL;
}

/* How the library whose messages are simulated begins its own name. */
static const char *message_library(const xy_vjob_t *job)
{
    const char *library = job->config.library;

    return library != NULL && strcmp(library, "openmpi") == 0 ? "open mpi" : library;
}

/* The model between two clusters: of the library, or of whichever was measured. */
static const xy_message_cost_t *between(const xy_vjob_t *job, const char *a, const char *b)
{
    const xy_message_cost_t *cost =
        xy_costs_message_by(job->config.store, a, b, message_library(job));

    return cost != NULL ? cost : xy_costs_message(job->config.store, a, b);
}

/* Inside a node: what was measured in one of its cluster, or on the machine alone. What two nodes
 * of the cluster take is no model for it. */
static const xy_message_cost_t *inside(const xy_vjob_t *job, int32_t host)
{
    const xy_message_cost_t *cost = between(job, cluster_of(job, host), XY_COSTS_LOCAL);

    return cost != NULL ? cost : between(job, XY_COSTS_LOCAL, XY_COSTS_LOCAL);
}

/* Ranks of one core are Xylem's alone: processes of another library never run side by side. */
static const xy_message_cost_t *on_core(const xy_vjob_t *job)
{
    const char *library = message_library(job);

    return xy_costs_message_by(job->config.store, XY_COSTS_PU, XY_COSTS_PU,
                               library != NULL ? library : "xylem");
}

const xy_message_model_t *job_way_model(const xy_vjob_t *job, int32_t from, int32_t to,
                                        bool is_same)
{
    const xy_message_cost_t *cost = NULL;

    if (job->config.store == NULL)
        return NULL;
    if (is_same)
        cost = on_core(job);
    else if (from == to)
        cost = inside(job, from);
    else
        cost = between(job, cluster_of(job, from), cluster_of(job, to));
    if (cost == NULL || !xy_message_has(&cost->model, NULL, XY_MESSAGE_BLOCKING))
        return NULL;
    return &cost->model;
}

double job_way_seconds(const job_way_t *way, uint64_t bytes)
{
    return xy_message_value(way->model, NULL, XY_MESSAGE_BLOCKING, (double)bytes).seconds;
}

/* Overheads and latency that leave nothing negative of what the model says. On one core there is no
 * latency: the sender works, then the receiver, with a switch in between that is counted when it
 * happens. */
static void fit_model(const xy_vjob_t *job, job_way_t *way)
{
    double least = job_way_seconds(way, 0), sum;

    if (way->is_same) {
        way->latency = 0;
        way->send = way->receive = fmax(0, least - job->costs.swap) / 2;
        return;
    }
    if (way->model->loggp.overhead > 0)
        way->send = way->receive = way->model->loggp.overhead;
    if (way->path == NULL && way->model->loggp.overhead > 0)
        way->latency = fmax(0, least - way->send - way->receive);
    sum = way->send + way->receive + way->latency;
    if (sum <= least || sum <= 0)
        return;
    way->send *= least / sum;
    way->receive *= least / sum;
    way->latency *= least / sum;
}

/* The limit that was measured there, or else between other nodes of the same kind: it belongs to
 * the library. */
static void set_eager(const xy_vjob_t *job, bool is_inside, job_way_t *way)
{
    const xy_costs_t *store = job->config.store;
    double eager = way->model != NULL ? way->model->eager : 0;

    for (size_t i = 0; store != NULL && i < store->messages.count && !(eager > 0); i++) {
        const xy_message_cost_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, i);

        if ((strcmp(m->cluster2, XY_COSTS_LOCAL) == 0) == is_inside)
            eager = m->model.eager;
    }
    if (eager > 0)
        way->eager = (uint64_t)eager;
}

/* Returns the costs between two hosts, cores or processes; NULL with the job failed. */
static job_way_t *make_way(xy_vjob_t *job, int32_t from, int32_t to, bool is_same)
{
    const xy_vjob_costs_t *c = &job->costs;
    job_way_t *way = xy_arena_alloc(job->arena, sizeof(*way));

    if (way == NULL) {
        job_fail(job, xy_fail_memory("simulating a job"));
        return NULL;
    }
    way->send = c->send;
    way->receive = c->receive;
    way->latency = c->latency;
    way->eager = (uint64_t)(from == to ? c->eager : c->eager_net);
    way->bytes = UINT64_MAX;
    if (from != to) {
        xy_status_t st = sim_net_path(&job->net, from, to, &way->path);

        if (st != XY_OK) {
            job_fail(job, st);
            return NULL;
        }
        way->latency = way->path->latency;
    }
    way->model = job_way_model(job, from, to, is_same);
    way->is_same = is_same && way->model != NULL;
    if (is_same && way->model == NULL)
        way->model = job_way_model(job, from, to, false);
    if (way->model != NULL)
        fit_model(job, way);
    if (!c->keeps_eager)
        set_eager(job, from == to, way);
    return way;
}

job_way_t *job_way(xy_vjob_t *job, int32_t from, int32_t to)
{
    int32_t a = job->procs[from].host, b = job->procs[to].host;
    bool is_same = job->procs[from].core == job->procs[to].core;
    uint64_t key = (uint64_t)a << 32 | (uint32_t)b;
    job_way_t **inside = is_same ? &job->host[a].same : &job->host[a].way, *way;

    if (a == b && *inside != NULL)
        return *inside;
    way = a != b ? xy_hash_get(&job->ways, key) : NULL;
    if (way != NULL)
        return way;
    way = make_way(job, a, b, is_same);
    if (way == NULL)
        return NULL;
    if (a == b) {
        *inside = way;
    } else if (xy_hash_set(&job->ways, key, way) != XY_OK) {
        job_fail(job, xy_fail_memory("simulating a job"));
        return NULL;
    }
    return way;
}
