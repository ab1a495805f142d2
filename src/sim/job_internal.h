/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated job from inside (private to the component).
 *
 *   job.c          making it, and running it
 *   job_proc.c     a process: its time, its turn on the core, when it continues
 *   job_thread.c   threads of a process
 *   job_start.c    processes that begin: all at once, or while the job runs
 *   job_work.c     what must be done for a process, and who does it
 *   job_load.c     a core that copies, where memory has a limit
 *   job_figures.c  the names of figures, and what they are where nothing was measured
 *   job_way.c      what a message costs between two nodes
 *   job_words.c    what pieces and words of direct collectives cost
 *   job_cache.c    what a message costs when its data has left the cache
 *   job_message.c  sends, receives and the protocols between them
 *   job_stream.c   what one process sends another over a socket stays in its order
 *   job_remote.c   reading and writing memory of another process
 *   job_wait.c     waiting, testing, probing, cancelling
 *   job_comm.c     communicators
 *   job_coll.c     a collective: its steps, one after the other
 *   job_sim.c     ... or done by a simulated node, where something makes progress with it
 *   job_shape.c    the graphs of collectives, each kept for the next of the same shape
 *   job_adapt.c    which algorithm they have where that is reconsidered
 *   job_steps.c    ... and their operations, made ready to be run
 *   job_order.c    the order of messages in collectives of other libraries
 *   job_direct.c   what direct collectives count in the matrix
 *   job_path.c     the critical path
 *   job_result.c   the results
 *   job_record.c   the trace
 */
#ifndef XY_SIM_JOB_INTERNAL_H
#define XY_SIM_JOB_INTERNAL_H

#include <string.h>

#include "match/match.h"
#include "sim/event.h"
#include "sim/flow.h"
#include "sim/job.h"
#include "sim/net.h"
#include "sim/sim_forecast.h"
#include "sim/sim_memory.h"

typedef struct job_item job_item_t;
typedef struct job_proc job_proc_t;
typedef struct job_node job_node_t;
typedef struct job_way job_way_t;
typedef struct job_shape job_shape_t;
typedef struct job_adapted job_adapted_t;
typedef struct job_scheduled job_scheduled_t;
typedef struct job_sim_way job_sim_way_t;

/* A large job has more objects than the second cache holds, so what is used together shares lines,
 * and records begin with one. */
enum { JOB_LINE = 64 };

/* Objects of one size, a multiple or a part of a line: those that were given back come first. */
typedef struct {
    size_t size;
    void *free;        /* the first bytes of each are the next one */
    char *fresh, *end; /* memory that was never used */
} job_pool_t;

/* A copy among the work of an item, through a domain of the memory (sim_memory.h). */
typedef struct {
    double seconds; /* at full speed */
    int32_t domain;
    float weight; /* of the bandwidth of a copy, what it takes */
} job_load_t;

/* Work for a process: how long it takes a core from `start` on, and what follows when it is
 * complete. `end` may be ahead of the clock. */
struct job_item {
    double (*seconds)(xy_vjob_t *job, job_item_t *item, double start);
    /* The i-th copy among these seconds; false: there is none. NULL: none at all. */
    bool (*load)(const xy_vjob_t *job, job_item_t *item, double seconds, int32_t i,
                 job_load_t *load);
    void (*done)(xy_vjob_t *job, job_item_t *item, double end, job_node_t *because);
    job_item_t *next;
    double ready;     /* not before */
    job_node_t *node; /* critical path: what made it ready; or NULL */
    int32_t proc;
    bool is_core;   /* any process of the core can do it: see core_handle() */
    bool is_shared; /* a piece of a direct collective: any core of the node can do it */
};

/* A stretch of time on a path: from the end of `before` to `at`. */
struct job_node {
    job_node_t *before; /* first: the next free one */
    double at;
    uint32_t line;
    uint32_t uses;
    uint8_t kind; /* xy_vjob_kind_t */
};

typedef enum { JOB_SEND, JOB_RECEIVE, JOB_COLLECTIVE, JOB_TIMED } job_request_kind_t;

struct xy_vreq {
    xy_match_entry_t entry; /* receive: among those posted */
    job_node_t *node;
    /* The second line. */
    bool is_done, is_waited, is_released, is_posted, is_cancelled;
    bool is_early; /* collective: it came before the sizes were known */
    job_request_kind_t kind;
    int32_t proc;
    double done_at;
    double posted_at;
    void *data;
    xy_vmsg_t *message; /* that it met; of a send: its own while it is on its way */
    xy_vcoll_t *coll;
    int32_t rank;     /* in the collective */
    int32_t measured; /* ... it, and 1 more, until the wait for it begins */
    /* The third. */
    xy_vjob_status_t status;
    xy_event_t event; /* collective: the process enters */
};

