/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of the policy relay:
 *
 *   relay.c         the policy: each lane runs its tasks in their order, and loads ahead
 *   relay_order.c   the order
 *
 * A lane is a memory with workers.
 */
#ifndef XY_TASKS_POLICY_RELAY_H
#define XY_TASKS_POLICY_RELAY_H

#include "tasks/policy/policy_internal.h"

typedef struct {
    int32_t lanes;
    int32_t *lane_of;   /* [memories]; -1: no worker computes there */
    int32_t *memory_of; /* [lanes] */
    double *speed;      /* [lanes] */
    xy_op_id_t *order;  /* tasks, lane after lane */
    int32_t *start;     /* [lanes + 1] */
} relay_order_t;

/* ENOMEM in silence: may be cleaned up nevertheless. */
xy_status_t relay_order_init(relay_order_t *order, const xy_task_view_t *view,
                             int32_t extra_rounds);
void relay_order_cleanup(relay_order_t *order);

#endif
