/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress threads, `dedicated`: a core of its own for each. The best overlap, for half of the
 * machine. Ranks in the order of their cores take the free cores in order, so that with `scatter`
 * each thread is beside its rank: 4 ranks on 8 cores are on 0 2 4 6, their threads on 1 3 5 7.
 */
#include "sched/threads_internal.h"

/* Give each rank a free core of its own, in the order of cores; an error if there are fewer free
 * cores than ranks. */
static xy_status_t place(const xy_threads_query_t *query, int *thread_of)
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

const xy_threads_t sched_threads_dedicated = {
    .name = "dedicated",
    .describe = "a free core for each; half of the machine communicates",
    .place = place,
};
