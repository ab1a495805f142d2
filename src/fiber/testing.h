/* SPDX-License-Identifier: BSD-3-Clause */
/* For unit tests only, of this and of higher components: what a worker does at this moment. */
#ifndef XY_FIBER_TESTING_H
#define XY_FIBER_TESTING_H

#include "fiber/private.h"

/* Does it sleep until it is rung? All that was given to it before is done then. Any thread. */
static inline bool testing_worker_sleeps(const xy_worker_t *worker)
{
    return atomic_load_explicit(&worker->head.asleep, memory_order_acquire) == FIBER_ASLEEP;
}

#endif
