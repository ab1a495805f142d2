/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated MPI job: processes on the cores of a machine, by the virtual clock. A driver decides
 * the operations of each process; the job gives their times.
 *
 *   xy_vjob_config_t c = {.machine = m, .procs = 64, .core_of = core_of, .run = run, .owner = me};
 *   xy_vjob_costs_default(&c.costs);
 *   st = xy_vjob_create(&c, &job);
 *   st = xy_vjob_run(job);             (calls run(me, p) whenever process p may continue)
 *   seconds = xy_vjob_end(job);
 *   xy_vjob_destroy(job);
 *
 *   void run(void *me, int32_t p)      (here: each process sends 8 bytes to the next one)
 *   {
 *       switch (step[p]++) {
 *       case 0:
 *           reqs[p][0] = xy_vjob_irecv(job, p, &(xy_vjob_p2p_t){.peer = before, .bytes = 8}, NULL);
 *           reqs[p][1] = xy_vjob_isend(job, p, &(xy_vjob_p2p_t){.peer = after, .bytes = 8}, NULL);
 *           if (!xy_vjob_wait(job, p, reqs[p], 2, XY_VJOB_ALL))
 *               return;                                      (run() is called when it is complete)
 *           step[p]++;
 *           // fall through
 *       case 1:
 *           xy_vjob_release(job, reqs[p][0]); ...
 *           xy_vjob_finish(job, p);
 *       }
 *   }
 *
 * Each process has a time of its own, xy_vjob_now(). Computing, starting a send, a receive or a
 * collective move it forward and return at once, ahead of the clock: messages meet by the order of
 * the sends of a process, of the receives of a process and of arrivals, and none of these depends
 * on when the calls are made. Waiting, testing and probing depend on it, so they return false where
 * the clock must come first: the driver then leaves run(), and is called again when the process may
 * continue, with the result in place. A driver with a thread of control per process switches to
 * another one instead. Everything happens on the one thread that called xy_vjob_run().
 *
 * A send too far ahead of the clock is not complete at once: waiting for it waits for the clock,
 * without virtual time, so that messages in flight stay bounded. Drivers need no code for that.
 *
 * Two drivers that make the same calls get the same times, to the last bit. MPI calls are these:
 *
 *   MPI_Send          isend, wait            MPI_Sendrecv   irecv, isend, wait for both
 *   MPI_Recv          irecv, wait            MPI_Bcast ...  collective, wait
 *   MPI_Ssend, MPI_Bsend, MPI_Rsend: likewise, by the mode of the send
 *
 * ---- What a message costs ----
 *
 * Of n bytes, on a machine without other traffic; o_s and o_r are `send` and `receive` of the
 * costs, seconds of the core of the sender and of the receiver, and no message of a process is
 * handled while another one is:
 *
 *   in a node, n <= eager     o_s + n/copy  +  latency  +  o_r + n/copy
 *   in a node, n > eager      o_s  +  latency  +  o_r + n/copy         (the receiver copies)
 *   between nodes, n <= eager o_s + n/copy  +  L + n/B  +  o_r + n/copy
 *   between nodes, n > eager  o_s + L  +  o_r + L  +  o_s + L + n/B  +  o_r   (ask, answer, data)
 *
 * L and B are latency and bandwidth of the machine between the two nodes. A message model of the
 * store for the two clusters replaces the sum: its time beyond the overheads and latencies is the
 * copy, or, between nodes, latency. The send of an eager message is complete when the sender has
 * handed it out; that of a large one when the receiver has copied it (and a `latency` later), or
 * when its data has crossed the network. A synchronous one is always sent like a large one. With
 * `link`, every message takes link.alpha + n*link.beta and nothing else, as coll/coll.h counts.
 *
 * Contention: between nodes, messages of more than `packet` bytes are flows with max-min fair rates
 * (flow.h); smaller ones cross their links one after the other, each when the last packet has left
 * it, in the order in which they were sent, and neither slow flows down nor are slowed down by
 * them. Inside a node, copies of large messages and of direct collectives share the memory (`numa`,
 * `link`); small messages are in caches.
 *
 * Who does the receiver's part, the answer of a large message and the steps of a collective:
 *
 *   none      the process, inside wait, test and probe, in the order in which they became ready
 *   tasks     the process where it is inside those; else the communication core of its node that
 *             is free first; a process without one in its node: as with none
 *   threads   the process where it is inside those; else a thread on the same core, which slows the
 *             computation down by what it takes
 *
 * Nonblocking collectives of Xylem inside a node where each process has a core, with communication
 * cores, threads or a split, are done by the simulated node (node.h), by the clock of the job.
 *
 * Processes that share a core, and threads of a process, take turns: one has the core until it
 * waits, fails a test or ends; the next is the one that could continue first. A test or probe
 * without success takes `test` seconds.
 *
 * ---- Order ----
 *
 * Things happen in the order of time. At one instant: in the order in which they were planned
 * (event.h), where processes begin in the order of their numbers. Messages of one process to
 * another are matched in the order of their sends, receives in the order in which they were
 * started; a receive from any source takes the message that arrived first.
 *
 * Memory is linear in processes and messages in flight (and, with `path`, in the waits on the
 * longest paths). One job belongs to one thread at a time.
 */
