/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots of a running job (xylem top): a client that connects to the door of mpiexec
 * (net/door.h) gets one snapshot as text. In a job of several processes the head asks each over its
 * control connection, and concatenates the answers.
 *
 * Without a client the only cost is a thread that waits for one. Some seconds after the last query,
 * ranks stop recording their calls.
 */
#ifndef XY_LAUNCH_LAUNCH_LIVE_H
#define XY_LAUNCH_LAUNCH_LIVE_H

#include "launch/head.h"

/* The ranks of this process are about to run. In the only process of a job: open the door; failure
 * means that nobody can look. */
void mpi_live_open(mpi_job_t *job, const char *program, bool is_node);
/* In one process of several: the head asks; the answer is sent by another thread. */
void mpi_live_asked(void);

/* In the head: open the door; what to wait for; and a guest has come, a process has answered, or
 * time has passed. */
void head_live_open(head_t *head);
int head_live_fd(void);
void head_live_accept(head_t *head);
void head_live_take(head_t *head, int process, const xy_frame_t *frame);
void head_live_look(head_t *head);

#endif
