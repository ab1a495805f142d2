/* SPDX-License-Identifier: BSD-3-Clause */
/* Where progress threads live: their cores, and workers for those that have none yet. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mpi/launch/launch.h"
#include "sched/sched.h"

static int core_index(const xy_cores_t *cores, int cpu)
{
    for (int c = 0; c < cores->count; c++)
        if (cores->cpu[c] == cpu)
            return c;
    return -1;
}

/* Another hardware thread of the core of `cpu` that this process may use; -1: there is none. */
static int sibling_of(int cpu)
{
    char path[96], *text;
    size_t size;
    cpu_set_t allowed;
    xy_bitset_t set;
    int found = -1;

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
             cpu);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || access(path, R_OK) != 0 ||
        xy_file_read(path, 4096, &text, &size) != XY_OK)
        return -1;
    text[strcspn(text, "\n")] = '\0';
    if (xy_bitset_init(&set, CPU_SETSIZE) == XY_OK) {
        if (xy_bitset_parse(&set, text, path) == XY_OK)
            for (size_t c = xy_bitset_next(&set, 0); c < set.bits && found < 0;
                 c = xy_bitset_next(&set, c + 1))
                if ((int)c != cpu && CPU_ISSET(c, &allowed))
                    found = (int)c;
        xy_bitset_cleanup(&set);
    }
    xy_free(text);
    return found;
}

/* Hardware threads that every core with ranks has: 2 or 1. */
static int count_pus(const mpi_placement_t *p)
{
    for (int w = 0; w < p->workers - p->comm_workers; w++)
        if (sibling_of(p->cpus[w]) < 0)
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

static xy_status_t place(const char *name, const xy_cores_t *cores, int ranks, int *core_of,
                         int *comm, mpi_placement_t *p)
{
    const xy_threads_t *threads;
    xy_threads_query_t query = {.cores = cores, .ranks = ranks, .core_of = core_of, .comm = comm};
    xy_status_t st = xy_threads_find(name, &threads);

    if (st != XY_OK)
        return st;
    for (int r = 0; r < ranks; r++)
        core_of[r] = core_index(cores, p->cpus[p->worker_of[r]]);
    query.comm_count = list_comm(p, cores, ranks, core_of, comm);
    query.pus = threads->on_sibling ? count_pus(p) : 1;
    st = threads->place(&query, p->thread_worker_of);
    for (int r = 0; r < ranks && st == XY_OK; r++) {
        int cpu = cores->cpu[p->thread_worker_of[r]];

        p->thread_worker_of[r] = worker_for(p, threads->on_sibling ? sibling_of(cpu) : cpu);
    }
    return st;
}

xy_status_t mpi_placement_threads(const mpi_launch_values_t *values, int ranks, mpi_placement_t *p)
{
    xy_cores_t cores;
    xy_status_t st = mpi_placement_cores(values, &cores);
    int *core_of, *comm;

    if (st != XY_OK)
        return st;
    core_of = xy_malloc((size_t)ranks * sizeof(*core_of));
    comm = xy_malloc((size_t)cores.count * sizeof(*comm));
    p->thread_worker_of = xy_malloc((size_t)ranks * sizeof(int));
    if (core_of == NULL || comm == NULL || p->thread_worker_of == NULL)
        st = xy_fail_memory("placing the progress threads");
    else
        st = place(values->progress_place, &cores, ranks, core_of, comm, p);
    xy_free(core_of);
    xy_free(comm);
    xy_cores_cleanup(&cores);
    return st;
}