/* Where a message is. */
typedef enum {
    JOB_INJECT, /* it is at the network */
    JOB_ARRIVE, /* its first bytes, or the question, are at the receiver */
    JOB_ANSWER, /* the answer is at the sender */
    JOB_DATA,   /* its data flows */
    JOB_WORK,   /* the receiver has work, and has come to it */
    JOB_NOTICE, /* the sender hears that it was copied in its node, or received */
    JOB_HEARD,  /* the sender hears that its data is there, and tells the receiver */
    JOB_TOLD,   /* the receiver hears that all of it is there */
} job_stage_t;

/* When the send of a large message between nodes is complete. */
typedef enum {
    JOB_WRITTEN, /* the system has its data; of more than a socket takes: its data has arrived */
    JOB_NOTICED, /* a latency after it was received */
    JOB_HELD, /* its data was acknowledged; then the receiver is notified, and its receive ends */
} job_end_t;

struct xy_vmsg {
    xy_match_entry_t entry; /* among those that no receive has met */
    uint64_t bytes;
    /* The second line: what its events need first. */
    xy_event_t event;
    int32_t from, to;
    uint8_t stage; /* job_stage_t */
    uint8_t ends;  /* job_end_t */
    bool is_eager, is_synchronous, is_ready, is_captured;
    bool is_blocking; /* its send */
    bool is_arrived;  /* its first byte: it can be matched */
    bool is_there;    /* all of it up to the receiver's own work */
    bool is_met;      /* a step of a collective waits for it */
    bool is_taken;    /* by a probe */
    bool is_dead;     /* cancelled */
    bool is_flying;   /* counted in its sender's `flying` */
    /* The third and the fourth. */
    job_item_t item;
    job_way_t *way;
    job_node_t *node;
    xy_vreq_t *send, *receive; /* NULL: not there (any more) */
    void *send_data;
    xy_vcoll_t *coll; /* a step of it, instead of a receive */
    void *slot;
    int32_t op;
    double data_at, receive_busy;
    /* Fields for its sending, and for large ones. */
    double sent, send_busy, extra, spared;
    uint64_t buffer; /* of its sender; 0: not known */
    uint64_t step;   /* in the trace; 0: it is no step */
    double late;     /* more work of the receiver, where its receive comes later than the message */
    double cross;    /* more latency, where the receiver has sent something the other way */
    double left;     /* bytes that its receiver's core had touched when it was sent */
    xy_flow_t flow;
};

typedef enum {
    JOB_RUNNING,
    JOB_WAITING,   /* in a call that does the work of the process */
    JOB_PROBING,   /* likewise: waits for a message */
    JOB_COMPUTING, /* threads: until its event */
    JOB_RESUMING,  /* continues at its event, or when it has the core */
    JOB_TESTING,   /* has the core, and looks at its event */
    JOB_ENTERING,  /* in the start call of a collective that a node does */
    JOB_FINISHED,
} job_state_t;

/* The action of a test, a probe or a cancel when the clock has come. */
typedef struct {
    xy_vreq_t *const *requests;
    size_t count, left;
    xy_vjob_how_t how;
    double until;     /* the last end of those that are complete */
    job_node_t *node; /* ... and what it came from */
    bool has_until, is_probe, is_waiting, takes;
    xy_vreq_t *cancel;
    xy_envelope_t envelope;
} job_call_t;

struct job_proc {
    double now;
    job_state_t state;
    int32_t core, host, number;
    int32_t flying;    /* its messages inside the node that are not received */
    int32_t started;   /* messages since it last waited */
    bool has_received; /* since it last sent */
    job_node_t *node;
    xy_vmsg_t *last_sent; /* while it is not received: the last one to another core of the node */
    uint32_t line;
    int32_t ahead;       /* sends since it last waited for the clock */
    uint64_t arrived;    /* messages to it, but for those of collectives, */
    uint64_t gone;       /* ... that are complete, */
    uint64_t incoming;   /* ... that were sent */
    job_proc_t *process; /* itself, or the process whose thread it is: see job_thread.c */
    xy_match_t match;
    job_item_t *first, **last; /* work that nobody does yet */
    double communication;
    job_call_t call;
    xy_event_t event;
    int32_t next; /* of those that want the core */
    int32_t next_helper;
    bool is_helper;  /* among those that wait and would help */
    bool is_leaving; /* its call ends when its core has copied, or done an operation of a node */
    uint64_t messages, bytes;
    double arrival[2]; /* of its last message to another core of the node, to its own */
    /* Fields that most calls do not need. */
    bool flag;
    uint32_t label, kernel;
    xy_vjob_status_t found;
    xy_vmsg_t *taken;
    double thread_busy, compute_since; /* threads: until then; the computation that continues */
    double compute, slept;
    double end;
    bool is_there;                 /* it has begun and not finished, */
    bool has_core;                 /* ... and counts among those of its core */
    double absent;                 /* seconds of the job that it was not there */
    double call_since, wait_since; /* trace */
    uint64_t held_since, held_end; /* a wait that is not written yet, ns */
    bool is_wait_held;
    xy_trace_row_t *row;
    xy_hash_t pairs;                   /* peer to xy_vjob_pair_t */
    bool is_blocked;                   /* until xy_vjob_wake() or its event */
    int32_t first_thread, free_thread; /* of the process, in the order of creation; -1 */
    int32_t next_thread;               /* in one of these lists; -1 */
    int32_t thread; /* its number in the process; of the process: how many it has had at once */
};