#ifndef XY_SIM_JOB_H
#define XY_SIM_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "coll/coll.h"
#include "cost/cost.h"
#include "graph/graph.h"
#include "machine/machine.h"
#include "sched/sched.h"
#include "sim/node.h"
#include "trace/trace.h"

typedef struct xy_vjob xy_vjob_t;
typedef struct xy_vreq xy_vreq_t;   /* of a send, a receive or a collective */
typedef struct xy_vcomm xy_vcomm_t; /* a communicator */
typedef struct xy_vcoll xy_vcoll_t; /* one collective of all its processes */

enum { XY_VJOB_ANY = -1 }; /* source or tag */

/* Bytes of the messages of MPI_Intercomm_create: the leaders exchange the first, and the one with
 * the lower number sends the second. */
enum { XY_VJOB_GREETING = 16, XY_VJOB_PLAN = 56 };

/* Seconds and bytes per second; 0 bandwidth: without limit. */
typedef struct {
    double send, receive; /* of a core, for each message */
    double latency;       /* from core to core of a node */
    double copy;          /* bytes per second that one core copies */
    double reduce;        /* ... and reduces */
    double numa, link;    /* ... that all cores copy in a NUMA node, from one to another */
    double test;          /* a test or probe without success */
    double swap;          /* from one process of a core to the next */
    double start;         /* of a core, to start another process */
    double task;          /* direct collectives: take a piece of the work */
    double notice;        /* ... tell another core that it is complete */
    double eager;         /* bytes, inside a node and */
    double eager_net;     /* between nodes: more is sent by ask, answer, data */
    double packet;        /* bytes, between nodes: more is a flow */
    double socket;        /* bytes, between nodes that have a model: more keeps its sender */
    bool keeps_eager;     /* both limits hold, whatever the models of the store say */
} xy_vjob_costs_t;

/* One of these figures, by name. */
typedef struct {
    const char *name;
    size_t offset; /* of a double in xy_vjob_costs_t */
    double value;  /* before anything was measured */
    const char *unit, *text;
} xy_vjob_figure_t;

const xy_vjob_figure_t *xy_vjob_figures(size_t *count_p);
double xy_vjob_figure_value(const xy_vjob_costs_t *costs, const xy_vjob_figure_t *figure);

/* The costs of this machine before anything was measured: the figures of xy_coll_link_default. */
void xy_vjob_costs_default(xy_vjob_costs_t *costs);
/* Set the figures that the store (NULL: none) sets. EINVAL, reported: there is no such figure. */
xy_status_t xy_vjob_costs_set(xy_vjob_costs_t *costs, const xy_costs_t *store);
/* The costs of a node (node.h) where a message and a copy cost this. */
void xy_vjob_costs_of_node(const xy_vjob_costs_t *costs, xy_sim_costs_t *node);
/* ... and of a job whose processes are those of such a node. */
void xy_vjob_costs_from_node(xy_vjob_costs_t *costs, const xy_sim_costs_t *node);

