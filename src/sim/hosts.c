/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes of a machine, here called hosts: what shares memory. Communication cores and progress
 * threads of a rank are those of its host, and each host has its own list of ready operations.
 */
#include "sim/sim_internal.h"

/* The cores of sim->cores are the usable ones of the tree, in its order. */
static void find_hosts(xy_sim_t *sim, xy_obj_t *objects)
{
    sim->host_count = sim_net_hosts(sim->node.machine, sim->host_of, objects);
    for (int c = 0; c < sim->cores.count; c++) {
        sim_host_t *h = &sim->hosts[sim->host_of[c]];

        if (h->count++ > 0)
            continue;
        h->object = objects[sim->host_of[c]];
        h->first = c;
        h->first_numa = sim->cores.numa[c];
        h->idle = XY_VEC_INIT(int32_t);
    }
}

xy_status_t sim_hosts_make(xy_sim_t *sim)
{
    size_t cores = (size_t)sim->cores.count;
    xy_obj_t *objects = xy_calloc(cores, sizeof(*objects));

    sim->hosts = xy_calloc(cores, sizeof(*sim->hosts));
    sim->host_of = xy_calloc(cores, sizeof(*sim->host_of));
    if (objects == NULL || sim->hosts == NULL || sim->host_of == NULL) {
        xy_free(objects);
        return xy_fail_memory("simulating a node");
    }
    find_hosts(sim, objects);
    xy_free(objects);
    for (int h = 0; h < sim->host_count; h++) {
        sim_host_t *host = &sim->hosts[h];
        int last = sim->cores.numa[host->first + host->count - 1];

        host->numa_count = last - host->first_numa + 1;
    }
    return XY_OK;
}

void sim_hosts_reset(xy_sim_t *sim)
{
    for (int h = 0; h < sim->host_count; h++)
        sim->hosts[h].pool.count = sim->hosts[h].idle.count = 0;
}

void sim_hosts_cleanup(xy_sim_t *sim)
{
    for (int h = 0; h < sim->host_count; h++) {
        xy_heap_cleanup(&sim->hosts[h].pool);
        xy_vec_cleanup(&sim->hosts[h].idle);
    }
    xy_free(sim->hosts);
    xy_free(sim->host_of);
}

/* ---- Placement inside a host ---- */

/* A host as if it were alone: its cores, ranks and communication cores, counted from 0. */
typedef struct {
    xy_cores_t cores;
    int *core_of, *rank; /* [ranks]; which of the simulation each is */
    int *comm, *thread_of;
    int ranks, comm_count;
} part_t;

static void part_cleanup(part_t *part)
{
    xy_free(part->cores.numa);
    xy_free(part->cores.numa_first);
    xy_free(part->core_of);
    xy_free(part->rank);
    xy_free(part->comm);
    xy_free(part->thread_of);
}

/* Allocates the arrays of one host's part; part_cleanup() also frees a part of them. */
static xy_status_t part_allocate(part_t *part, const sim_host_t *host)
{
    size_t n = (size_t)host->count;

    part->cores.numa = xy_calloc(n, sizeof(int));
    part->cores.numa_first = xy_calloc((size_t)host->numa_count + 1, sizeof(int));
    part->core_of = xy_calloc(n, sizeof(int));
    part->rank = xy_calloc(n, sizeof(int));
    part->comm = xy_calloc(n, sizeof(int));
    part->thread_of = xy_calloc(n, sizeof(int));
    if (part->cores.numa == NULL || part->cores.numa_first == NULL || part->core_of == NULL ||
        part->rank == NULL || part->comm == NULL || part->thread_of == NULL)
        return xy_fail_memory("simulating a node");
    return XY_OK;
}

/* Fills the part with the cores and ranks of a host, numbered from 0. */
static xy_status_t part_init(const xy_sim_t *sim, const sim_host_t *host, part_t *part)
{
    xy_status_t st = part_allocate(part, host);

    if (st != XY_OK)
        return st;
    part->cores.count = host->count;
    part->cores.cpu = sim->cores.cpu + host->first;
    part->cores.numa_count = host->numa_count;
    for (int c = 0; c < host->count; c++)
        part->cores.numa[c] = sim->cores.numa[host->first + c] - host->first_numa;
    for (int n = 0; n <= host->numa_count; n++)
        part->cores.numa_first[n] = sim->cores.numa_first[host->first_numa + n] - host->first;
    for (int r = 0; r < sim->node.ranks; r++)
        if (sim->core_of[r] >= host->first && sim->core_of[r] < host->first + host->count) {
            part->rank[part->ranks] = r;
            part->core_of[part->ranks++] = sim->core_of[r] - host->first;
        }
    return XY_OK;
}

/* The cores for communication: all free ones, so many of them, or those that were named. */
static void part_comm(const xy_sim_t *sim, const sim_host_t *host, part_t *part)
{
    const int *list = sim->node.comm_list;

    if (list == NULL)
        part->comm_count = xy_threads_free_cores(&part->cores, part->ranks, part->core_of,
                                                 sim->node.comm_cores, part->comm);
    for (int i = 0; list != NULL && i < sim->node.comm_cores; i++)
        if (list[i] >= host->first && list[i] < host->first + host->count)
            part->comm[part->comm_count++] = list[i] - host->first;
}

/* Places communication cores and progress threads of one host. */
static xy_status_t place_host(xy_sim_t *sim, const sim_host_t *host, const xy_threads_t *threads,
                              int pus)
{
    part_t part = {0};
    xy_status_t st = part_init(sim, host, &part);

    if (st == XY_OK)
        part_comm(sim, host, &part);
    for (int i = 0; st == XY_OK && i < part.comm_count; i++)
        sim->comm[sim->comm_count++] = host->first + part.comm[i];
    if (st == XY_OK && sim->node.progress == XY_SIM_THREADS && part.ranks > 0)
        st = threads->place(&(xy_threads_query_t){.cores = &part.cores,
                                                  .ranks = part.ranks,
                                                  .core_of = part.core_of,
                                                  .comm = part.comm,
                                                  .comm_count = part.comm_count,
                                                  .pus = pus},
                            part.thread_of);
    for (int i = 0; st == XY_OK && i < part.ranks; i++)
        sim->thread_of[part.rank[i]] = host->first + part.thread_of[i];
    part_cleanup(&part);
    return st;
}

xy_status_t sim_hosts_place(xy_sim_t *sim, const xy_threads_t *threads, int pus)
{
    xy_status_t st = XY_OK;

    for (int h = 0; h < sim->host_count && st == XY_OK; h++)
        st = place_host(sim, &sim->hosts[h], threads, pus);
    return st;
}
