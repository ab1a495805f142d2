/* SPDX-License-Identifier: BSD-3-Clause */
/* The cores of progress threads, and the placements. */
#include "sched/threads.h"

#include <stdlib.h>
#include <string.h>

/* ---- Communication cores ---- */

/* Is `core` kept for communication? */
static bool is_comm(const xy_threads_query_t *query, int core)
{
    for (int i = 0; i < query->comm_count; i++)
        if (query->comm[i] == core)
            return true;
    return false;
}

/* The communication core of the same NUMA node that is nearest to `core`, the lower of two; -1:
 * the node has none. */
static int nearest_comm(const xy_threads_query_t *query, int core)
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

/* ---- Placements ---- */

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
        if (is_comm(query, thread))
            return thread;
    }
    nearest = nearest_comm(query, core);
    return nearest >= 0 ? nearest : core;
}

static xy_status_t place_numa(const xy_threads_query_t *query, int *thread_of)
{
    for (int r = 0; r < query->ranks; r++)
        thread_of[r] = core_for(query, query->core_of[r]);
    return XY_OK;
}

static const xy_threads_t threads_numa = {
    .name = "numa",
    .describe = "on the nearest free core of the same NUMA node",
    .is_usual = true,
    .place = place_numa,
};

/*
 * Progress threads, `odd-even`: consecutive ranks never share a core, for chains (scan, exscan).
 *
 * p cores, n ranks, rank r:  ceil((r mod (p - n) + 1) * p / (p - n)) - 1
 *
 * which are exactly the cores that `scatter` leaves free. p = 64, n = 62: even ranks on core 31,
 * odd ranks on core 63, so that the send of one and the receive of the next run together. With
 * ranks placed otherwise it is the communication core number r mod their count.
 */

static xy_status_t place_odd_even(const xy_threads_query_t *query, int *thread_of)
{
    for (int r = 0; r < query->ranks; r++)
        thread_of[r] =
            query->comm_count > 0 ? query->comm[r % query->comm_count] : query->core_of[r];
    return XY_OK;
}

static const xy_threads_t threads_odd_even = {
    .name = "odd-even",
    .describe = "consecutive ranks on different free cores; for scan and exscan",
    .is_usual = true,
    .place = place_odd_even,
};

/*
 * Progress threads, `bind`: on the rank's own core.
 *
 * No core is lost, and nothing overlaps: ranks are not preempted, so the thread runs when its rank
 * waits.
 */

static xy_status_t place_bind(const xy_threads_query_t *query, int *thread_of)
{
    memcpy(thread_of, query->core_of, (size_t)query->ranks * sizeof(*thread_of));
    return XY_OK;
}

static const xy_threads_t threads_bind = {
    .name = "bind",
    .describe = "on the core of their rank; costs no core, overlaps nothing",
    .is_usual = true,
    .place = place_bind,
};

/*
 * Progress threads, `dedicated`: a core of its own for each. The best overlap, for half of the
 * machine. Ranks in the order of their cores take the free cores in order, so that with `scatter`
 * each thread is beside its rank: 4 ranks on 8 cores are on 0 2 4 6, their threads on 1 3 5 7.
 */

/* Give each rank a free core of its own, in the order of cores; an error if there are fewer free
 * cores than ranks. */
static xy_status_t place_dedicated(const xy_threads_query_t *query, int *thread_of)
{
    if (query->comm_count < query->ranks)
        return xy_fail(XY_EUNSUPPORTED,
                       "placement 'dedicated' needs a free core for each of the %d ranks and there "
                       "are %d; run %d ranks, or choose 'numa'",
                       query->ranks, query->comm_count, query->cores->count / 2);
    for (int r = 0; r < query->ranks; r++) {
        int before = 0;

        for (int other = 0; other < query->ranks; other++)
            before += query->core_of[other] < query->core_of[r] ||
                      (query->core_of[other] == query->core_of[r] && other < r);
        thread_of[r] = query->comm[before];
    }
    return XY_OK;
}

static const xy_threads_t threads_dedicated = {
    .name = "dedicated",
    .describe = "a free core for each; half of the machine communicates",
    .place = place_dedicated,
};

/*
 * Progress threads, `smt`: on the second hardware thread of the rank's core.
 *
 * Good for network traffic, harmful for copies in memory: both threads fight for the lines of one
 * L1 cache. And only good at all when the idle loop of the thread sleeps instead of spinning.
 */

static xy_status_t place_smt(const xy_threads_query_t *query, int *thread_of)
{
    if (query->pus < 2)
        return xy_fail(XY_EUNSUPPORTED, "placement 'smt' needs two hardware threads per core and "
                                        "this machine has one; choose 'numa' or 'bind'");
    memcpy(thread_of, query->core_of, (size_t)query->ranks * sizeof(*thread_of));
    return XY_OK;
}

static const xy_threads_t threads_smt = {
    .name = "smt",
    .describe = "on the sibling hardware thread of their rank",
    .on_sibling = true,
    .place = place_smt,
};

const xy_threads_t *const xy_threads_all[] = {
    &threads_numa, &threads_odd_even, &threads_bind, &threads_dedicated, &threads_smt, NULL,
};

xy_status_t xy_threads_find(const char *name, const xy_threads_t **threads_p)
{
    const xy_threads_t *found = xy_table_find(XY_TABLE(xy_threads_all), name);

    if (found == NULL)
        return xy_table_fail(XY_TABLE(xy_threads_all), "placement of progress threads", name);
    *threads_p = found;
    return XY_OK;
}

xy_status_t xy_threads_place_one(const xy_threads_t *threads, const xy_threads_query_t *query,
                                 int *core_p)
{
    int *thread_of, nearest;
    xy_status_t st;

    if (threads == &threads_dedicated) {
        if (query->comm_count == 0)
            return xy_fail(XY_EUNSUPPORTED, "placement 'dedicated' needs a core without ranks for "
                                            "the thread, and there is none; run fewer ranks, or "
                                            "choose 'numa'");
        nearest = nearest_comm(query, query->core_of[0]);
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