/* A core that does an item with copies, by the clock. */
typedef struct job_copier {
    xy_share_user_t user; /* first */
    xy_event_t event;     /* of its core */
    job_item_t *item;     /* NULL: it does nothing */
    int32_t who, next;    /* for `over`; the next copy */
    double start, seconds;
    double left; /* threads: of a computation, to be continued */
    void (*over)(xy_vjob_t *job, struct job_copier *copier, job_item_t *item);
    job_item_t *first, **last; /* work for processes of the core that has come since */
} job_copier_t;

typedef struct {
    int32_t procs;
    bool has_threads;    /* a process of it has had some */
    int32_t first, last; /* processes that want it; -1 */
    int32_t holder;      /* the last process that had it; -1 */
    double busy;         /* until then */
    double left;         /* bytes for its processes, since a sender of it let them run */
    double touched;      /* bytes that its copies have read and written */
    uint64_t buffer;     /* that it has read last, of a large message; 0: not known */
    int32_t buffer_of;   /* ... and whose it is */
    xy_event_t event;
    job_copier_t copier;
} job_core_t;

/* A communication core. */
typedef struct job_comm_core {
    xy_event_t event; /* it has done `item` */
    job_item_t *item;
    struct job_comm_core *next; /* idle ones of the host */
    int32_t host, core;
} job_comm_core_t;

typedef struct {
    bool has_comm;
    job_comm_core_t *idle;
    job_item_t *first, **last; /* work that waits for a communication core */
    int32_t helper;            /* the first process that waits and would do shared work; -1 */
    job_way_t *way, *same;     /* between its cores, inside one */
} job_host_t;

/* Barriers, those around sums, and small collectives with a root. */
typedef enum { JOB_WORD_MEET, JOB_WORD_SUM, JOB_WORD_ROOT, JOB_WORDS } job_word_t;

struct job_way {
    sim_path_t *path; /* NULL: inside a node */
    bool is_same;     /* ... between processes of one core */
    const xy_message_model_t *model;
    double send, receive, latency;
    uint64_t eager;
    /* The last size that was asked for. */
    uint64_t bytes;
    bool was_eager;
    uint8_t ends; /* job_end_t */
    double send_busy, extra, spared, receive_busy, late, cross;
    double request; /* of each side, more for a nonblocking message */
};

/* Data queued after other data on its way, from the same process to the same other one. */
typedef struct job_behind {
    struct job_behind *next;
    xy_vmsg_t *message;
    job_stage_t stage; /* that it comes to; JOB_DATA: it is data itself */
    double when;       /* not before */
} job_behind_t;

/* Data in front of a link: what is there, and what comes. */
typedef struct {
    double since;
    double queued, coming; /* bytes */
    double rate;           /* at which they come */
    /* Where it is the first link of a way: what sockets have for it, and the most of it that is in
     * front of it at once. */
    double own_since, own_left, own_most;
} job_queue_t;

typedef struct {
    xy_vmsg_t *flowing; /* the message whose data is on its way; NULL: none */
    job_behind_t *first, **last;
} job_stream_t;

struct xy_vcomm {
    int32_t count;
    int32_t *procs;      /* [count] */
    int *nodes;          /* [count] of each, from 0 in the order in which they appear */
    int *groups;         /* [count] cores, likewise */
    uint64_t *sequence;  /* [count] collectives that each has started */
    xy_vcoll_t *oldest;  /* of those that are not over */
    xy_vcoll_t **newest; /* where the next one goes */
    xy_vcoll_t *free;
    xy_coll_link_t link;   /* for the chooser, */
    xy_coll_link_t inside; /* ... and of two processes of one node, where some have several */
    uint64_t layout;       /* nodes, cores and link */
    xy_hash_t ranks;       /* process to rank + 1, where the numbers differ */
    xy_coll_reconsidered_t *reconsidered;
    /* Seconds between start and Wait, a running mean; 0: none yet. */
    double computed[XY_COLL_COUNT];
};