/* The action on the data of a step of a collective. A step whose data comes from another process is
 * captured when it is sent and delivered when it is received: the sender may continue in between.
 * Captured is what the sender has of it: of XY_OP_COMBINE `from`, `other`, or, where both are its
 * own, what they give together. All other steps are done at once. */
typedef enum { XY_VJOB_CAPTURE, XY_VJOB_DELIVER, XY_VJOB_DO } xy_vjob_phase_t;

/* S levels are S + 1; the best for the expected computation; for the measured one. */
enum { XY_VJOB_SPLIT_OFF = 0, XY_VJOB_SPLIT_AUTO = -1, XY_VJOB_SPLIT_ADAPTIVE = -2 };

typedef struct {
    const xy_machine_t *machine;
    int32_t procs;
    int32_t room;    /* ... that there may be with those of xy_vjob_start; at most `procs`: none */
    int32_t threads; /* that all of them may have at once (xy_vjob_thread) */
    const int32_t *core_of; /* [procs] usable cores of the machine in its order, from 0 */
    xy_sim_progress_t progress;
    const int32_t *comm_cores; /* tasks: [comm_core_count] cores without a process */
    int32_t comm_core_count;
    /* Progress threads, as for a node (node.h): [XY_COLL_COUNT] where they are and in which order
     * those of a core run; NULL, or NULL for a collective: the best. And their priority. */
    const xy_threads_t *const *places;
    const xy_order_t *const *orders;
    int priority;
    int split; /* of nonblocking trees: XY_VJOB_SPLIT_..., or a number of levels and 1 more */
    xy_vjob_costs_t costs;
    const xy_coll_link_t *link; /* messages take this, whatever the machine is; or NULL */
    const xy_costs_t *store;    /* models of messages; or NULL */
    /* The library whose collectives are used, and whose models of messages where the store has
     * them: NULL or "xylem"; "openmpi", "mpich". */
    const char *library;
    const char *algorithm; /* of collectives that have it, instead; or NULL */
    /* The algorithms of some of Xylem's own calls, where it has a choice: nonblocking ones, and
     * those of several nodes; or NULL. */
    const xy_coll_picks_t *picks;
    const xy_coll_reconsider_t *reconsider; /* ... of blocking ones, while the job runs; or NULL */
    bool has_matrix;                        /* count messages per pair of processes */
    bool has_path;                          /* find the critical path */
    xy_trace_t *trace;                      /* with XY_TRACE_VIRTUAL; or NULL */
    bool has_steps; /* the driver tells calls by xy_vjob_step: messages become steps, too */

    void *owner; /* for the callbacks */
    /* The process may continue, from the beginning or from where a call returned false. */
    void (*run)(void *owner, int32_t proc);
    /* The data of an eager or buffered send is to be kept: its buffer may change now. NULL: there
     * is no data. */
    void (*capture)(void *owner, void *send_data);
    /* The data of a send goes to a receive that is about to be over. What was captured is not
     * needed after that. NULL: likewise. */
    void (*copy)(void *owner, void *send_data, void *receive_data);
    /* A ready send has arrived before its receive was posted. NULL: it is received all the same. */
    void (*unready)(void *owner, void *send_data);
    /* A captured message will never be received. May be NULL. */
    void (*drop)(void *owner, void *send_data);
    /* A step of a collective; *slot_p is the driver's, from capture to deliver. NULL: likewise. */
    void (*step)(void *owner, xy_vcoll_t *coll, const xy_op_t *op, xy_vjob_phase_t phase,
                 void **slot_p);
    /* The collective is complete on all processes: its memory goes. May be NULL. */
    void (*coll_over)(void *owner, xy_vcoll_t *coll);
    /* Nothing can happen any more and some processes wait. xy_vjob_run() returns XY_EINVAL then,
     * in silence. May be NULL. */
    void (*stuck)(void *owner);
} xy_vjob_config_t;

