/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated node: the graphs of collectives, the placements and the policies of progress, by a
 * virtual clock.
 *
 *   xy_sim_node_t node = {.machine = m, .ranks = 62, .progress = XY_SIM_TASKS, .comm_cores = -1};
 *   xy_sim_costs_default(&node.costs);
 *   xy_sim_t *sim;
 *   st = xy_sim_create(&node, &sim);
 *   st = xy_sim_measure(sim, graph, 5e-3, &times);      (start, compute 5 ms, wait)
 *   printf("%g s, overlap %g %%\n", times.t_ovrl, xy_sim_overlap(&times));
 *   xy_sim_destroy(sim);
 *
 * The simulation. Every rank calls the start of the collective at time 0, computes, and calls Wait.
 * It is alone on its core, or shares it with its progress thread; threads are not preempted. An
 * operation of the graph takes
 *
 *   alpha + bytes / copy       a copy between or inside ranks
 *   alpha + bytes / reduce     a reduction
 *
 * of one core, and is done by one thread: a copy by the sender's (the receive was posted by the
 * start call), a reduction by the receiver's. Copies and reductions between the same two NUMA nodes
 * share the bandwidth of their memory or link.
 *
 * A machine may have several nodes. A message from one to another takes its thread `alpha`, to send
 * it or to request it; then it crosses the links of the machine, max-min fair (flow.h), without a
 * core; the receiver's thread reduces arrived data. The cores and threads that serve a rank are
 * those of its node. Threads that wait for the network poll it.
 *
 * Who does the operations:
 *
 *   none      the ranks, inside Wait
 *   threads   one progress thread per rank, on a core given by `threads`
 *   tasks     the communication cores take ready operations of the whole graph
 *
 * Threads of one core run in an `order`. Going from one thread to the next costs `swap`; a thread
 * with nothing to do costs a `poll`, one without any collective left a `spin`. A turn does the
 * operations that were ready when it began. With tasks, the operation on the longest path comes
 * first, at a cost of `task` each; ranks that are in Wait help. Large operations are cut into
 * pieces.
 *
 * With a split S, the S levels of a tree nearest to the leaves are done by the ranks themselves: in
 * the start call when they come first (reduce, gather), where any rank that is in one may do them;
 * in Wait when they come last (bcast, scatter).
 *
 * Simulation is deterministic: equal input gives equal times, to the last bit. One simulation is
 * used by one thread at a time.
 */
#ifndef XY_SIM_NODE_H
#define XY_SIM_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "coll/coll.h"
#include "graph/graph.h"
#include "machine/machine.h"
#include "trace/trace.h"

typedef enum { XY_SIM_NONE, XY_SIM_THREADS, XY_SIM_TASKS } xy_sim_progress_t;

/* How long a rank in Wait does ready operations of the collective: as long as there are any, even
 * when its own part is complete (the others wait for the whole of it sooner or later); until its
 * own part is complete; never. */
typedef enum { XY_SIM_HELP_ALL, XY_SIM_HELP_OWN, XY_SIM_HELP_NOT } xy_sim_help_t;

/* The published model of split-tree instead of costs: a transfer takes a second (growing:
 * 2^(level-1) of them), nothing else takes any time, a level begins when the one before it is
 * complete, and the communication cores do whatever is not split off, without help. */
typedef enum { XY_SIM_MEASURED, XY_SIM_MODEL_CONSTANT, XY_SIM_MODEL_GROWING } xy_sim_model_t;

enum {
    XY_SIM_SPLIT_AUTO = -1, /* the best for the given computation: see xy_sim_split_best */
    XY_SIM_SPLIT_LEVELS = 32
};

/* Seconds, bytes and bytes per second. 0 bandwidth: without limit. */
typedef struct {
    double alpha;    /* an operation, whatever its size */
    double copy;     /* bytes per second that one core copies */
    double reduce;   /* ... and reduces */
    double numa;     /* ... that all cores together copy within one NUMA node */
    double link;     /* ... and from one NUMA node to another */
    double swap;     /* from one thread of a core to another */
    double poll;     /* a thread polls a collective that cannot progress */
    double wait;     /* a rank in Wait looks for its end before it yields to threads of its core */
    double spin;     /* a thread without a collective looks for one before it yields */
    double check;    /* the supervisor of suspended threads looks at one of them */
    double wake;     /* a sleeping core begins */
    double task;     /* take an operation from the shared graph, or a piece of the work */
    double packet;   /* tell another core that a collective is complete */
    double smt_copy; /* speed of two hardware threads of a core while one copies and one computes */
    double smt_spin; /* ... while one polls, spins or sends */
    uint64_t piece;  /* tasks: operations are cut into pieces of this size; 0: they are not */
} xy_sim_costs_t;

