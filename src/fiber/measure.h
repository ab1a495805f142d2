/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measuring the costs of fibers on this machine.
 *
 *   double seconds[100];
 *   st = xy_fiber_measure(XY_FIBER_SWITCH, NULL, seconds, 100);
 *
 * Each of the values is the mean of a batch that takes from 10 to 1000 microseconds, so that the
 * clock does not count and disturbed batches stand out. A calibration keeps
 * their median. From a thread that is no worker; blocks for a tenth of a second or so.
 */
#ifndef XY_FIBER_MEASURE_H
#define XY_FIBER_MEASURE_H

#include "base/base.h"

typedef enum {
    XY_FIBER_SWITCH,     /* one fiber makes another of its worker ready and parks */
    XY_FIBER_POLL,       /* an idle worker looks around once: mailbox, poll function, clock */
    XY_FIBER_WAKE,       /* across cores, the other worker polls: from the wake until it runs */
    XY_FIBER_WAKE_ASLEEP /* the same when the other worker sleeps in the kernel */
} xy_fiber_cost_t;

/* Fill seconds[count]. `cpus`: the two PUs of the two workers (the first alone counts for a switch
 * or a poll); NULL: not pinned. Errors are those of xy_pool_create and xy_pool_run. */
xy_status_t xy_fiber_measure(xy_fiber_cost_t what, const int cpus[2], double *seconds, int count);

#endif
