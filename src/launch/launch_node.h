/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs of several processes: messages between mpiexec, the head, and the processes that it has
 * started, the nodes, over the control connection.
 *
 *   node: HELLO                     head, when all have said so: JOB
 *   node: CARD (one or more)        head, when all have sent theirs: CARDS
 *   node: EXIT                      when it ends
 *   head: END                       end now, with this exit code; others have failed
 *
 * A node is the same executable with the same command line; the variable XYLEM_NODE has the
 * descriptor of its connection. A node that starts itself again (restart.c) says HELLO again.
 */
#ifndef XY_LAUNCH_NODE_H
#define XY_LAUNCH_NODE_H

#include <string.h>

#include "cost/cost.h"
#include "launch/host_list.h"
#include "launch/launch.h"
#include "net/net.h"
#include "place/place.h"
#include "trace/trace.h"

#define XMPI_NODE_VARIABLE "XYLEM_NODE"
/* The secret of the job in a process that a launcher has started. */
#define XMPI_NODE_SECRET "XYLEM_NODE_SECRET"
/* XYLEM_NODE in a process that another launcher has started (pmi_start.c). */
#define XMPI_NODE_BY_PMI "pmi"

/* Does an installed MPI carry messages? Its launcher starts the job then. */
static inline bool node_is_over_mpi(const char *net)
{
    return strcmp(net, "mpi") == 0 || strcmp(net, "mpi-only") == 0;
}

enum { NODE_EXIT_FAILED = 2 }; /* of EXIT: this process has failed, and the job may survive */

/* Fields are texts, each with its NUL; numbers are decimal. Over a network the secret of JOB is "":
 * the launcher has brought it. In what JOIN says to all, a salt is in the place of a secret, which
 * is derived from it and that of the job. */
typedef enum {
    NODE_HELLO = 1, /* version, processor, host, cores, own address */
    NODE_JOB,    /* process, processes, transport, secret, is local, has a launcher, the rank that
                    reads standard input, cores, the
                    plan of --adapt, whether calls and messages are counted for it, what
                    was measured of libraries that may carry messages: how many, and of each
                    name, latency (ns), bandwidth (bytes/s), eager limit;
                    then of each process
                    its host and the number of its ranks; where ranks are placed by a matrix,
                    of each rank its process and its slot there */
    NODE_CARD,   /* the card */
    NODE_CARDS,  /* all cards */
    NODE_SAY,    /* a line for the user; equal ones are printed once */
    NODE_EXIT,   /* exit code, "1" if the whole job is to end with it; NODE_EXIT_FAILED */
    NODE_END,    /* exit code, and why if what ranks are doing is to be printed first; or "" */
    NODE_SIGNAL, /* number: as if it had been sent to the process */
    NODE_PING,   /* fields for the answer, or none */
    NODE_PONG,   /* with the time there (monotonic ns) */
    NODE_READY,  /* it listens, and its ranks are about to run */
    NODE_START,  /* to a process that a launcher has started: see node_boot.c */
    NODE_INPUT,  /* bytes of standard input; none: it is at its end */
    NODE_INPUT_TAKEN,
    NODE_CPUS,    /* asked for with none: of xy_target_cpu_t, its cores */
    NODE_TRACE,   /* the next bytes of the trace that it records */
    NODE_TRAFFIC, /* of xy_traffic_record_t; none: these were all */
    NODE_PROFILE, /* its counts for --adapt, as the text of a profile (mpi/adapt) */
    NODE_REPORT,  /* the next bytes of its profile for --report */
    NODE_LOOK,    /* asked for with none: what its ranks do now (report/live.h) */
    NODE_FOUND,   /* its findings of --check (mpi_check_take) */
    /* Messages of a job that survives (mpi/p2p/survive.h): */
    NODE_LOST,   /* a process that this one does not reach any more */
    NODE_FAILED, /* to the head: a rank; from the head: "1" of a process, "0" of a rank, number */
    NODE_REVOKE, /* a context */
    NODE_AGREE,  /* mpi_agree_ask_t with its members; from the head: mpi_agree_answer_t */
    /* Where ranks are processes of their own: */
    NODE_JOIN,  /* to the head: the number of a process there, a kind (0: it is gone), and what it
                   says (bindings.h); from the head: a kind, and the message to all */
    NODE_CHILD, /* a rank that has ended, and what waitpid says about it */
} node_kind_t;

/* The fields of a frame, in turn. */
typedef struct {
    const char *at, *end;
} node_fields_t;

static inline node_fields_t node_fields(const xy_frame_t *frame)
{
    return (node_fields_t){frame->bytes, frame->bytes + frame->size};
}

/* NULL: there are no more. */
const char *node_field(node_fields_t *fields);
/* A number within bounds; false: it is none. */
bool node_field_number(node_fields_t *fields, long min, long max, long *value_p);
void node_field_add(xy_text_t *text, const char *field);
void node_field_add_number(xy_text_t *text, long number);

