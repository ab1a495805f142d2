/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order, `suspend`: in turn, but threads that have no collective left are set aside until one is
 * posted. A supervisor thread of the core, in turn with the others, looks at those set aside.
 */
#include "sched/order_internal.h"

static bool admits(const xy_order_thread_t *thread)
{
    return thread->has_collective || thread->is_supervisor;
}

const xy_order_t sched_order_suspend = {
    .name = "suspend",
    .describe = "round-robin; threads without a collective are skipped",
    .is_cyclic = true,
    .has_supervisor = true,
    .admits = admits,
};
