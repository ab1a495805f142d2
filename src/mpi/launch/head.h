/* SPDX-License-Identifier: BSD-3-Clause */
/* The head of a job of several processes: its table of them, and how they are started. */
#ifndef XY_MPI_LAUNCH_HEAD_H
#define XY_MPI_LAUNCH_HEAD_H

#include <sys/types.h>

#include "mpi/launch/node.h"

typedef struct {
    pid_t pid;                 /* of what was started here; 0: it has ended */
    int status;                /* of waitpid, then */
    xy_channel_t link;         /* its fd is -1 before the process has come, and after it is gone */
    bool has_come, is_running; /* HELLO; all cards are exchanged */
    bool has_left;             /* EXIT */
    char *host, *card;
    long cores_there;
    int ranks;
    char *cores;  /* that it is to use, or NULL: all */
    double heard; /* when it last said something */
} head_process_t;

typedef struct {
    const mpi_launch_values_t *values;
    int size, count;
    head_process_t *processes; /* [count] */
    uint8_t secret[XY_SECRET_BYTES];
    bool is_local;
} head_t;

/* Processes on this machine, each with cores of its own. */
xy_status_t head_start_here(head_t *head);

/* How many ranks each gets: as many as it has a share of the cores. */
xy_status_t head_share_ranks(head_t *head);

#endif
