/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order, `suspend-semaphore`: both at once. Slower than semaphores alone: the supervisor of the
 * suspended threads gets a turn after each of the few that still run, and has ever more of them to
 * look at.
 */
#include "sched/order_internal.h"

static bool admits(const xy_order_thread_t *thread)
{
    return thread->is_ready || thread->is_supervisor;
}

const xy_order_t sched_order_suspend_semaphore = {
    .name = "suspend-semaphore",
    .describe = "semaphore; threads without a collective are skipped",
    .is_cyclic = true,
    .is_fifo = true,
    .has_supervisor = true,
    .admits = admits,
};
