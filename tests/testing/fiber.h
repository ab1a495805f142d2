/* SPDX-License-Identifier: BSD-3-Clause */
/* For unit tests only, of this and of higher components: the state of a worker. */
#ifndef XY_TESTING_FIBER_H
#define XY_TESTING_FIBER_H

#include "fiber/fiber_private.h"

/* Is it asleep until the next wake-up? All earlier work is then complete. Any thread. */
static inline bool testing_worker_sleeps(const xy_worker_t *worker)
{
    return atomic_load_explicit(&worker->head.asleep, memory_order_acquire) == FIBER_ASLEEP;
}

#endif
