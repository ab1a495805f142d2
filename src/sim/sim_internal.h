/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the component: one simulation. */
#ifndef XY_SIM_SIM_INTERNAL_H
#define XY_SIM_SIM_INTERNAL_H

#include <math.h>

#include "coll/coll.h"
#include "place/place.h"
#include "sched/sched.h"
#include "sim/event.h"
#include "sim/flow.h"
#include "sim/net.h"
#include "sim/node.h"
#include "sim/sim_memory.h"

/* SIM_OUTSIDE: where nobody looks (arrive.c). */
typedef enum { SIM_IN_START, SIM_IN_COMPUTE, SIM_IN_WAIT, SIM_DONE, SIM_OUTSIDE } sim_phase_t;

/* Direct collectives under tasks: the pieces wait until a communication core has counted the ranks
 * that have started. */
typedef enum { SIM_ARRIVING, SIM_GATHERING, SIM_GATHERED } sim_arrivals_t;

/* The executor of an operation. */
enum { SIM_BY_START, SIM_BY_ENGINE, SIM_BY_WAIT };

typedef struct sim_call sim_call_t;

typedef struct sim_op {
    const xy_op_t *op;
    sim_call_t *call;
    struct sim_op *next; /* in the list of a thread, of a level or of a call */
    double seconds;      /* of one core */
    double weight;       /* of the bandwidth of a copy, what it takes */
    double fixed;        /* of those seconds, what takes no bandwidth */
    double tail;         /* with all that must follow */
    int32_t before;      /* operations before it that are not over, and ranks that have not come */
    int32_t doer;        /* rank of the graph whose thread executes it; -1: any free unit (tasks) */
    int32_t thread;      /* this thread; -1 */
    int32_t domain;      /* the domain whose bandwidth it takes; -1: none */
    int32_t level;       /* model: when it may begin; 0: any time */
    int32_t message;     /* that it sends over the network, and was not sent yet; -1 */
    uint8_t by;
    bool is_remote;  /* between hosts */
    bool is_chained; /* direct: done by the unit that does the one before it */
} sim_op_t;

typedef struct {
    sim_op_t *first, *last; /* ready operations */
    int32_t count;
    int32_t unit, rank;
    int32_t left;   /* operations that concern it: while > 0 it has a collective */
    int32_t remote; /* ... those between hosts: while > 0 it polls the network */
} sim_thread_t;

/* A hardware thread: does one thing at a time. */
typedef struct {
    xy_share_user_t share;             /* first: what is shared hands it back */
    int32_t core, numa, host, sibling; /* sibling: unit, -1 */
    int32_t rank;                      /* that lives here, -1 */
    bool is_comm;
    xy_event_t event;
    xy_order_queue_t queue;
    int32_t supervisor; /* thread, -1 */
    int32_t idlers;     /* threads here without a collective */
    int32_t polls;      /* threads here that wait for the network */
    bool is_held;       /* by the rank: in start, or computing */
    bool is_asleep;     /* no thread is listed */
    bool is_idle;       /* tasks: in a list of units without work */
    double turn_end;    /* of the current fruitless turn */
    int32_t vain;       /* the owner of the fruitless turn; -1 */
    int32_t thread;     /* at work; -1 */
    sim_op_t *op;       /* being done; NULL */
    int32_t todo;       /* operations left of this turn */
    double op_start;
    double flow; /* seconds of the operation that are still to share bandwidth */
    double compute_left, compute_rate, compute_since; /* rate 0: not computing */
    xy_trace_row_t *row;
} sim_unit_t;

/* The part of a rank in a collective. */
typedef struct sim_part {
    sim_call_t *call;
    struct sim_part *next; /* over, of the same rank */
    int32_t rank;          /* of the simulation */
    int32_t start_left;    /* operations to do in the start call */
    int32_t left;          /* operations that concern the rank */
    int32_t engine;        /* ... those of its progress thread, */
    int32_t remote;        /* ... and among them those between hosts */
    double released;       /* tasks, direct: when it gets to know of the end */
} sim_part_t;

typedef struct {
    sim_phase_t phase;
    sim_part_t *over; /* in Wait: collectives whose end it has not seen */
    double wait_since, finish;
} sim_rank_t;

