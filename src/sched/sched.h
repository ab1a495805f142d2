/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who runs next, and where. Each policy is one file that ends in one table, and both engines, by
 * the real and by the virtual clock, use the same. This is the header that other components
 * include; each part is a chapter of its own:
 *
 *   threads.h     on which core the progress thread of a rank lives
 *   order.h       which of the threads that share a core is the next
 *   task.h        which ready task a worker takes, what its memory loads and what it gives up
 *   task_room.h   a memory and the copies in it, as both engines keep them
 *   task_trace.h  the trace of tasks, of either clock
 */
#ifndef XY_SCHED_SCHED_H
#define XY_SCHED_SCHED_H

#include "sched/order.h"
#include "sched/threads.h"

#endif
