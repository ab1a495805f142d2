/* SPDX-License-Identifier: BSD-3-Clause */
/* Where progress threads live: their cores, and workers for those that have none yet; and where the
 * thread of the network does. */
#include <string.h>

#include "launch/launch.h"
#include "machine/machine.h"
#include "sched/sched.h"

static int core_index(const xy_cores_t *cores, int cpu)
{
    for (int c = 0; c < cores->count; c++)
        if (cores->cpu[c] == cpu)
            return c;
    return -1;
}

/* Hardware threads that every core with ranks has: 2 or 1. */
static int count_pus(const mpi_placement_t *p, const xy_bitset_t *allowed)
{
    for (int w = 0; w < p->workers - p->comm_workers; w++)
        if (xy_sysfs_sibling(XY_SYSFS, p->cpus[w], allowed) < 0)
            return 1;
    return 2;
}

/* The worker of `cpu`; a new one, at the end, when there is none. */
static int worker_for(mpi_placement_t *p, int cpu)
{
    for (int w = 0; w < p->workers; w++)
        if (p->cpus[w] == cpu)
            return w;
    p->cpus[p->workers] = cpu;
    p->comm_workers++;
    return p->workers++;
}

/* The communication cores of the job, growing; all free ones where none was asked for. */
static int list_comm(const mpi_placement_t *p, const xy_cores_t *cores, int ranks,
                     const int *core_of, int *comm)
{
    int count = 0;

    if (p->comm_workers == 0)
        return xy_threads_free_cores(cores, ranks, core_of, -1, comm);
    for (int c = 0; c < cores->count; c++)
        for (int w = p->workers - p->comm_workers; w < p->workers; w++)
            if (p->cpus[w] == cores->cpu[c])
                comm[count++] = c;
    return count;
}

/* The common part of the placements of one job. */
typedef struct {
    xy_threads_query_t query;
    const xy_bitset_t *allowed;
    int *core_of, *comm;
} question_t;

/* Compute the worker of each rank's progress thread for one placement; workers are added as needed.
 */
static xy_status_t place(const question_t *q, const xy_threads_t *threads, int *worker_of,
                         mpi_placement_t *p)
{
    xy_threads_query_t query = q->query;
    xy_status_t st;

    query.pus = threads->on_sibling ? count_pus(p, q->allowed) : 1;
    st = threads->place(&query, worker_of);
    for (int r = 0; r < query.ranks && st == XY_OK; r++) {
        int cpu = query.cores->cpu[worker_of[r]];

        if (threads->on_sibling)
            cpu = xy_sysfs_sibling(XY_SYSFS, cpu, q->allowed);
        worker_of[r] = worker_for(p, cpu);
    }
    return st;
}

/* Is the placement one that the model may choose, or that was asked for? */
static bool is_wanted(const xy_threads_t *threads, const mpi_settings_t *settings)
{
    for (int c = 0; c < XY_COLL_COUNT; c++)
        if (settings->place[c] == threads || (settings->place[c] == NULL && threads->is_usual))
            return true;
    return false;
}

static xy_status_t place_all(const question_t *q, const mpi_settings_t *settings,
                             mpi_placement_t *p)
{
    xy_status_t st = XY_OK;

    for (int i = 0; xy_threads_all[i] != NULL && st == XY_OK; i++) {
        if (!is_wanted(xy_threads_all[i], settings))
            continue;
        p->thread_worker_of[i] = xy_malloc((size_t)q->query.ranks * sizeof(int));
        st = p->thread_worker_of[i] != NULL ? place(q, xy_threads_all[i], p->thread_worker_of[i], p)
                                            : xy_fail_memory("placing the progress threads");
    }
    return st;
}

