/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/threads_internal.h"

#include <stdlib.h>
#include <string.h>

const xy_threads_t *const xy_threads_all[] = {
    &sched_threads_numa,      &sched_threads_odd_even, &sched_threads_bind,
    &sched_threads_dedicated, &sched_threads_smt,      NULL,
};

xy_status_t xy_threads_find(const char *name, const xy_threads_t **threads_p)
{
    const xy_threads_t *found = xy_table_find(XY_TABLE(xy_threads_all), name);

    if (found == NULL)
        return xy_table_fail(XY_TABLE(xy_threads_all), "placement of progress threads", name);
    *threads_p = found;
    return XY_OK;
}

bool sched_is_comm(const xy_threads_query_t *query, int core)
{
    for (int i = 0; i < query->comm_count; i++)
        if (query->comm[i] == core)
            return true;
    return false;
}

int sched_nearest_comm(const xy_threads_query_t *query, int core)
{
    int best = -1;

    for (int i = 0; i < query->comm_count; i++) {
        int c = query->comm[i];

        if (query->cores->numa[c] == query->cores->numa[core] &&
            (best < 0 || abs(c - core) < abs(best - core)))
            best = c;
    }
    return best;
}

static bool is_rank_core(int ranks, const int *core_of, int core)
{
    for (int r = 0; r < ranks; r++)
        if (core_of[r] == core)
            return true;
    return false;
}

int xy_threads_free_cores(const xy_cores_t *cores, int ranks, const int *core_of, int limit,
                          int *comm)
{
    int count = 0;

    for (int c = 0; c < cores->count; c++)
        if (!is_rank_core(ranks, core_of, c))
            comm[count++] = c;
    while (limit >= 0 && count > limit) {
        int most = 0, best = -1;

        for (int node = 0; node < cores->numa_count; node++) {
            int here = 0, last = -1;

            for (int i = 0; i < count; i++)
                if (cores->numa[comm[i]] == node)
                    here++, last = i;
            if (here >= most && here > 0)
                most = here, best = last;
        }
        memmove(&comm[best], &comm[best + 1], (size_t)(--count - best) * sizeof(*comm));
    }
    return count;
}

xy_status_t xy_threads_place_one(const xy_threads_t *threads, const xy_threads_query_t *query,
                                 int *core_p)
{
    int *thread_of, nearest;
    xy_status_t st;

    if (threads == &sched_threads_dedicated) {
        if (query->comm_count == 0)
            return xy_fail(XY_EUNSUPPORTED, "placement 'dedicated' needs a core without ranks for "
                                            "the thread, and there is none; run fewer ranks, or "
                                            "choose 'numa'");
        nearest = sched_nearest_comm(query, query->core_of[0]);
        *core_p = nearest >= 0 ? nearest : query->comm[0];
        return XY_OK;
    }
    thread_of = xy_malloc((size_t)query->ranks * sizeof(*thread_of));
    if (thread_of == NULL)
        return xy_fail_memory("placing a thread");
    st = threads->place(query, thread_of);
    if (st == XY_OK)
        *core_p = thread_of[0];
    xy_free(thread_of);
    return st;
}