/* The machine, the store and the trace must live as long as the job; arrays are copied. EINVAL: no
 * process, no such core; EUNSUPPORTED: two nodes without a link that has figures; EUSAGE: no such
 * library; ENOMEM. All are reported. */
xy_status_t xy_vjob_create(const xy_vjob_config_t *config, xy_vjob_t **job_p);
void xy_vjob_destroy(xy_vjob_t *job); /* NULL is fine */

/* All processes from the beginning, until all have finished: XY_OK. XY_EINVAL: they are stuck. What
 * failed inside a call (XY_ENOMEM, reported; a collective that cannot be built) ends the run too.
 * Once for each job. */
xy_status_t xy_vjob_run(xy_vjob_t *job);
/* The run ends before anything else happens, with this status (MPI_Abort). */
void xy_vjob_stop(xy_vjob_t *job, xy_status_t status);

/* ---- A process ---- */

/* Its own time, seconds. */
double xy_vjob_now(const xy_vjob_t *job, int32_t proc);
/* It computes. True: continue. */
bool xy_vjob_compute(xy_vjob_t *job, int32_t proc, double seconds);
/* The node, and the core, that it is on. */
int32_t xy_vjob_node(const xy_vjob_t *job, int32_t proc);
int32_t xy_vjob_core(const xy_vjob_t *job, int32_t proc);
/* The slowdown of code that was timed on a core while the others were idle: more where other cores
 * of the node have processes, by the model of messages there. 1: not measured. */
double xy_vjob_code_pace(const xy_vjob_t *job, int32_t proc);
/* It does nothing until then (sleeps), without its core. */
bool xy_vjob_sleep(xy_vjob_t *job, int32_t proc, double seconds);
/* It has ended: no more calls. */
void xy_vjob_finish(xy_vjob_t *job, int32_t proc);
/* Process `proc` starts another one, below `room`, which is not there yet or has finished: its core
 * is busy for `start` seconds, and the new one begins when a message without data would be there.
 * What was sent to it before and not received is dropped. XY_EINVAL: no such core; XY_ENOMEM. Both
 * are reported. */
xy_status_t xy_vjob_start(xy_vjob_t *job, int32_t proc, int32_t other, int32_t core);
/* ---- Threads of a process ----
 *
 * A thread has a time of its own, as a process has. It is on the core of its process, where all
 * take turns, as processes that share a core do. Where a call takes a process, it may also be given
 * the number of a thread: messages and parts of collectives are then those of the process, and the
 * call takes time of the thread. Any thread may wait for a request of another one, which is then
 * its own. Work for the process is done by the one of its threads that has been longest in a call.
 */

/* `proc`, a process or a thread of it, starts another one, which begins at once and takes its first
 * turn when it has the core. *thread_p is its number, which may have been that of an earlier one.
 * XY_ENOMEM: there are config.threads, or memory ran out; reported. */
xy_status_t xy_vjob_thread(xy_vjob_t *job, int32_t proc, int32_t *thread_p);
/* Its number among the threads of its process, as in traces: from 1; 0: it is the process. */
int32_t xy_vjob_thread_of(const xy_vjob_t *job, int32_t proc);
/* It leaves its core until another one wakes it, or for so many seconds (INFINITY: no limit).
 * Always false: leave, and continue later. */
bool xy_vjob_block(xy_vjob_t *job, int32_t proc, double seconds);
/* `proc`, which runs, lets `other` continue, at the time of `proc`, if it is blocked. */
void xy_vjob_wake(xy_vjob_t *job, int32_t proc, int32_t other);

