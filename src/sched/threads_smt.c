/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress threads, `smt`: on the second hardware thread of the rank's core.
 *
 * Good for network traffic, harmful for copies in memory: both threads fight for the lines of one
 * L1 cache. And only good at all when the idle loop of the thread sleeps instead of spinning.
 */
#include <string.h>

#include "sched/threads_internal.h"

static xy_status_t place(const xy_threads_query_t *query, int *thread_of)
{
    if (query->pus < 2)
        return xy_fail(XY_EUNSUPPORTED, "placement 'smt' needs two hardware threads per core and "
                                        "this machine has one; choose 'numa' or 'bind'");
    memcpy(thread_of, query->core_of, (size_t)query->ranks * sizeof(*thread_of));
    return XY_OK;
}

const xy_threads_t sched_threads_smt = {
    .name = "smt",
    .describe = "on the sibling hardware thread of their rank",
    .on_sibling = true,
    .place = place,
};
