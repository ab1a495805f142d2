/* SPDX-License-Identifier: BSD-3-Clause */
/* What several task policies share: queues of tasks, and queues with estimated ends. */
#ifndef XY_TASKS_POLICY_POLICY_INTERNAL_H
#define XY_TASKS_POLICY_POLICY_INTERNAL_H

#include "tasks/policy/task.h"

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

/* ---- Tasks by how many of their data a memory lacks (task_near.c) ---- */

enum { SCHED_NEAR_LISTS = 8 }; /* none, one, ..., seven or more */

/* Shared by those of which a task is in one at most. */
typedef struct {
    sched_links_t links;
    uint8_t *list; /* [ops] */
    int16_t *lane; /* [ops]: whose it is */
} sched_near_links_t;

typedef struct {
    const xy_task_view_t *view;
    sched_near_links_t *links;
    int32_t memory, count;
    int16_t lane;
    sched_queue_t lists[SCHED_NEAR_LISTS];
} sched_near_t;

xy_status_t sched_near_links_init(sched_near_links_t *l, const xy_graph_t *graph); /* silent */
void sched_near_links_cleanup(sched_near_links_t *l);
void sched_near_init(sched_near_t *near, const xy_task_view_t *view, int32_t memory, int32_t lane,
                     sched_near_links_t *links);
void sched_near_push(sched_near_t *near, xy_op_id_t op);
void sched_near_remove(sched_near_t *near, xy_op_id_t op);
/* The task that lacks the fewest data, among equals the one that has for longest; -1: none. */
xy_op_id_t sched_near_first(sched_near_t *near);
/* A copy is there, or on its way. has_left[op]: it was removed for good. */
void sched_near_arrived(sched_near_t *near, xy_task_uses_t *uses, const bool *has_left,
                        int32_t data);

extern const xy_task_policy_t sched_task_foresight, sched_task_closure, sched_task_eager,
    sched_task_prio, sched_task_dmda, sched_task_dmdar, sched_task_lws, sched_task_modular,
    sched_task_cache_oblivious;

#endif
