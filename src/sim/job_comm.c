/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of a simulated job: who is in them, and where. */
#include "sim/job_internal.h"

#include <string.h>

int32_t job_comm_rank(const xy_vcomm_t *comm, int32_t proc)
{
    if (proc < comm->count && comm->procs[proc] == proc)
        return proc;
    return (int32_t)(uintptr_t)xy_hash_get(&comm->ranks, (uint32_t)proc) - 1;
}

/* Seconds of a message and of a byte between its processes, for the chooser: of the way to the
 * first process on another node, if there is one. */
static bool find_link(xy_vjob_t *job, xy_vcomm_t *comm)
{
    const xy_vjob_costs_t *c = &job->costs;
    int32_t first = comm->procs[0], other = first;
    const job_way_t *way;

    for (int32_t i = 1; i < comm->count && other == first; i++)
        if (job->procs[comm->procs[i]].host != job->procs[first].host)
            other = comm->procs[i];
    if (job->has_link) {
        comm->link = job->link;
        return true;
    }
    way = job_way(job, first, other);
    if (way == NULL)
        return false;
    comm->link = (xy_coll_link_t){.alpha = way->send + way->latency + way->receive,
                                  .beta = c->copy > 0 ? 1 / c->copy : 0,
                                  .gamma = c->reduce > 0 ? 1 / c->reduce : 0,
                                  .copy = c->copy > 0 ? 1 / c->copy : 0};
    if (way->path != NULL)
        comm->link.beta = 1 / way->path->bandwidth;
    return true;
}

/* The same of two processes of one node, where there are any. */
static bool find_inside(xy_vjob_t *job, xy_vcomm_t *comm)
{
    const job_way_t *way;
    int seen = 1;
    int32_t one = 1, other = 0;

    comm->inside = comm->link;
    for (; one < comm->count && comm->nodes[one] == seen; one++)
        seen++;
    if (one >= comm->count || job->has_link)
        return true;
    while (comm->nodes[other] != comm->nodes[one])
        other++;
    way = job_way(job, comm->procs[other], comm->procs[one]);
    if (way == NULL)
        return false;
    comm->inside.alpha = way->send + way->latency + way->receive;
    comm->inside.beta = comm->link.copy;
    return true;
}

/* Number `values` by their first appearance, and mix the numbers into *layout. */
static bool number(const int32_t *values, int32_t count, int *numbers, uint64_t *layout)
{
    xy_hash_t seen;
    bool is_made = true;

    xy_hash_init(&seen, XY_HASH_U64);
    for (int32_t i = 0; i < count && is_made; i++) {
        uintptr_t n = (uintptr_t)xy_hash_get(&seen, (uint64_t)values[i]);

        if (n == 0) {
            n = seen.count + 1;
            is_made = xy_hash_set(&seen, (uint64_t)values[i], (void *)n) == XY_OK;
        }
        numbers[i] = (int)n - 1;
        *layout = xy_hash_u64(*layout + n);
    }
    xy_hash_cleanup(&seen);
    return is_made;
}

/* The properties of a communicator for rules of libraries and direct collectives. */
static bool find_layout(const xy_vjob_t *job, xy_vcomm_t *comm)
{
    int32_t *values = xy_malloc((size_t)comm->count * sizeof(*values));
    uint64_t bits[2], layout = 0;
    bool is_made = values != NULL;

    for (int32_t i = 0; is_made && i < comm->count; i++)
        values[i] = job->procs[comm->procs[i]].host;
    is_made = is_made && number(values, comm->count, comm->nodes, &layout);
    for (int32_t i = 0; is_made && i < comm->count; i++)
        values[i] = job->procs[comm->procs[i]].core;
    is_made = is_made && number(values, comm->count, comm->groups, &layout);
    for (int32_t i = 0; is_made && i < comm->count && job->memory.is_limited; i++)
        layout =
            xy_hash_u64(layout + (uint64_t)sim_memory_domain(&job->memory, values[i], values[i]));
    xy_free(values);
    memcpy(&bits[0], &comm->link.alpha, sizeof(bits[0]));
    memcpy(&bits[1], &comm->link.beta, sizeof(bits[1]));
    comm->layout = xy_hash_u64(xy_hash_u64(layout + bits[0]) + bits[1]);
    return is_made;
}

/* Fills a communicator with its processes and their layout on hosts; returns false on failure. */
static bool fill(xy_vjob_t *job, xy_vcomm_t *comm, const int32_t *procs, int32_t count)
{
    size_t n = (size_t)count;
    bool is_made = true;

    xy_hash_init(&comm->ranks, XY_HASH_U64);
    comm->newest = &comm->oldest;
    comm->count = count;
    comm->procs = xy_arena_alloc(job->arena, n * sizeof(*comm->procs));
    comm->nodes = xy_arena_alloc(job->arena, n * sizeof(*comm->nodes));
    comm->groups = xy_arena_alloc(job->arena, n * sizeof(*comm->groups));
    comm->sequence = xy_arena_alloc(job->arena, n * sizeof(*comm->sequence));
    if (comm->procs == NULL || comm->nodes == NULL || comm->groups == NULL ||
        comm->sequence == NULL)
        return false;
    memcpy(comm->procs, procs, n * sizeof(*procs));
    for (int32_t i = 0; i < count && is_made; i++)
        if (procs[i] != i)
            is_made =
                xy_hash_set(&comm->ranks, (uint32_t)procs[i], (void *)((uintptr_t)i + 1)) == XY_OK;
    return is_made && find_link(job, comm) && find_layout(job, comm) && find_inside(job, comm);
}

xy_vcomm_t *xy_vjob_comm(xy_vjob_t *job, uint32_t context, const int32_t *procs, int32_t count)
{
    xy_vcomm_t *comm = xy_hash_get(&job->comms, context);

    if (comm != NULL)
        return comm;
    comm = xy_arena_alloc(job->arena, sizeof(*comm));
    if (comm != NULL && xy_vec_append(&job->all_comms, &comm) == XY_OK &&
        fill(job, comm, procs, count) && xy_hash_set(&job->comms, context, comm) == XY_OK)
        return comm;
    if (job->status == XY_OK)
        job_fail(job, xy_fail_memory("simulating a communicator"));
    return NULL;
}

static void coll_cleanup(xy_vcoll_t *list, bool has_work)
{
    for (; list != NULL; list = list->next) {
        if (has_work)
            xy_free(list->steps);
        xy_free(list->counts);
    }
}

void job_colls_cleanup(xy_vjob_t *job)
{
    for (size_t i = 0; i < job->all_comms.count; i++) {
        xy_vcomm_t *comm = XY_VEC_AT(&job->all_comms, xy_vcomm_t *, i);

        coll_cleanup(comm->oldest, true);
        coll_cleanup(comm->free, false);
        xy_hash_cleanup(&comm->ranks);
    }
}
