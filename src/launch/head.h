/* SPDX-License-Identifier: BSD-3-Clause */
/* The head of a job of several processes: its table of them, and how they are started. */
#ifndef XY_LAUNCH_HEAD_H
#define XY_LAUNCH_HEAD_H

#include <sys/types.h>

#include "launch/launch_node.h"

/* One comparison of the clock of another host with this one's. */
typedef struct {
    uint64_t time;  /* there, ns */
    int64_t offset; /* to add to it, ns */
    uint64_t error; /* that may be wrong by, ns */
} head_sample_t;

enum { HEAD_SAMPLES = 32 };

typedef struct {
    pid_t pid;                 /* of what was started here; 0: it has ended */
    int status;                /* of waitpid, then */
    xy_channel_t link;         /* its fd is -1 before the process has come, and after it is gone */
    bool is_reached;           /* the launcher has started it */
    bool has_come, is_running; /* HELLO; all cards are exchanged */
    bool has_left;             /* EXIT */
    bool has_failed;           /* and the job continues without it (head_survive.c) */
    char *host, *card;
    long cores_there, slots; /* 0: not known */
    int ranks;
    char *cores;           /* that it is to use, or NULL: all */
    xy_target_cpu_t *cpus; /* its cores, where ranks are placed by a matrix; or NULL */
    uint32_t cpu_count;
    double heard; /* when it last said something */
    double lost;  /* when another process did not reach it any more; or 0 */
    double gone;  /* when it has gone without a word, and that is to be reported; or 0 */
    bool has_traffic;
    struct mpi_profile *profile; /* that it has counted, or NULL */
    int clock_count;             /* samples so far */
    head_sample_t first;         /* the best of the beginning */
    head_sample_t recent[HEAD_SAMPLES];
} head_process_t;

typedef struct {
    const mpi_launch_values_t *values;
    const mpi_head_job_t *job;
    mpi_launch_values_t adapted; /* `values`, where --adapt has changed them */
    int size, count;
    head_process_t *processes; /* [count] */
    uint8_t secret[XY_SECRET_BYTES];
    bool is_local;
    bool shares_cores;       /* there are more processes than cores on this machine */
    xy_listener_t *listener; /* for processes that a launcher starts; or NULL */
    pid_t launcher;          /* of all; 0: there is none, or it has ended */
    int launcher_status;
    bool starts_all; /* it starts all processes, and only it knows how they end */
    const char *launcher_name;
    char *host_file;           /* ours, or NULL */
    int *process_of, *slot_of; /* [size] of ranks that were placed by a matrix; or NULL */
    bool is_input_sent;        /* to the process of `input_rank` */
    bool is_input_away;        /* a piece, which was not taken yet */
    int input;                 /* -1: at its end */
    int input_rank;            /* that reads it; below 0: none */
    bool has_children;         /* ranks are processes of their own (children.h) */
} head_t;

/* Send a process what makes it the same mpiexec as this one (node_boot.c). Of the environment, what
 * belongs to the session here is left out, and what looks like a password, unless -x names it. */
bool head_send_start(const head_t *head, head_process_t *p);

/* Processes on this machine, each with cores of its own. */
xy_status_t head_start_here(head_t *head);

/* ... by a launcher, here or on other hosts. */
bool head_needs_launcher(const head_t *head);
xy_status_t head_start_by_launcher(head_t *head);
/* ... that another launcher has started before: they wait to hear of this head. */
xy_status_t head_start_by_pmi(head_t *head);

/* The contents of NODE_JOB for a process. */
void head_make_job(const head_t *head, int process, xy_text_t *text);

/* How many ranks each gets: slots in order, or in proportion to the cores. Sets the size where it
 * is 0. */
void head_share_ranks(head_t *head);
/* Before they are started: leave out processes that would get none. */
void head_leave_out(head_t *head);

/* By --matrix, on the tree of all hosts: each has as many slots as head_share_ranks gave it ranks,
 * spread over its cores. Needs their cpus. Nothing to do where no matrix is asked for. */
bool head_places(const head_t *head);
/* ... or for --adapt, which may place by a matrix or asks what that would gain. */
bool head_wants_cpus(const head_t *head);
void head_take_cpus(head_process_t *p, const xy_frame_t *frame);
xy_status_t head_place_ranks(head_t *head);
/* The cost of messages when ranks are placed by `m`, relative to blocks of them: at most 1. */
xy_status_t head_place_gain(const head_t *head, const xy_matrix_t *m, double *gain_p);

/* --adapt (head_adapt.c): choose, when the cores of all processes are known and before ranks are
 * placed; take what a process has counted; and remember the run, which took so long and ended well.
 */
xy_status_t head_adapt(head_t *head);
void head_take_profile(head_process_t *p, const xy_frame_t *frame);
void head_adapt_end(const head_t *head, double seconds);

/* Standard input for the process of the rank that reads it. */
void head_input_begin(head_t *head);
int head_input_fd(const head_t *head);
void head_input_read(head_t *head);

/* The records of processes for --trace and --monitor become one (head_tools.c). */
xy_status_t head_tools_begin(const head_t *head);
void head_take_trace(int process, const xy_frame_t *frame);
void head_take_traffic(head_t *head, int process, const xy_frame_t *frame);
/* A ping, which asks for the time as well where clocks are to be compared; and its answer. */
void head_ask_time(head_t *head, int process);
void head_take_time(head_t *head, int process, const xy_frame_t *frame);
/* When all have ended, however. */
xy_status_t head_tools_end(const head_t *head);
/* The records of all; NULL: some are missing. It lives for ever. */
const xy_traffic_t *head_traffic(const head_t *head);

/* Jobs that survive (head_survive.c). A process has failed, as its end or silence shows: notify all
 * others. False: there are none. */
xy_status_t head_survive_check(const head_t *head);
bool head_survives(const head_t *head);
bool head_survive_process(head_t *head, int process);
/* A message of a process about failures; returns a process that it does not reach, or -1. */
int head_survive_take(head_t *head, int process, const xy_frame_t *frame);

/* Share the cores among the processes, where all are on this machine. */
xy_status_t head_share_cores(head_t *head);

#endif