typedef struct {
    const xy_machine_t *machine;
    int ranks;             /* at most one per core */
    const char *placement; /* of ranks; NULL: scatter, or scatter_numa with several nodes */
    const int *core_list;  /* [ranks], all different, instead; or NULL */
    int comm_cores;        /* at most so many of the cores without a rank of a node; -1: all */
    const int *comm_list;  /* these `comm_cores` cores, growing, instead; or NULL */
    xy_sim_progress_t progress;
    const char *threads; /* where progress threads live; NULL: numa */
    const char *order;   /* of those that share a core; NULL: round-robin */
    int priority;        /* of progress threads with the order `priority`; ranks have 0 */
    int split;           /* S; 0: off */
    xy_sim_help_t help;  /* tasks */
    xy_sim_model_t model;
    const xy_coll_link_t *link; /* operations take what this says instead of the costs; or NULL */
    xy_sim_costs_t costs;
} xy_sim_node_t;

typedef struct {
    double end;      /* when the last rank came out of Wait */
    double work;     /* sum of all operations, in seconds of one core without contention */
    double network;  /* seconds that the busiest link between nodes needs for its bytes */
    int split;       /* the S that was used */
    uint64_t ops;    /* operations done, after cutting */
    uint64_t turns;  /* of threads that did something (threads) or operations taken (tasks) */
    uint64_t helped; /* operations done by ranks in Wait for others (tasks) */
} xy_sim_result_t;

typedef struct {
    double t_comm, t_comp, t_ovrl; /* each the maximum over the ranks */
    double work, network;
    int split;
} xy_sim_times_t;

typedef struct xy_sim xy_sim_t;

/* Costs of a 64-core Knights Landing and the runtime of the published measurements: see
 * docs/simulate.md for where each number comes from. */
void xy_sim_costs_default(xy_sim_costs_t *costs);

/* The same for a machine on which an operation takes `alpha`, and a core copies and reduces so many
 * bytes per second. 0: in proportion to what is known. */
void xy_sim_costs_scaled(xy_sim_costs_t *costs, double alpha, double copy, double reduce);

/* Place ranks, threads and communication cores. The machine must live as long as the simulation.
 * EINVAL: more ranks than cores, no communication core for tasks without help; EUNSUPPORTED: the
 * machine lacks what the placement needs; EUSAGE: no such strategy. All are reported. */
xy_status_t xy_sim_create(const xy_sim_node_t *node, xy_sim_t **sim_p);
void xy_sim_destroy(xy_sim_t *sim); /* NULL is fine */

int xy_sim_comm_cores(const xy_sim_t *sim);

/* Start, compute for so many seconds, wait. `finish` (one entry per rank, or NULL) gets when each
 * rank came out of Wait. With a trace, which has the virtual clock, every core becomes a row of it.
 * EINVAL: the graph is for another number of ranks. EUNSUPPORTED: the machine does not say the
 * latency or the bandwidth between two nodes. Both are reported, and ENOMEM. */
xy_status_t xy_sim_run(xy_sim_t *sim, const xy_graph_t *graph, double compute, double *finish,
                       xy_trace_t *trace, xy_sim_result_t *result_p);

/* The three times of a benchmark of overlap. compute < 0: as long as t_comm (cpu-exploit). */
xy_status_t xy_sim_measure(xy_sim_t *sim, const xy_graph_t *graph, double compute,
                           xy_sim_times_t *times_p);

/* Split-tree on this node, for every S up to the height of the tree. */
typedef struct {
    int height;
    double compute;                         /* the expected computation */
    double alone[XY_SIM_SPLIT_LEVELS + 1];  /* [S]: T_nb, nothing to compute */
    double beside[XY_SIM_SPLIT_LEVELS + 1]; /* T_ovrl beside the expected computation */
    double own[XY_SIM_SPLIT_LEVELS + 1];    /* the part that is never hidden: the ranks do it */
} xy_sim_split_t;

/* Three runs for each S. compute < 0: as long as the collective alone. The errors of xy_sim_run. */
xy_status_t xy_sim_split_times(xy_sim_t *sim, const xy_graph_t *graph, double compute,
                               xy_sim_split_t *times_p);
/* T_ovrl beside any computation; the expected one was simulated. */
double xy_sim_split_overlapped(const xy_sim_split_t *times, int levels, double compute);
/* The S of least T_ovrl, the smallest on ties. */
int xy_sim_split_best(const xy_sim_split_t *times, double compute);

/* 100 * (t_comm + t_comp - t_ovrl) / min(t_comm, t_comp), within 0 .. 100. */
double xy_sim_overlap(const xy_sim_times_t *times);

/* The work bound: while the ranks compute, the communication cores do what they can of `work`
 * seconds; what is left is shared by all cores, or by as many as the memory can feed. */
double xy_sim_bound(const xy_sim_t *sim, double compute, double work);

#endif