/* A step of a collective while it is not over. */
typedef struct {
    int32_t send_left, receive_left;
    double send_at, receive_at; /* not before, when none is left */
    xy_vmsg_t *message;         /* it has arrived and nothing more */
} job_step_t;

/* Work of a step that is no message. */
typedef struct {
    job_item_t item; /* first */
    xy_event_t event;
    xy_vcoll_t *coll;
    int32_t op;
} job_local_t;

struct xy_vcoll {
    xy_vcoll_t *next; /* of the communicator; of the free ones */
    xy_vcomm_t *comm;
    job_shape_t *shape; /* NULL: not known yet */
    uint64_t number;
    xy_vreq_t **requests;     /* [ranks] NULL: not there yet, or over */
    void **data;              /* [ranks] */
    job_step_t *steps;        /* with rank_at and rank_left behind them */
    double *rank_at;          /* [ranks] when what has ended ended */
    int32_t *rank_left;       /* [ranks] halves of steps that it waits for */
    int32_t entered, left;    /* ranks that have come; that are not over */
    double last_in, last_out; /* when the last of them did */
    xy_vjob_coll_t call;      /* of the first, or of the root */
    uint64_t *counts;         /* that were given, of all */
    size_t count_room;
    xy_event_t event;                  /* it becomes known */
    job_scheduled_t *scheduled;        /* on a node; or NULL */
    job_adapted_t *adapted;            /* its algorithm is reconsidered; or NULL */
    uint64_t decision;                 /* number of the last one when it began */
    const xy_coll_algorithm_t *wanted; /* instead of that of the plan; or NULL */
};

struct xy_vjob {
    xy_vjob_config_t config;
    uint64_t steps; /* messages in the trace that are steps of their processes */
    xy_vjob_costs_t costs;
    const xy_coll_library_t *library;
    /* Messages between the cores of the first node, and inside a core; or NULL. */
    const xy_message_model_t *copy_model, *core_model;
    /* A word from core to core in a direct collective: seconds of both cores together. 0: a message
     * of no bytes. */
    double word[JOB_WORDS];
    double line[2];  /* until what another core has written is there: one more line, the first */
    double far_root; /* a word of a small collective with a root is so much later there */
    double piece;    /* of work of a direct collective, beside its bytes */
    double pass;     /* to come takes so much more where it does not wait for all */
    double block;    /* one more block in a piece of work, beside its bytes */
    double call[XY_COLL_COUNT]; /* of another library: of a process, besides messages */
    xy_coll_link_t link;
    bool has_link;
    xy_vclock_t clock;
    sim_net_t net;
    double *link_free;       /* [links] when the last packet has left it */
    job_queue_t *link_queue; /* [links] data of sockets in front of it */
    xy_arena_t *arena;
    job_pool_t messages, requests, nodes, locals, behinds;
    int core_count, host_count;
    int *host_of; /* [cores] */
    xy_obj_t *hosts;
    job_core_t *cores;
    job_host_t *host;
    job_comm_core_t *comm;
    sim_memory_t memory;
    job_proc_t *procs;
    xy_hash_t ways, comms, shapes;
    xy_hash_t sockets; /* from and to: job_stream_t, where data of large messages was on its way */
    xy_hash_t streams; /* from and to: how far the core was when it last copied such a message */
    xy_vec_t all_comms, all_shapes; /* of pointers */
    int *core_of;                   /* [config.procs] of those that the job began with, for */
    job_sim_way_t *sims;
    job_scheduled_t *scheduled; /* collectives there */
    int32_t known;              /* processes that were ever there have numbers below it */
    int32_t begun, finished;    /* a process, or a thread, counts each time */
    int32_t threads;            /* numbers that were given to threads */
    bool is_stopped;
    xy_status_t status;
    xy_vjob_totals_t totals;
    uint32_t kind_compute, kind_call, kind_wait, counter_core;
};

/* job.c */
void *job_get_fresh(xy_vjob_t *job, job_pool_t *pool);
void job_fail(xy_vjob_t *job, xy_status_t status); /* reported before; the run ends */

