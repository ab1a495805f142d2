/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Task graphs that several ranks share. All of them know the whole graph, and each datum has an
 * owner; a task runs where the first datum that it writes belongs. From the whole graph each rank
 * makes its share: its tasks, and the messages with their input, which are operations of the same
 * graph.
 *
 *   st = xy_task_share_create(whole, owner, rank, ranks, &share);
 *   ... run share->tasks in the order of share->order (tasks/device/device.h) ...
 *   xy_task_share_destroy(share);
 *
 * A datum is sent to a rank once for each value of it that tasks there read, and in the end to its
 * owner. Messages about one datum between two ranks begin on both sides in the order of its values,
 * because each comes after the last and before the next task that writes it there; so the number of
 * the datum is all the tag that they need. No rank waits for a message while it has a task that
 * could run, provided that its policy keeps none back: then the whole graph, which has no circle,
 * comes to its end.
 */
#ifndef XY_TASKS_RANKS_RANKS_H
#define XY_TASKS_RANKS_RANKS_H

#include "graph/graph.h"

struct xylem_messages; /* of xylem.h: what carries them */

typedef struct {
    int32_t data; /* of the share */
    int32_t peer; /* rank */
    int32_t tag;
    bool is_send;
    uint64_t offset, bytes; /* the part of the datum that moves: all of it, unless the caller says
                               less, on both sides the same: the part that the tasks there read */
} xy_task_message_t;

typedef struct {
    xy_graph_t *tasks;           /* of this rank, with their data */
    xy_graph_t *order;           /* the same, and the messages; the same data */
    xy_op_id_t *node_of;         /* [tasks] in `order` */
    xy_op_id_t *node_of_message; /* [messages] likewise */
    int32_t *what;               /* [order]: a task, or -1 - a message */
    int32_t *data_of;            /* [data of the share]: in the whole graph */
    xy_op_id_t *task_of;         /* [tasks]: likewise */
    int32_t *here;     /* [data of the whole graph]: in the share; -1: it is not used here */
    xy_vec_t messages; /* of xy_task_message_t */
    bool *is_after;    /* [tasks]: it also waits for messages */
    int32_t rank, ranks;
} xy_task_share_t;

/* owner[data] is a rank, or -1, which becomes the rank of the first task that uses it: a task that
 * writes no datum with an owner runs where the first that it reads belongs. The caller destroys the
 * share. XY_ENOMEM, XY_ELIMIT: more data than tags up to last_tag (reported). */
xy_status_t xy_task_share_create(const xy_graph_t *whole, int32_t *owner,
                                 const struct xylem_messages *transport, xy_task_share_t **share_p);
void xy_task_share_destroy(xy_task_share_t *share); /* NULL is fine */

/* ---- One message at a time ---- */

/* Send or receive, and wait. XY_EIO: it failed (reported). */
xy_status_t xy_task_send(const struct xylem_messages *transport, int32_t to, int32_t tag,
                         const void *buffer, uint64_t bytes);
xy_status_t xy_task_receive(const struct xylem_messages *transport, int32_t from, int32_t tag,
                            void *buffer, uint64_t bytes);
/* Make the drivers of GPUs ready, one rank after the other: the first call does that, and not all
 * of them bear two first calls of one process at a time. */
xy_status_t xy_task_ready_gpus(const struct xylem_messages *transport);
/* Ranks of a machine take its `found` GPUs in turn, `wanted` of them each: the number of the first
 * one of this rank (modulo `found`), and how many ranks have the one that most have. */
int32_t xy_task_gpu_first(const struct xylem_messages *transport, int32_t wanted);
int32_t xy_task_gpu_sharers(const struct xylem_messages *transport, int32_t wanted, int32_t found);

#endif
