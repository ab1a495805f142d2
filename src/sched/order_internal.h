/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the orders (private to the component). */
#ifndef XY_SCHED_ORDER_INTERNAL_H
#define XY_SCHED_ORDER_INTERNAL_H

#include "sched/order.h"

extern const xy_order_t sched_order_round_robin;
extern const xy_order_t sched_order_suspend;
extern const xy_order_t sched_order_semaphore;
extern const xy_order_t sched_order_suspend_semaphore;
extern const xy_order_t sched_order_priority;

/* Put an unlisted thread in front of `before`; -1: at the end. */
void sched_order_insert(xy_order_queue_t *queue, int32_t thread, int32_t before);

#endif