/* The clock has passed the end of the process, or it never began. */
bool xy_vjob_is_over(const xy_vjob_t *job, int32_t proc);
/* Following calls and waits of the process belong to this line (or whatever the number means). */
void xy_vjob_set_line(xy_vjob_t *job, int32_t proc, uint32_t line);
/* The name of the MPI call that begins, for traces; 0 (xy_trace_label) ends it. */
void xy_vjob_set_call(xy_vjob_t *job, int32_t proc, uint32_t label);
/* The call that has begun is a step of the process in the trace, made from this place
 * (xy_trace_site). And its part in a collective. */
void xy_vjob_step(xy_vjob_t *job, int32_t proc, uint32_t site);
void xy_vjob_step_collective(xy_vjob_t *job, int32_t proc, const xy_trace_collective_t *part);
/* Likewise: what it computes from now on. */
void xy_vjob_set_kernel(xy_vjob_t *job, int32_t proc, uint32_t label);

/* ---- Messages ---- */

typedef enum {
    XY_VJOB_STANDARD,
    XY_VJOB_SYNCHRONOUS,
    XY_VJOB_READY,
    XY_VJOB_BUFFERED,
} xy_vjob_mode_t;

typedef struct {
    uint32_t context; /* messages meet in it only */
    int32_t peer;     /* process of the job; a receive: or XY_VJOB_ANY */
    int32_t tag;      /* a receive: or XY_VJOB_ANY */
    xy_vjob_mode_t mode;
    uint64_t bytes;   /* of a receive: room, which nothing depends on */
    bool is_blocking; /* a send: the call that starts it also ends it (MPI_Send, MPI_Sendrecv) */
    uint64_t buffer;  /* a send: its address, or a number for it; 0: not known */
} xy_vjob_p2p_t;

/* The received message, or the result of a probe. */
typedef struct {
    int32_t source, tag;
    uint64_t bytes;
    void *send_data;
    bool is_cancelled;
} xy_vjob_status_t;

/* `data` is the driver's, for its callbacks. NULL: memory ran out, which ends the run; the driver
 * leaves run() then. */
xy_vreq_t *xy_vjob_isend(xy_vjob_t *job, int32_t proc, const xy_vjob_p2p_t *p2p, void *data);
xy_vreq_t *xy_vjob_irecv(xy_vjob_t *job, int32_t proc, const xy_vjob_p2p_t *p2p, void *data);

/* The driver needs the request no more. One that is not over goes when it is (MPI_Request_free).
 * NULL is fine. */
void xy_vjob_release(xy_vjob_t *job, xy_vreq_t *request);
/* Is it over at the time of its process? What was found so stays so. */
bool xy_vjob_is_done(const xy_vjob_t *job, const xy_vreq_t *request);
/* The status of a complete receive; of a send: is_cancelled only. */
void xy_vjob_status(const xy_vjob_t *job, const xy_vreq_t *request, xy_vjob_status_t *status);

typedef enum { XY_VJOB_ALL, XY_VJOB_ONE } xy_vjob_how_t; /* all of them; at least one */

/* Wait for them; NULL among them are not there. The array stays until the process continues. True:
 * over, continue. Without requests: over. */
bool xy_vjob_wait(xy_vjob_t *job, int32_t proc, xy_vreq_t *const *requests, size_t count,
                  xy_vjob_how_t how);
/* Are they? True: continue; false: leave, and continue later. In both cases xy_vjob_flag() has the
 * answer when the process continues; without success that is `test` seconds later. */
bool xy_vjob_test(xy_vjob_t *job, int32_t proc, xy_vreq_t *const *requests, size_t count,
                  xy_vjob_how_t how);
/* For one that looks for deadlocks, between two calls: is no message under way to the process? Each
 * that was sent to it has been received, or has come without a receive that takes it. */
bool xy_vjob_is_quiet(const xy_vjob_t *job, int32_t proc);
/* ... is it a receive, and has no message met it? */
bool xy_vjob_is_unmet(const xy_vreq_t *request);
/* ... does it wait for a message, and has none come that it may take? */
bool xy_vjob_is_probing(const xy_vjob_t *job, int32_t proc);
/* ... a number that changes when a message is sent to the process, and when one arrives. */
uint64_t xy_vjob_incoming(const xy_vjob_t *job, int32_t proc);
/* ... those that have come without a receive, from the first. */
void xy_vjob_each_unmet(const xy_vjob_t *job, int32_t proc,
                        void (*found)(void *user, const void *send_data), void *user);