/* NULL: memory ran out; the run ends. */
static inline void *job_get(xy_vjob_t *job, job_pool_t *pool)
{
    void *object = pool->free;

    if (object == NULL)
        return job_get_fresh(job, pool);
    memcpy(&pool->free, object, sizeof(pool->free));
    __builtin_prefetch(pool->free); /* given back long ago, for the next call */
    return object;
}

static inline void job_put(job_pool_t *pool, void *object)
{
    memcpy(object, &pool->free, sizeof(pool->free));
    pool->free = object;
}

/* job_proc.c */
xy_status_t job_proc_init(xy_vjob_t *job, int32_t proc, int32_t core);
/* The process continues at this time, when it has the core; idle until then. */
void job_proc_resume(xy_vjob_t *job, job_proc_t *p, double when);
void job_core_due(xy_event_t *event);
void job_core_plan(xy_vjob_t *job, job_core_t *core); /* when the next process has the core */
/* Its time moves on while its core works for it; while it does nothing. */
void job_proc_busy(xy_vjob_t *job, job_proc_t *p, double until);
void job_proc_idle(xy_vjob_t *job, job_proc_t *p, double until, job_node_t *because);

/* Do processes, or threads, take turns there? */
static inline bool job_core_is_shared(const job_core_t *core)
{
    return core->procs > 1 || core->has_threads;
}

/* job_thread.c */
/* Memory for so many processes and threads, zeros; NULL: there is none. And given back. */
job_proc_t *job_procs_make(const xy_vjob_t *job, size_t count);
void job_procs_free(xy_vjob_t *job);
/* The thread for work of a process: one that is in a call. */
job_proc_t *job_thread_for(xy_vjob_t *job, job_proc_t *process);
/* A turn has ended: threads that wait do the work that was left to it. */
void job_threads_catch_up(xy_vjob_t *job, job_proc_t *process);
/* A message is there that no receive has met: for those that probe. */
void job_threads_probe(xy_vjob_t *job, job_proc_t *process);
/* The process ends, and its threads with it. */
void job_threads_finish(xy_vjob_t *job, job_proc_t *process);
/* The request is one of the thread that waits for it, or tests it. */
void job_threads_take(const job_proc_t *p, xy_vreq_t *const *requests, size_t count);

/* job_start.c */
int32_t job_room(const xy_vjob_config_t *config); /* processes that there may be */
/* Numbers up to this one are those of processes, or of threads, that may begin. */
xy_status_t job_proc_make_known(xy_vjob_t *job, int32_t proc, int32_t core);
xy_status_t job_start_all(xy_vjob_t *job);
/* Drop the messages to the process that no receive has met. */
void job_proc_drop_messages(xy_vjob_t *job, job_proc_t *p);
/* XY_EINVAL, reported: there is no such core. */
xy_status_t job_check_core(const xy_vjob_t *job, const char *what, int32_t number, int32_t core);

/* job_coll.c: its last process has left; its memory is for the next one. */
void job_coll_over(xy_vjob_t *job, xy_vcoll_t *coll);

/* job_sim.c */
/* Does a node do such calls? */
bool job_sim_takes(const xy_vjob_t *job, const xy_vcomm_t *comm, const xy_vjob_coll_t *call);
bool job_sim_splits(const xy_vjob_t *job, xy_collective_t collective); /* may it be split? */
void job_sim_cleanup(xy_vjob_t *job);
/* The process of this rank has come, by the clock. */
void job_sim_arrive(xy_vjob_t *job, xy_vcoll_t *coll, int32_t rank);
/* It waits for what it has started: note how long it has computed. */
void job_sim_measure(const job_proc_t *p, xy_vreq_t *request);
void job_sim_wait(xy_vjob_t *job, job_proc_t *p); /* by the clock */
/* False: not before its core has done an operation; job_wait_free() comes then. */
bool job_sim_leave(xy_vjob_t *job, job_proc_t *p);
/* In a test: its core does an operation, and job_wait_free() comes then; false: there is none. */
bool job_sim_help(xy_vjob_t *job, job_proc_t *p);

/* job_work.c */
/* There is work for a process now (or from item->ready on): it is done or kept. */
void job_work(xy_vjob_t *job, job_item_t *item);
/* There is work for the process of `p`, which runs. It is kept; where others do it for the process,
 * `event` comes when the clock has come to the time of the process, and calls job_work(). */
void job_work_later(xy_vjob_t *job, job_proc_t *p, job_item_t *item, xy_event_t *event);
/* Does a communication core or a thread work for it while it computes? */
bool job_work_has_helper(const xy_vjob_t *job, const job_proc_t *p);
/* The process is in a call: what was kept and is ready. */
void job_work_ready(xy_vjob_t *job, job_proc_t *p);
/* The first that was kept: as if it came now. */
void job_work_take(xy_vjob_t *job, job_proc_t *p);
/* The process waits, and does shared work of its host while there is some. */
void job_work_help(xy_vjob_t *job, job_proc_t *p);
void job_comm_due(xy_event_t *event);
/* In a test: its core copies, and job_wait_free() comes then; false: it has nothing to copy. */
bool job_work_test(xy_vjob_t *job, job_proc_t *p);