/* The scope of a shared memory: a node of the machine. */
typedef struct {
    xy_obj_t object;
    int32_t first, count;           /* its cores */
    int32_t first_numa, numa_count; /* its NUMA nodes */
    xy_heap_t pool;                 /* tasks: ready operations, the longest tail first */
    xy_vec_t idle;                  /* int32_t units without work, the last to become so last */
} sim_host_t;

typedef struct {
    xy_flow_t flow; /* first: the network hands it back */
    sim_path_t *path;
    sim_op_t *op;
    double start;
    double rest; /* seconds of work of one core when it has come; 0: nothing is left to do */
} sim_message_t;

typedef struct {
    sim_net_t net;
    double *load; /* [links] bytes of the graph that cross it */
} sim_network_t;

/* A collective: its graph, and how far it is. */
struct sim_call {
    xy_sim_t *sim;
    const xy_graph_t *graph;
    const int32_t *rank_of; /* [ranks] of the simulation; NULL: the same */
    int32_t ranks;
    int32_t number;    /* among those that run: older ones come first */
    sim_part_t *parts; /* [ranks] */
    sim_op_t *ops;
    int32_t op_count, left;
    int split;
    bool is_direct; /* the graph is of pieces of shared memory (coll/direct.h) */
    sim_arrivals_t arrivals;
    xy_event_t gathered;        /* all arrivals are counted; until then */
    sim_op_t *held, *last_held; /* ... pieces that are ready */
    int32_t *level_left;        /* model */
    sim_op_t **level_first;
    int32_t level, level_count;
    sim_message_t *messages;
    int32_t message_count;
    /* arrive.c: operations that wait for each rank to come, of rank r from waiting_first[r] on. */
    sim_op_t **waiting;
    int32_t *waiting_first; /* [ranks + 1] */
    xy_event_t arrived;     /* all ranks that come in this moment have come */
    xy_vec_t fresh;         /* ... and these operations wait for nothing else */
};

/* Callbacks of the driver of a simulation. */
typedef struct {
    /* The rank sees the end of its part, then. */
    void (*over)(xy_sim_t *sim, const sim_part_t *part, double when);
    /* The start call of the rank ends (arrive.c). NULL: ranks have the program of ranks.c. */
    void (*started)(xy_sim_t *sim, int32_t rank);
    /* ... the core of the rank, in Wait, has done an operation. */
    void (*is_free)(xy_sim_t *sim, int32_t rank);
    void *owner;
    sim_memory_t *memory; /* of the larger simulation; NULL: of the node */
} sim_driver_t;

struct xy_sim {
    xy_sim_node_t node;
    xy_cores_t cores;
    const xy_order_t *order;
    int *core_of, *comm, *thread_of;
    int comm_count, unit_count, thread_count;
    sim_host_t *hosts;
    int *host_of; /* [cores] */
    int host_count;
    sim_network_t network;
    sim_unit_t *units;
    sim_memory_t *memory, own_memory;
    sim_thread_t *threads; /* ranks, progress threads, supervisors */
    xy_order_thread_t *order_threads;
    sim_rank_t *ranks;

    xy_vclock_t *clock;
    xy_vclock_t own_clock;
    sim_driver_t driver;
    double weight; /* of the bandwidth of a copy, what the operations take in the mean */
    sim_op_t *instant_first, *instant_last; /* operations without work that are ready */
    sim_op_t *starts, *last_start;          /* ready operations of start calls, that any may do */
    int32_t running, calls;                 /* collectives; how many began since there was none */

    /* One run of one collective. */
    sim_call_t call;
    double compute;
    int32_t unfinished;
    xy_sim_result_t result;
    xy_trace_t *trace;
    uint32_t kind_compute, kind_progress, kind_wait, kind_idle;
};

/* node.c: with a clock of its own (NULL), or that of a larger simulation. */
xy_status_t sim_create(const xy_sim_node_t *node, xy_vclock_t *clock, const sim_driver_t *driver,
                       xy_sim_t **sim_p);
void sim_reset(xy_sim_t *sim); /* as before the first run */