/* Wait for a message (is_waiting), or look for one; xy_vjob_flag() and xy_vjob_found() have the
 * answer. With `take` the message is taken out and only the handle that comes with it receives it
 * (MPI_Mprobe). */
bool xy_vjob_probe(xy_vjob_t *job, int32_t proc, const xy_vjob_p2p_t *p2p, bool is_waiting,
                   bool take);
bool xy_vjob_flag(const xy_vjob_t *job, int32_t proc);
void xy_vjob_found(const xy_vjob_t *job, int32_t proc, xy_vjob_status_t *status);
/* The message that the last probe took (NULL: none), and its receive (MPI_Imrecv). */
typedef struct xy_vmsg xy_vmsg_t;
xy_vmsg_t *xy_vjob_taken(const xy_vjob_t *job, int32_t proc);
xy_vreq_t *xy_vjob_imrecv(xy_vjob_t *job, int32_t proc, xy_vmsg_t *message, void *data);
/* Cancel a receive that no message has met, or a send that no receive has; the request is then over
 * with is_cancelled. True: continue. */
bool xy_vjob_cancel(xy_vjob_t *job, int32_t proc, xy_vreq_t *request);

/* ---- One-sided ---- */

typedef struct {
    int32_t peer;          /* process of the job; it takes no part, and may be the caller */
    uint64_t bytes;        /* that go there */
    bool is_answered;      /* and then */
    uint64_t answer_bytes; /* ... that come back */
    bool is_hidden;        /* it is counted as no message of the program */
} xy_vjob_remote_t;

/* The process writes to memory of another one, or asks for some of it: each way takes as long as a
 * message of that size alone, without contention; the caller's core is busy for the sending of the
 * first. *end_p: when the last byte has arrived. It is counted as one message of the bytes of both
 * ways, as by the monitor. False: memory ran out, which ends the run. */
bool xy_vjob_remote(xy_vjob_t *job, int32_t proc, const xy_vjob_remote_t *remote, double *end_p);
/* A request that is complete at that time of the process. NULL: memory ran out, as above. */
xy_vreq_t *xy_vjob_until(xy_vjob_t *job, int32_t proc, double time);
/* The clock comes to the time of the process, so that what others do before is done. True:
 * continue.
 */
bool xy_vjob_sync(xy_vjob_t *job, int32_t proc);

/* ---- Collectives ---- */

/* The communicator of these processes, in the order of its ranks, with a context of its own for
 * collectives; the same list for all of them. Found again by its context; gone with the job. NULL:
 * memory ran out. */
xy_vcomm_t *xy_vjob_comm(xy_vjob_t *job, uint32_t context, const int32_t *procs, int32_t count);

/* The arguments of one process of the call. Arrays are in elements and are copied where needed. */
typedef struct {
    xy_collective_t collective;
    int32_t root;
    uint64_t count, element; /* as in xy_coll_request_t */
    bool is_commutative, in_place;
    bool is_nonblocking; /* for the rules of libraries, as */
    bool is_user_op;     /* ... an operation that the program has made */
    bool is_agreement;   /* of a call that makes a communicator: a direct one counts no data */
    /* gatherv, scatterv: [ranks], at the root; allgatherv, reduce_scatter: everywhere; alltoallv
     * and w: what this process sends to each. */
    const uint64_t *counts;
} xy_vjob_coll_t;

/* The process takes part: its next one of the communicator. Collectives of a communicator are
 * started in the same order everywhere. NULL: it cannot be built, which ends the run. */
xy_vreq_t *xy_vjob_collective(xy_vjob_t *job, int32_t proc, xy_vcomm_t *comm,
                              const xy_vjob_coll_t *call, void *data);
