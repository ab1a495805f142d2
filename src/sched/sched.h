/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who runs next, and where. Each policy is one file that ends in one table, and both engines, by
 * the real and by the virtual clock, use the same. This is the header that other rooms include;
 * each part is a chapter of its own:
 *
 *   task.h  which ready task a worker takes, what its memory loads and what it gives up
 */
#ifndef XY_SCHED_SCHED_H
#define XY_SCHED_SCHED_H

#include "sched/task.h"

#endif