/* job_load.c */
/* Does the item share memory that has a limit? Then it is done by the clock. */
static inline bool job_is_load(const xy_vjob_t *job, const job_item_t *item)
{
    return item->load != NULL && job->memory.is_limited;
}

/* The core does such an item from `start` on, and calls over(); it does nothing of the kind yet. */
void job_load_begin(xy_vjob_t *job, int32_t core, int32_t who, job_item_t *item, double start,
                    void (*over)(xy_vjob_t *job, job_copier_t *copier, job_item_t *item));
/* ... until then other work of its processes waits. */
void job_load_keep(job_core_t *core, job_item_t *item);
void job_load_due(xy_event_t *event);

/* job_way.c */
job_way_t *job_way(xy_vjob_t *job, int32_t from, int32_t to); /* NULL: the run ends */
/* The model between two nodes, or of one core; NULL: the store has none. */
const xy_message_model_t *job_way_model(const xy_vjob_t *job, int32_t from, int32_t to,
                                        bool is_same);
double job_way_seconds(const job_way_t *way, uint64_t bytes); /* in all, by its model */

/* job_cost.c */
void job_way_cost(xy_vjob_t *job, xy_vmsg_t *message);
/* How far apart messages of a stream arrive, by the samples; 0: not measured. */
double job_way_gap(const xy_message_model_t *model, uint64_t bytes);

/* job_words.c */
/* The time of a core to copy so many bytes; and the source of the figures, once there are
 * processes. */
double job_way_copy(const xy_vjob_t *job, uint64_t bytes, bool is_same);
/* ... of a block that goes from a root or to it: only one side reads what lies with the other, as
 * in a stream of messages, so it takes no longer than one of these. */
double job_way_rooted(const xy_vjob_t *job, uint64_t bytes, bool is_same);
/* ... and to add so many to what stays in the first cache, as direct reductions do. */
double job_way_read(const xy_vjob_t *job, uint64_t bytes, bool is_same);
void job_way_find_copy(xy_vjob_t *job);
/* The cost of a message that is a word of a direct collective. */
void job_way_word(const xy_vjob_t *job, xy_vmsg_t *message, job_word_t word);

/* job_cache.c: the seconds of a copy with what it takes more, and note that it was made. */
typedef struct {
    int32_t core;
    bool is_shared; /* the core has just read the same source */
    bool is_step;   /* of a direct collective */
    uint64_t bytes;
} job_copy_t;

double job_cache_copy(xy_vjob_t *job, const job_copy_t *copy, double seconds, double *last);
double job_cache_message(xy_vjob_t *job, const xy_vmsg_t *message, double seconds);
/* The whole time of receiving. */
double job_cache_eager(xy_vjob_t *job, const xy_vmsg_t *message);
/* More seconds to receive an eager message that has waited for its receive until `now`. */
double job_cache_late(xy_vjob_t *job, const xy_vmsg_t *message, double now);

/* job_remote.c: *end_p is when a message would have been received that has all links to itself. */
bool job_remote_alone(xy_vjob_t *job, int32_t from, int32_t to, double start, double *end_p);

/* job_message.c */
xy_vmsg_t *job_message_new(xy_vjob_t *job, int32_t from, int32_t to, uint64_t bytes);
/* The sender of a message has done its part. */
void job_message_launch(xy_vjob_t *job, xy_vmsg_t *message, double end);
/* Is it a question that its receive answers itself, before the process does anything else? So it
 * is where messages were measured: the answer is written before what the process sends next. */
bool job_message_asks(const xy_vmsg_t *message);
void job_message_answer(xy_vjob_t *job, xy_vmsg_t *message, double when); /* by that call */
/* A receive (or step) has met a message that is at the receiver. */
void job_message_met(xy_vjob_t *job, xy_vmsg_t *message, bool is_now);
void job_message_flowed(void *job, xy_flow_t *flow);
void job_message_foresee(const xy_event_t *event); /* of the clock: any event of the job */
void job_message_free(xy_vjob_t *job, xy_vmsg_t *message);
void job_message_plan(xy_vjob_t *job, xy_vmsg_t *message, job_stage_t stage, double when);

