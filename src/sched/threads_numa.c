/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress threads, `numa`: on the nearest free core of the same NUMA node.
 *
 * With N cores and n ranks in the node, and M the position of the rank's core in it:
 *
 *   n >= N:   M (there is no free core)
 *   else      ceil((floor(M / d) + 1) * d) - 1,   d = N / (N - n)
 *
 * N = 64, n = 62, ranks placed by scatter: d = 32, so the threads of cores 0 .. 31 (ranks 0 .. 30)
 * are on core 31, the others on core 63. In whole numbers floor(M / d) is M * f div N and the ceil
 * is (k * N + f - 1) div f, where f = N - n. Where ranks were placed otherwise, and the formula
 * does not give a communication core, it is the nearest one.
 */
#include "sched/threads_internal.h"

static int ranks_in(const xy_threads_query_t *query, int node)
{
    int n = 0;

    for (int r = 0; r < query->ranks; r++)
        n += query->cores->numa[query->core_of[r]] == node;
    return n;
}

/* The core of the progress thread of a rank on `core`: by the formula above, else the nearest
 * communication core, else `core`. */
static int core_for(const xy_threads_query_t *query, int core)
{
    int node = query->cores->numa[core];
    int first = query->cores->numa_first[node];
    int size = query->cores->numa_first[node + 1] - first;
    int spare = size - ranks_in(query, node);
    int nearest, k, thread;

    if (spare > 0) {
        k = (int)((long)(core - first) * spare / size) + 1;
        thread = first + (int)(((long)k * size + spare - 1) / spare) - 1;
        if (sched_is_comm(query, thread))
            return thread;
    }
    nearest = sched_nearest_comm(query, core);
    return nearest >= 0 ? nearest : core;
}

static xy_status_t place(const xy_threads_query_t *query, int *thread_of)
{
    for (int r = 0; r < query->ranks; r++)
        thread_of[r] = core_for(query, query->core_of[r]);
    return XY_OK;
}

const xy_threads_t sched_threads_numa = {
    .name = "numa",
    .describe = "on the nearest free core of the same NUMA node",
    .is_usual = true,
    .place = place,
};
