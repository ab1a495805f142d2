/* SPDX-License-Identifier: BSD-3-Clause */
/* What several task policies share: queues of tasks, and queues with estimated ends. */
#ifndef XY_SCHED_TASK_INTERNAL_H
#define XY_SCHED_TASK_INTERNAL_H

#include "sched/task.h"

/* Tasks in the order they came; any of them can leave. Several queues share the arrays of links,
 * as a task is in one queue at most. */
typedef struct {
    xy_op_id_t *next, *prev; /* [ops] */
} sched_links_t;

typedef struct {
    xy_op_id_t head, tail; /* -1: empty */
    int32_t count;
} sched_queue_t;

#define SCHED_QUEUE_EMPTY ((sched_queue_t){-1, -1, 0})

xy_status_t sched_links_init(sched_links_t *links, int32_t ops); /* ENOMEM in silence */
void sched_links_cleanup(sched_links_t *links);
void sched_queue_push(sched_queue_t *queue, sched_links_t *links, xy_op_id_t op);
void sched_queue_remove(sched_queue_t *queue, sched_links_t *links, xy_op_id_t op);
xy_op_id_t sched_queue_pop(sched_queue_t *queue, sched_links_t *links); /* -1: empty */

/* The task of the queue with the fewest missing bytes in `memory`, looking at `limit` of them at
 * most; -1: empty. */
xy_op_id_t sched_queue_nearest(const sched_queue_t *queue, const sched_links_t *links,
                               const xy_task_view_t *view, int32_t memory, int32_t limit);

extern const xy_task_policy_t sched_task_foresight, sched_task_closure, sched_task_eager,
    sched_task_prio, sched_task_dmda, sched_task_dmdar, sched_task_lws, sched_task_modular,
    sched_task_cache_oblivious;

#endif
