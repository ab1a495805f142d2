/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of one rank each on several hosts: messages between the collector of a host
 * (children.c) and the head. The head decides; a host starts its processes and forwards their
 * messages.
 */
#ifndef XY_LAUNCH_CHILDREN_H
#define XY_LAUNCH_CHILDREN_H

#include <poll.h>

#include "launch/head.h"

/* ---- On a host (node_children.c) ---- */

/* Where its processes meet: as mpi_meet_open. */
char *node_children_meet(void);
/* In the collector, before it starts them: what to wait for; and then. */
xy_status_t node_children_begin(struct pollfd *fd);
xy_status_t node_children_ready(void);
/* A message of the head. False: the job has ended. */
bool node_children_listen(void (*forward)(int number));
void node_children_tell_end(int rank, int status);
void node_children_leave(int code);

/* ---- In the head (head_children.c) ---- */

/* With an installed MPI each process is one of its own: one for each rank, before they are started.
 */
xy_status_t head_children_split(head_t *head);
/* When it is known which ranks each host has. */
xy_status_t head_children_begin(head_t *head);
/* False: the job cannot continue (reported). */
bool head_children_take(head_t *head, int process, const xy_frame_t *frame);

#endif
