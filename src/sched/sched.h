/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress threads: their cores, and the order of those that share one. Each policy is one
 * table, and both engines, by the real and by the virtual clock, use the same.
 * This is the header that other components include; each part is a chapter of its own:
 *
 *   threads.h   on which core the progress thread of a rank runs
 *   thread_order.h     which of the threads that share a core is next
 *
 * The runtime (src/mpi/nbc) and the simulator (src/sim) place threads once, when a job or a
 * simulated node is made, and keep one queue per core, which only that core touches. Policies of
 * tasks are in src/tasks/policy.
 */
#ifndef XY_SCHED_SCHED_H
#define XY_SCHED_SCHED_H

#include "sched/thread_order.h"
#include "sched/threads.h"

#endif