/* job_stream.c */
/* Is its data sent in the order of a socket? Where messages were measured they are those of
 * sockets. The system has its data at once, up to so many bytes; or its send holds. */
bool job_stream_has(const xy_vjob_t *job, const xy_vmsg_t *message);
/* Is there data before the message, or before the answer to it? It then comes to the stage when
 * that data is there, and not before `when`. */
bool job_stream_waits(xy_vjob_t *job, xy_vmsg_t *message, bool is_answer, job_stage_t stage,
                      double when);
/* Write the answer at `from`; it arrives at `when` if nothing is before it. */
void job_stream_answer(xy_vjob_t *job, xy_vmsg_t *message, job_stage_t stage, double from,
                       double when);
/* When the last of so many bytes has crossed all links, and when the first one has (*first_p, which
 * is when it came to them). */
double job_stream_cross(xy_vjob_t *job, const job_way_t *way, uint64_t bytes, bool keeps,
                        double *first_p);
/* Its data flows from then on, or behind other data. */
void job_stream_data(xy_vjob_t *job, xy_vmsg_t *message, double when);
/* ... and is there. */
void job_stream_flowed(xy_vjob_t *job, const xy_vmsg_t *message);
xy_vreq_t *job_request_collective(xy_vjob_t *job, int32_t proc, void *data);
xy_vreq_t *job_request_timed(xy_vjob_t *job, int32_t proc);
void job_request_done(xy_vjob_t *job, xy_vreq_t *request, double at, job_node_t *because);
xy_envelope_t job_envelope(const xy_vjob_p2p_t *p2p);
/* In the matrix alone: data of a collective. */
void job_count_pair(xy_vjob_t *job, int32_t from, int32_t to, uint64_t bytes);
/* job_direct.c: all of a collective that is direct. */
void job_count_direct(xy_vjob_t *job, const xy_vcoll_t *coll);
/* ... what is direct of another one. */
void job_count_pieces(xy_vjob_t *job, const xy_vcoll_t *coll);
void job_count_message(xy_vjob_t *job, int32_t from, int32_t to, uint64_t bytes, bool is_coll);

/* job_wait.c */
void job_wait_done(xy_vjob_t *job, job_proc_t *p, xy_vreq_t *request); /* awaited */
/* Its core has copied, or done an operation of a node: it leaves its call if it wanted to. */
void job_wait_free(xy_vjob_t *job, job_proc_t *p);
void job_test_due(xy_vjob_t *job, job_proc_t *p);
/* A message is there that no receive has met. */
void job_probe_arrived(xy_vjob_t *job, job_proc_t *p);

/* job_coll.c: steps of a collective. */
void job_coll_arrived(xy_vjob_t *job, xy_vmsg_t *message); /* the message of one */
void job_coll_sent(xy_vjob_t *job, xy_vcoll_t *coll, int32_t op, double at, job_node_t *because);
void job_coll_received(xy_vjob_t *job, xy_vcoll_t *coll, int32_t op, void *slot, double at,
                       job_node_t *because);
double job_coll_seconds(const xy_vcoll_t *coll, int32_t op); /* beyond the message */
bool job_coll_is_direct(const xy_vcoll_t *coll);

/* job_comm.c */
int32_t job_comm_rank(const xy_vcomm_t *comm, int32_t proc);
void job_colls_cleanup(xy_vjob_t *job);

/* job_shape.c: a graph by its pieces of work. */
typedef struct {
    int32_t first, last;        /* operations of the graph; more than one: direct */
    int32_t source, rank;       /* a message: from, to; else both the one that does it */
    int32_t after, after_count; /* in `successors` */
    int32_t load, load_count;   /* in `loads` */
    uint64_t bytes;
    double seconds; /* of a core: no message; else beyond the message, where it is received */
    double seen;    /* how far the core was when it last did it: job_cache.c */
    bool is_message;
    bool is_fresh;                   /* it reads what another core has just left */
    int32_t next_send, next_receive; /* in order: the next one of the source, of the rank; -1 */
} job_op_t;

/* The half of the later step that waits, and the half of the earlier one that it waits for. */
enum { JOB_AFTER_SENT = 1, JOB_SENDING = 2 };

/* The successors of a message in a collective of rounds: the next send of the rank that receives
 * it, the next receive of its source; -1: none. */
typedef struct {
    int32_t send, receive;
} job_follow_t;

typedef struct {
    int32_t op;
    uint8_t flags;
} job_edge_t;