/* After a nonblocking one was started. False: the process stays in its start call; leave, and
 * continue later. */
bool xy_vjob_entered(xy_vjob_t *job, int32_t proc, const xy_vreq_t *request);
/* For `step`: what the process of this rank gave as data (NULL: it is not there yet), the graph
 * (for the sizes of temporary buffers), how many ranks there are. */
void *xy_vjob_coll_data(const xy_vcoll_t *coll, int32_t rank);
const xy_graph_t *xy_vjob_coll_graph(const xy_vcoll_t *coll);
int32_t xy_vjob_coll_ranks(const xy_vcoll_t *coll);

/* ---- Results, when the run has ended ---- */

typedef struct {
    double end;                          /* when it finished */
    double compute, communication, idle; /* communication: its core moved or handled messages */
    double slept;                        /* part of idle */
    uint64_t messages, bytes;            /* that it sent, collectives included */
    bool is_waiting;                     /* it never finished */
    uint32_t line;                       /* where it was last */
} xy_vjob_proc_t;

double xy_vjob_end(const xy_vjob_t *job); /* of the last process */
void xy_vjob_proc(const xy_vjob_t *job, int32_t proc, xy_vjob_proc_t *result);

/* Messages of the program from one process to another, and of collectives. */
typedef struct {
    int32_t from, to;
    uint64_t messages, bytes;
    uint64_t coll_messages, coll_bytes;
} xy_vjob_pair_t;

typedef struct {
    uint64_t messages, bytes; /* of the program */
    uint64_t coll_messages, coll_bytes;
    uint64_t collectives, events;
} xy_vjob_totals_t;

void xy_vjob_totals(const xy_vjob_t *job, xy_vjob_totals_t *totals);
/* Collectives that were alike: those of Xylem that have a choice of algorithms. */
typedef struct xy_vjob_calls {
    xy_collective_t collective;
    int procs, nodes;
    uint64_t bytes, element; /* of the first: count * element */
    uint64_t calls;
    double seconds; /* of all, each from the last process that came to the last that left */
    bool is_nonblocking;
    const xy_coll_algorithm_t *algorithm; /* of the first, as */
    xy_coll_link_t link;                  /* ... what is between its processes, */
    int root;                             /* ... its root, */
    const int32_t *members;               /* ... and they, as long as the job lives */
} xy_vjob_calls_t;
/* By collective, processes, step of the size, and whether they block. Appends xy_vjob_calls_t.
 * XY_ENOMEM is reported. */
xy_status_t xy_vjob_calls(const xy_vjob_t *job, xy_vec_t *calls);
/* The time of one such call alone, by this algorithm, which must be applicable. In a job of its
 * own: `job` stays as it is. */
xy_status_t xy_vjob_try(const xy_vjob_t *job, const xy_vjob_calls_t *calls,
                        const xy_coll_algorithm_t *algorithm, double *seconds_p);
/* All pairs that exchanged something (`has_matrix`), by `from`, then `to`. Appends xy_vjob_pair_t.
 * XY_ENOMEM is reported. */
xy_status_t xy_vjob_matrix(const xy_vjob_t *job, xy_vec_t *pairs);

/* The critical path (`has_path`): what the process that ended last waited for, and that for before.
 * By line and kind, longest first; the seconds add up to xy_vjob_end(). Appends
 * xy_vjob_path_part_t. */
typedef enum {
    XY_VJOB_COMPUTING,
    XY_VJOB_CALLING,  /* overheads and copies of a core */
    XY_VJOB_CARRYING, /* a message was on its way; of the line that waited for it */
    XY_VJOB_SLEEPING, /* xy_vjob_sleep; a turn of its core */
} xy_vjob_kind_t;

typedef struct {
    uint32_t line;
    xy_vjob_kind_t kind;
    double seconds;
} xy_vjob_path_part_t;

xy_status_t xy_vjob_path(const xy_vjob_t *job, xy_vec_t *parts);

#endif
