/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order, `round-robin`: all threads of the core in turn, also those with nothing to do.
 *
 * With n threads a chain of n messages costs about n rounds of n visits, nearly all in vain.
 */
#include "sched/order_internal.h"

static bool admits(const xy_order_thread_t *thread)
{
    (void)thread;
    return true;
}

const xy_order_t sched_order_round_robin = {
    .name = "round-robin",
    .describe = "all threads in turn, whether they have work or not",
    .is_cyclic = true,
    .admits = admits,
};
