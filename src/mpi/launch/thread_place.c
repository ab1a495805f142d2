/* SPDX-License-Identifier: BSD-3-Clause */
/* Where progress threads live: their cores, and workers for those that have none yet. */
#include "machine/machine.h"
#include "mpi/launch/launch.h"
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

static xy_status_t place(const char *name, const xy_cores_t *cores, int ranks,
                         const xy_bitset_t *allowed, int *core_of, int *comm, mpi_placement_t *p)
{
    const xy_threads_t *threads;
    xy_threads_query_t query = {.cores = cores, .ranks = ranks, .core_of = core_of, .comm = comm};
    xy_status_t st = xy_threads_find(name, &threads);

    if (st != XY_OK)
        return st;
    for (int r = 0; r < ranks; r++)
        core_of[r] = core_index(cores, p->cpus[p->worker_of[r]]);
    query.comm_count = list_comm(p, cores, ranks, core_of, comm);
    query.pus = threads->on_sibling ? count_pus(p, allowed) : 1;
    st = threads->place(&query, p->thread_worker_of);
    for (int r = 0; r < ranks && st == XY_OK; r++) {
        int cpu = cores->cpu[p->thread_worker_of[r]];

        if (threads->on_sibling)
            cpu = xy_sysfs_sibling(XY_SYSFS, cpu, allowed);
        p->thread_worker_of[r] = worker_for(p, cpu);
    }
    return st;
}

xy_status_t mpi_placement_threads(const mpi_launch_values_t *values, int ranks, mpi_placement_t *p)
{
    xy_cores_t cores;
    xy_bitset_t allowed;
    xy_status_t st = xy_sysfs_allowed(&allowed);
    int *core_of, *comm;

    if (st != XY_OK)
        return st;
    st = mpi_placement_cores(values, &cores);
    if (st != XY_OK) {
        xy_bitset_cleanup(&allowed);
        return st;
    }
    core_of = xy_malloc((size_t)ranks * sizeof(*core_of));
    comm = xy_malloc((size_t)cores.count * sizeof(*comm));
    p->thread_worker_of = xy_malloc((size_t)ranks * sizeof(int));
    if (core_of == NULL || comm == NULL || p->thread_worker_of == NULL)
        st = xy_fail_memory("placing the progress threads");
    else
        st = place(values->progress_place, &cores, ranks, &allowed, core_of, comm, p);
    xy_free(core_of);
    xy_free(comm);
    xy_cores_cleanup(&cores);
    xy_bitset_cleanup(&allowed);
    return st;
}