struct job_shape {
    xy_graph_t *graph;
    xy_graph_t *cut;             /* on a node, where tasks do it: in pieces; or NULL */
    bool is_on_node;             /* job_sim.c does it */
    xy_sim_forecast_t *forecast; /* ... once one was needed */
    const xy_coll_algorithm_t *algorithm;
    const xy_coll_algorithm_t *wanted; /* of the call; or NULL */
    xy_vjob_coll_t call;               /* its shape, with */
    uint64_t *counts;                  /* ... and */
    uint64_t layout;
    int32_t ranks, count;
    job_word_t word; /* direct: what goes from core to core */
    job_op_t *ops;
    job_step_t *steps; /* how they begin */
    job_edge_t *edges;
    job_load_t *loads; /* their seconds are parts of those of the step */
    int32_t *rank_left;
    int32_t *root_first;    /* [ranks + 1] in `roots`: what waits for the rank alone, */
    int32_t *roots;         /* 2 * step, and 1 more where it is the receiving half */
    void *free_work;        /* memory for the steps of one collective */
    bool has_choice;        /* of algorithms */
    bool is_in_order;       /* a rank does one message after the other: job_order.c */
    bool is_answering;      /* ... answers questions before it sends, where these were measured */
    int nodes;              /* that its ranks are on */
    const xy_vcomm_t *comm; /* of the first call */
    uint64_t calls;         /* of it, and what they took */
    double seconds;
    job_shape_t *next; /* of the same hash */
};

/* Does it have sizes of blocks? */
bool job_shape_has_counts(xy_collective_t collective);
/* Does only the root know the sizes; does each process know its own only? */
bool job_shape_needs_root(xy_collective_t collective);
bool job_shape_needs_all(xy_collective_t collective);
/* job_steps.c: of a shape that has its graph. */
/* Sets next_send and next_receive of the steps, and `follow` of each; room: [2 * ranks]. */
void job_order_find(const xy_vjob_t *job, job_shape_t *shape, job_follow_t *follow, int32_t *room);
xy_status_t job_steps_make(const xy_vjob_t *job, const xy_vcomm_t *comm, job_shape_t *shape);

xy_status_t job_shape_find(xy_vjob_t *job, const xy_vcomm_t *comm, const xy_vcoll_t *coll,
                           job_shape_t **shape_p);
void job_shapes_cleanup(xy_vjob_t *job);

/* job_adapt.c: all of them do nothing without `reconsider`. */
/* A call is about to have a shape: set what it wants. */
void job_adapt_begin(xy_vcoll_t *coll);
/* It has one: know its collective and size from now on. */
void job_adapt_know(xy_vjob_t *job, xy_vcoll_t *coll);
/* It has ended: measure it, and decide with the last one of a window. */
void job_adapt_end(xy_vcoll_t *coll);

/* job_path.c: all of them do nothing without `has_path`. */
void job_node_free(xy_vjob_t *job, job_node_t *node); /* without references */
void job_path_grow(xy_vjob_t *job, job_proc_t *p, xy_vjob_kind_t kind);
void job_path_jump(xy_vjob_t *job, job_proc_t *p, job_node_t *because);

static inline job_node_t *job_node_use(job_node_t *node) /* NULL is fine */
{
    if (node != NULL)
        node->uses++;
    return node;
}

static inline void job_node_drop(xy_vjob_t *job, job_node_t *node)
{
    if (node != NULL && --node->uses == 0)
        job_node_free(job, node);
}

static inline void job_node_set(xy_vjob_t *job, job_node_t **place, job_node_t *node)
{
    job_node_t *old = *place;

    *place = job_node_use(node);
    job_node_drop(job, old);
}

static inline void job_path_add(xy_vjob_t *job, job_proc_t *p, xy_vjob_kind_t kind)
{
    if (job->config.has_path)
        job_path_grow(job, p, kind);
}

/* Return a node after `node`, which it takes over, when another core has done something. */
job_node_t *job_path_extend(xy_vjob_t *job, job_node_t *node, double at, uint32_t line);

/* job_record.c: all of them do nothing without a trace. */
xy_status_t job_record_begin(xy_vjob_t *job);
xy_status_t job_record_start(xy_vjob_t *job, job_proc_t *p); /* of another node than before */
void job_record_compute(xy_vjob_t *job, job_proc_t *p, double start, double end);
void job_record_wait(xy_vjob_t *job, job_proc_t *p, double end); /* until then */
void job_record_finish(const xy_vjob_t *job, job_proc_t *p);
void job_record_sent(xy_vjob_t *job, xy_vmsg_t *message);
void job_record_message(xy_vjob_t *job, const xy_vmsg_t *message, double end);

static inline xy_vmsg_t *job_message_of(job_item_t *item)
{
    return (xy_vmsg_t *)((char *)item - offsetof(xy_vmsg_t, item));
}

#endif