/* assign.c: the operations of a graph, who does each, and how long it takes. The call has its
 * graph, ranks and split. */
xy_status_t sim_call_init(xy_sim_t *sim, sim_call_t *call);
void sim_call_cleanup(sim_call_t *call);
bool sim_graph_is_direct(const xy_graph_t *graph);
/* The ranks of the graph that are not over before the operation is: 0, 1, 2, 3. */
bool sim_concerns(const sim_op_t *op, int which, int32_t *rank_p);

/* sim_run.c: seconds of one core that the graph takes in all, and the weight of its copies. */
xy_status_t sim_work(xy_sim_t *sim, const xy_graph_t *graph, double *work_p);

/* sim_split.c */
int sim_graph_height(const xy_graph_t *graph); /* the highest level of a tree; 0: it is none */
/* The S of this node becomes the best for the computation; < 0: as long as t_comm. */
xy_status_t sim_split_choose(xy_sim_t *sim, const xy_graph_t *graph, double compute);

/* hosts.c: what shares memory. */
xy_status_t sim_hosts_make(xy_sim_t *sim);
xy_status_t sim_hosts_place(xy_sim_t *sim, const xy_threads_t *threads, int pus);
void sim_hosts_reset(xy_sim_t *sim);
void sim_hosts_cleanup(xy_sim_t *sim);

/* network.c: what does not. */
xy_status_t sim_network_make(xy_sim_t *sim);
void sim_network_reset(xy_sim_t *sim);
void sim_network_cleanup(xy_sim_t *sim);
/* The messages of a call whose operations are known. XY_EUNSUPPORTED: a link has no figures. */
xy_status_t sim_network_prepare(sim_call_t *call);
void sim_network_send(xy_sim_t *sim, sim_op_t *op);
/* The run was stopped: messages that share links change each other's speed too often. */
bool sim_network_gave_up(const xy_sim_t *sim);
/* The time of a transfer that was not sent: from its sending on, without contention. */
double sim_transfer_time(const sim_op_t *op);

/* operation.c: what becomes ready, what is complete. */
void sim_op_ready(xy_sim_t *sim, sim_op_t *op);
void sim_op_start(xy_sim_t *sim, int32_t unit, sim_op_t *op, double overhead);
void sim_unit_due(xy_event_t *event);      /* the unit's operation is complete */
void sim_flow_done(xy_share_user_t *user); /* ... what it copied through a domain is */
void sim_message_done(void *sim, xy_flow_t *flow);
void sim_instants_over(xy_sim_t *sim); /* ready operations without work are complete at once */
/* Model: begin the next level if this one has nothing left. */
void sim_level_over(sim_call_t *call);
sim_op_t *sim_thread_take(xy_sim_t *sim, int32_t thread); /* its oldest ready operation */
/* The rank, in Wait, sees the ends of collectives. */
void sim_rank_sees(xy_sim_t *sim, int32_t rank, double when);

/* sim_ranks.c: the program of a rank. */
void sim_rank_begin(xy_sim_t *sim, int32_t rank);
void sim_rank_in_start(xy_sim_t *sim, int32_t rank); /* something changed while it is in start */
void sim_rank_computed(xy_sim_t *sim, int32_t unit);
void sim_rank_over(xy_sim_t *sim, const sim_part_t *part, double when);
void sim_compute_speed(xy_sim_t *sim, int32_t unit); /* its sibling began or ended something */
/* Threads of a unit begin or end to wait for the network: they poll, whatever their order. */
void sim_unit_polls(xy_sim_t *sim, int32_t unit, int change);
/* The speed of one of two hardware threads of a core while one does the operation and one computes.
 */
double sim_speed_beside(const xy_sim_t *sim, const sim_op_t *op);

/* progress_threads.c: threads that share a unit. */
void sim_turn_sync(xy_sim_t *sim, int32_t unit); /* before any change of a thread of the unit */
void sim_turn_changed(xy_sim_t *sim, int32_t thread);
void sim_turn_due(xy_sim_t *sim, int32_t unit);
void sim_turn_now(xy_sim_t *sim, int32_t unit);  /* of the first thread that is ready */
void sim_turn_next(xy_sim_t *sim, int32_t unit); /* the operation of a turn has ended */
/* All progress threads look for work, with the collectives that they have. */
void sim_threads_begin(xy_sim_t *sim);

