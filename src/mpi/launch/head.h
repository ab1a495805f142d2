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
    bool is_reached;           /* the launcher has started it */
    bool has_come, is_running; /* HELLO; all cards are exchanged */
    bool has_left;             /* EXIT */
    char *host, *card;
    long cores_there, slots; /* 0: not known */
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
    xy_listener_t *listener; /* for processes that a launcher starts; or NULL */
    pid_t launcher;          /* of all; 0: there is none, or it has ended */
    int launcher_status;
    bool starts_all; /* it starts all processes, and only it knows how they end */
    const char *launcher_name;
    char *host_file;    /* ours, or NULL */
    bool is_input_sent; /* to process 0 */
    bool is_input_away; /* a piece, which was not taken yet */
    int input;          /* -1: at its end */
} head_t;

/* Processes on this machine, each with cores of its own. */
xy_status_t head_start_here(head_t *head);

/* ... by a launcher, here or on other hosts. */
bool head_needs_launcher(const head_t *head);
xy_status_t head_start_by_launcher(head_t *head);

/* How many ranks each gets: slots in order, or in proportion to the cores. Sets the size where it
 * is 0. */
void head_share_ranks(head_t *head);
/* Before they are started: leave out processes that would get none. */
void head_leave_out(head_t *head);

/* Standard input for process 0. */
void head_input_begin(head_t *head);
int head_input_fd(const head_t *head);
void head_input_read(head_t *head);

/* Which cores each gets, where all are on this machine. */
xy_status_t head_share_cores(head_t *head);

#endif
