/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress threads, `bind`: on the rank's own core.
 *
 * No core is lost, and nothing overlaps: ranks are not preempted, so the thread runs when its rank
 * waits.
 */
#include <string.h>

#include "sched/threads_internal.h"

static xy_status_t place(const xy_threads_query_t *query, int *thread_of)
{
    memcpy(thread_of, query->core_of, (size_t)query->ranks * sizeof(*thread_of));
    return XY_OK;
}

const xy_threads_t sched_threads_bind = {
    .name = "bind",
    .describe = "on the core of their rank; costs no core, overlaps nothing",
    .is_usual = true,
    .place = place,
};