/* progress_tasks.c: units that take operations from the pool. */
void sim_task_push(xy_sim_t *sim, sim_op_t *op);
void sim_task_gathered(xy_event_t *event); /* all arrivals were counted */
/* The unit has done the operation: the next one of the same piece, if there is one. */
bool sim_task_continue(xy_sim_t *sim, int32_t unit, sim_op_t *op);
void sim_task_release(xy_sim_t *sim, sim_call_t *call); /* direct: all is done */
void sim_task_next(xy_sim_t *sim, int32_t unit);        /* the unit has nothing to do */

/* arrive.c: a node inside a larger simulation. */
void sim_node_begin(xy_sim_t *sim);
/* The call has its graph, ranks and split. */
xy_status_t sim_call_begin(xy_sim_t *sim, sim_call_t *call);
void sim_call_end(sim_call_t *call); /* after the end of all parts */
/* The rank of the graph has come. `is_in_start`: it stays until driver.started. */
void sim_call_arrive(sim_call_t *call, int32_t rank, bool is_in_start);
void sim_rank_wait(xy_sim_t *sim, int32_t rank);
/* The same for a test, which leaves at once: a progress thread gets a turn. */
void sim_rank_poll(xy_sim_t *sim, int32_t rank);
/* It is in Wait, and its core does an operation: it cannot leave. */
bool sim_rank_is_busy(const xy_sim_t *sim, int32_t rank);
void sim_rank_leave(xy_sim_t *sim, int32_t rank);
sim_op_t *sim_start_take(xy_sim_t *sim); /* NULL: there is none */
/* A rank that begins to wait does what is left of start calls, and leaves it to others at its end.
 */
void sim_starts_take_over(xy_sim_t *sim, int32_t rank);
void sim_starts_leave(xy_sim_t *sim, int32_t rank);

/* sim_record.c: the trace. */
xy_status_t sim_record_begin(xy_sim_t *sim, xy_trace_t *trace);
void sim_record_op(xy_sim_t *sim, const sim_unit_t *unit, const sim_op_t *op);
void sim_record_message(xy_sim_t *sim, const sim_message_t *message);
void sim_record_compute(xy_sim_t *sim, const sim_unit_t *unit, double start);
void sim_record_end(xy_sim_t *sim);

static inline bool sim_is_model(const xy_sim_t *sim)
{
    return sim->node.model != XY_SIM_MEASURED;
}

static inline sim_host_t *sim_host(xy_sim_t *sim, int32_t unit)
{
    return &sim->hosts[sim->units[unit].host];
}

static inline int32_t sim_host_of_rank(const xy_sim_t *sim, int32_t rank)
{
    return sim->host_of[sim->core_of[rank]];
}

/* The rank of the simulation that has this one in the graph. */
static inline int32_t sim_rank_of(const sim_call_t *call, int32_t rank)
{
    return call->rank_of != NULL ? call->rank_of[rank] : rank;
}

static inline int32_t sim_core_of(const sim_call_t *call, int32_t rank)
{
    return call->sim->core_of[sim_rank_of(call, rank)];
}

static inline int32_t sim_host_in(const sim_call_t *call, int32_t rank)
{
    return call->sim->host_of[sim_core_of(call, rank)];
}

/* Is the engine of direct collectives simulated? It needs the memory of all ranks in sight. */
static inline bool sim_is_direct(const sim_call_t *call)
{
    return call->is_direct && call->sim->node.progress == XY_SIM_TASKS &&
           call->sim->host_count == 1;
}

/* Does any rank that is in a start call do what belongs there, as in the library? In the published
 * model, and on several hosts, each does its own. */
static inline bool sim_shares_starts(const sim_call_t *call)
{
    return call->sim->driver.started != NULL || (call->split > 0 && call->sim->host_count == 1 &&
                                                 call->sim->node.model == XY_SIM_MEASURED);
}

static inline bool sim_is_tasks(const xy_sim_t *sim)
{
    return sim->node.progress == XY_SIM_TASKS;
}

#endif
