/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order, `semaphore`: a thread blocks until an operation before it is complete and posts its
 * semaphore, so that threads run exactly in the order of the data and no thread polls.
 */
#include "sched/order_internal.h"

static bool admits(const xy_order_thread_t *thread)
{
    return thread->is_ready;
}

const xy_order_t sched_order_semaphore = {
    .name = "semaphore",
    .describe = "each thread is woken by the previous operation; no thread polls",
    .is_cyclic = true,
    .is_fifo = true,
    .admits = admits,
};
