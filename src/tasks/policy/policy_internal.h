/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by several policies: lists of tasks, and lists by the data that a memory lacks. */
#ifndef XY_TASKS_POLICY_POLICY_INTERNAL_H
#define XY_TASKS_POLICY_POLICY_INTERNAL_H

#include "tasks/policy/policy_list.h"
#include "tasks/policy/task.h"

/* The task of the list with the fewest missing bytes in `memory`, looking at `limit` of them at
 * most; -1: empty. */
xy_op_id_t policy_list_nearest(const xy_task_list_t *queue, const xy_task_links_t *links,
                               const xy_task_view_t *view, int32_t memory, int32_t limit);

/* ---- Tasks by how many of their data a memory lacks (near.c) ---- */

enum { POLICY_NEAR_LISTS = 8 }; /* none, one, ..., seven or more */

/* Shared by those of which a task is in one at most. */
typedef struct {
    xy_task_links_t links;
    uint8_t *list; /* [ops] */
    int16_t *lane; /* [ops]: whose it is */
} policy_near_links_t;

typedef struct {
    const xy_task_view_t *view;
    policy_near_links_t *links;
    int32_t memory, count;
    int16_t lane;
    xy_task_list_t lists[POLICY_NEAR_LISTS];
} policy_near_t;

xy_status_t policy_near_links_init(policy_near_links_t *l, const xy_graph_t *graph); /* silent */
void policy_near_links_cleanup(policy_near_links_t *l);
void policy_near_init(policy_near_t *near, const xy_task_view_t *view, int32_t memory, int32_t lane,
                      policy_near_links_t *links);
void policy_near_push(policy_near_t *near, xy_op_id_t op);
void policy_near_remove(policy_near_t *near, xy_op_id_t op);
/* The task that lacks the fewest data, among equals the one that has for longest; -1: none. */
xy_op_id_t policy_near_first(policy_near_t *near);
/* A copy is there, or on its way. has_left[op]: it was removed for good. */
void policy_near_arrived(policy_near_t *near, xy_task_uses_t *uses, const bool *has_left,
                         int32_t data);

/* ---- Data in a line (policy_line.c) ---- */

/* The datum that says where a task belongs: the first it writes, or else reads; -1: none. */
int32_t policy_key_datum(const xy_graph_t *graph, xy_op_id_t op);
/* The place of each datum in a line in which those used together are near each other. ENOMEM in
 * silence. */
xy_status_t policy_line_up(const xy_graph_t *graph, int32_t *rank);

/* ---- Policies of the user (policy_plugin.c) ---- */

/* Errors are reported. Any thread. */
xy_status_t policy_plugin_find(const char *path, const xy_task_policy_t **policy_p);
/* Is a fault of this plug-in to be reported? Trials of one choice make the same mistake, maybe side
 * by side: the first one in a process is. */
bool policy_plugin_is_first(const char *path);

extern const xy_task_policy_t policy_foresight, policy_closure, policy_eager, policy_prio,
    policy_dmda, policy_dmdar, policy_lws, policy_modular, policy_cache_oblivious, policy_relay,
    policy_dmdas, policy_darts, policy_random;

#endif