/* A node's data about its job. */
typedef struct mpi_node_job {
    int process, processes;
    int size;
    int *own, count;    /* its ranks, growing */
    int *slots;         /* [count] where they run, of `count` slots over its cores; NULL: it places
                           them itself */
    int *process_of;    /* [size] */
    const char **hosts; /* [processes] */
    const char *transport;
    const char *cores; /* a list for --cores, or NULL */
    const char *plan;  /* of --adapt, as a word */
    bool counts;       /* calls and messages for --adapt */
    xy_net_measured_t measured[XY_CARRIERS_MAX];
    int measured_count;
    uint8_t secret[XY_SECRET_BYTES];
    bool is_local;
    bool shares_cores; /* with other processes of the job */
    bool has_launcher; /* that has started it */
    bool has_input;    /* that the head sends */
} mpi_node_job_t;

/* In a process that the head has started: meet it and get the job, which lives for ever; NULL in
 * any other process. */
xy_status_t mpi_node_begin(const mpi_node_job_t **job_p);
/* ... in one that a launcher has started: find it first. Returns only when that fails. */
xy_status_t mpi_node_boot(const char *where);
/* ... in one that another launcher has started for several ranks: process 0 returns and is the head
 * of all, the others are nodes and return only when that fails. */
xy_status_t mpi_pmi_begin(void);
bool mpi_pmi_is_head(void);
/* The processes that it has started, with the ranks of each. */
xy_status_t mpi_pmi_hosts(mpi_hosts_t *hosts);
/* Was this process started by a launcher, whose variables are hidden from ranks? From those that
 * are processes of their own not where they use the MPI of that launcher. */
bool mpi_node_hides_launcher(bool is_mpi);
/* The secret of the job. */
const uint8_t *mpi_node_secret(void);
/* Was this process started by a head, which has read the same command line? */
bool mpi_node_is_one(void);
/* Has this process the rank for which the head sends standard input? */
bool mpi_node_has_input(void);
/* This process has made another one that speaks with the head from now on. */
void mpi_node_hand_over(void);
/* This process is about to start itself again: let the connection live. */
xy_status_t mpi_node_keep(void);
/* Connect to the other processes, then do what the head says, on a thread of its own. */
xy_status_t mpi_node_open(bool survives, xy_net_t **net_p);
/* This process ends: its ranks have ended, or it has failed and the job ends with it. */
void mpi_node_leave(int code, bool has_failed);

/* The records of the process: its trace goes through the pipe whose other end is at `path` and,
 * until that is opened, in *keep_p (node_tools.c). */
xy_status_t mpi_node_trace_open(char path[64], int *keep_p);
xy_status_t mpi_node_send_traffic(const xy_traffic_t *t);
xy_status_t mpi_node_send_profile(mpi_job_t *job);
/* ... all that is in the pipe; also while the process ends. */
void node_trace_drain(void);

/* The value of XYLEM_NODE for a connection that the next program takes over; false: no
 * descriptor. */
bool node_link_text(const xy_channel_t *link, char *text, size_t size);
bool node_send(node_kind_t kind, const void *bytes, size_t size);
xy_channel_t *node_link(void);
void node_answer_ping(const xy_frame_t *ping);
/* The findings of --check; also while the process ends. */
bool mpi_node_send_found(const void *bytes, size_t size);
/* The seed of --check=shuffle that all processes of the job have. */
uint64_t mpi_node_seed(const uint8_t secret[XY_SECRET_BYTES]);

/* Jobs that survive (node_survive.c): before the processes are connected; what the head says. */
xy_status_t mpi_node_survive(const mpi_node_job_t *job);
void node_survive_take(const xy_frame_t *frame);

/* Standard input from the head (node_input.c). `taken` is called when a piece was read. */
xy_status_t node_input_begin(void (*taken)(void), int (*start)(void *(*)(void *), void *));
void node_input_take(xy_frame_t *frame);

typedef struct {
    const mpi_launch_values_t *values;
    const xy_vec_t *parts;    /* of mpi_part_t */
    mpi_settings_t *settings; /* as the command line has them */
    int size;                 /* 0: as many ranks as there is room for */
    const mpi_hosts_t *hosts; /* none: this machine */
    bool has_children;        /* ranks are processes of their own (children.h) */
} mpi_head_job_t;

/* Start the processes, serve them, and return the exit code of the job. */
int mpi_head_run(const mpi_head_job_t *job);

/* --survive (launch_survive.c): how many processes; hosts NULL: in a process of the job. */
xy_status_t mpi_launch_survive(mpi_launch_values_t *v, int size, const mpi_hosts_t *hosts);

/* --check (launch_checks.c): what the options say; where what is found goes, before ranks run;
 * `job` NULL: this is the head, which collects it and in the end has the exit code for `code`. */
xy_status_t mpi_launch_checks_read(const mpi_launch_values_t *v);
xy_status_t mpi_launch_checks_read_several(const mpi_launch_values_t *v);
/* How long cores poll before they sleep: shorter with --check, where receives from any source wait
 * until all of them do. */
double mpi_launch_checks_spin(const mpi_launch_values_t *v); /* in the head */
xy_status_t mpi_launch_checks_begin(const mpi_launch_values_t *v, const char *program,
                                    const mpi_job_t *job, const mpi_node_job_t *node);
int mpi_launch_checks_collect(int ranks, int code);

#endif