/* Compute the workers of progress threads for the placements that settings may choose. */
static xy_status_t make_tables(const mpi_settings_t *settings, const xy_cores_t *cores, int ranks,
                               const xy_bitset_t *allowed, mpi_placement_t *p)
{
    question_t q = {.query = {.cores = cores, .ranks = ranks}, .allowed = allowed};
    size_t places = 0;
    xy_status_t st = XY_OK;

    while (xy_threads_all[places] != NULL)
        places++;
    q.core_of = xy_malloc((size_t)ranks * sizeof(*q.core_of));
    q.comm = xy_malloc((size_t)cores->count * sizeof(*q.comm));
    p->thread_worker_of = xy_calloc(places, sizeof(*p->thread_worker_of));
    if (q.core_of == NULL || q.comm == NULL || p->thread_worker_of == NULL) {
        st = xy_fail_memory("placing the progress threads");
    } else {
        for (int r = 0; r < ranks; r++)
            q.core_of[r] = core_index(cores, p->cpus[p->worker_of[r]]);
        q.query.core_of = q.core_of;
        q.query.comm = q.comm;
        q.query.comm_count = list_comm(p, cores, ranks, q.core_of, q.comm);
        st = place_all(&q, settings, p);
    }
    xy_free(q.core_of);
    xy_free(q.comm);
    return st;
}

xy_status_t mpi_placement_threads(const mpi_launch_values_t *values, const mpi_settings_t *settings,
                                  int ranks, mpi_placement_t *p)
{
    xy_cores_t cores;
    xy_bitset_t allowed;
    xy_status_t st = xy_sysfs_allowed(&allowed);

    if (st != XY_OK)
        return st;
    st = mpi_placement_cores(values, &cores);
    if (st == XY_OK) {
        st = make_tables(settings, &cores, ranks, &allowed, p);
        xy_cores_cleanup(&cores);
    }
    xy_bitset_cleanup(&allowed);
    return st;
}

/* The cores that no worker is on, growing. */
static int list_free(const mpi_placement_t *p, const xy_cores_t *cores, int *list)
{
    int count = 0;

    for (int c = 0; c < cores->count; c++) {
        bool is_free = true;

        for (int w = 0; w < p->workers; w++)
            is_free = is_free && p->cpus[w] != cores->cpu[c];
        if (is_free)
            list[count++] = c;
    }
    return count;
}

/* Choose the CPU of the network thread. */
static xy_status_t place_network(const xy_threads_t *threads, const xy_cores_t *cores, int ranks,
                                 const xy_bitset_t *allowed, mpi_placement_t *p)
{
    xy_threads_query_t query = {.cores = cores, .ranks = ranks};
    int *core_of = xy_malloc((size_t)ranks * sizeof(*core_of)), core;
    int *comm = xy_malloc((size_t)cores->count * sizeof(*comm));
    xy_status_t st = core_of != NULL && comm != NULL ? XY_OK : xy_fail_memory("placing a thread");

    for (int r = 0; r < ranks && st == XY_OK; r++)
        core_of[r] = core_index(cores, p->cpus[p->worker_of[r]]);
    if (st == XY_OK) {
        query.core_of = core_of;
        query.comm = comm;
        query.comm_count = list_free(p, cores, comm);
        query.pus = xy_sysfs_sibling(XY_SYSFS, p->cpus[p->worker_of[0]], allowed) < 0 ? 1 : 2;
        st = xy_threads_place_one(threads, &query, &core);
    }
    if (st == XY_OK)
        p->network_cpu = threads->on_sibling ? xy_sysfs_sibling(XY_SYSFS, cores->cpu[core], allowed)
                                             : cores->cpu[core];
    xy_free(core_of);
    xy_free(comm);
    return st;
}

xy_status_t mpi_placement_network(const mpi_launch_values_t *values, int ranks, mpi_placement_t *p)
{
    const xy_threads_t *threads;
    xy_cores_t cores;
    xy_bitset_t allowed;
    xy_status_t st;

    p->network_cpu = -1;
    if (strcmp(values->net_place, "any") == 0)
        return XY_OK;
    st = xy_threads_find(values->net_place, &threads);
    if (st == XY_OK)
        st = xy_sysfs_allowed(&allowed);
    if (st != XY_OK)
        return st;
    st = mpi_placement_cores(values, &cores);
    if (st == XY_OK) {
        st = place_network(threads, &cores, ranks, &allowed, p);
        xy_cores_cleanup(&cores);
    }
    xy_bitset_cleanup(&allowed);
    return st;
}
