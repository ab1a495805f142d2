/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policies for task graphs: workers with memories of their own take ready tasks, and data travel.
 *
 *   const xy_task_policy_t *p;
 *   xy_task_policy_find("dmdar", &p);
 *   p->create(&view, &params, &state);        (the engine fills in the view)
 *   p->ready(state, op);                      (all that `op` waits for is complete)
 *   op = p->pick(state, worker);              (-1: nothing for this worker now)
 *   p->done(state, worker, op);
 *   p->destroy(state);
 *
 * The engine owns time, memories and transfers; a policy owns decisions only. An engine calls a
 * policy from one thread at a time.
 */
#ifndef XY_TASKS_POLICY_TASK_H
#define XY_TASKS_POLICY_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"

/* The view of a policy. All of it belongs to the engine. */
enum { XY_TASK_HERE = 1, XY_TASK_COMING = 2 }; /* states of a copy; 0: not there */

typedef struct {
    const xy_graph_t *graph;
    int32_t workers, memories;      /* memory 0 is the main memory */
    const int32_t *memory_of;       /* [workers] */
    const double *speed;            /* [workers]; 1: a task takes the seconds it declares */
    const uint64_t *capacity;       /* [memories]; 0: no limit */
    const uint8_t *const *copies;   /* [memories][data]: XY_TASK_HERE, XY_TASK_COMING */
    const double *transfer_latency; /* [from * memories + to] */
    const double *transfer_rate;    /* likewise, bytes per second; 0: no such way */
    const uint64_t *arrivals;       /* [memories]: data that came so far; NULL: not counted */
    const bool *is_after;           /* [ops]: it also waits for what is not in the graph; or NULL */
    const double *now;              /* seconds since the start */
} xy_task_view_t;

typedef struct xy_task_policy xy_task_policy_t;

typedef struct {
    const xy_task_policy_t *policy; /* the created policy; set by xy_task_policy_create */
    double alpha, beta;             /* weights of computation and transfer in completion times */
    bool is_proportional;           /* cache-oblivious: cut the domain in proportion to the load */
    int32_t
        extra_rounds;   /* relay: add turns of each memory beyond the fewest that its room allows */
    int32_t look_ahead; /* real GPUs: data that are loaded and that no task has asked for yet, or
                           XY_TASK_CHOOSE */
    bool is_trial;      /* a graph that lacks what the policy needs is refused in silence */
} xy_task_params_t;

/* For `look_ahead`: what ends first in virtual time, of a few. */
enum { XY_TASK_CHOOSE = -1 };

/* Workers that a trial leaves alone. */
typedef enum { XY_TASK_ALL, XY_TASK_ONE_LESS, XY_TASK_HALF, XY_TASK_ONE } xy_task_fewer_t;

/* A trial of a policy that is a choice. */
typedef struct {
    const char *policy;   /* NULL: the end of the list */
    const char *eviction; /* NULL: what the policy prefers */
    int32_t extra_rounds; /* of relay */
    int32_t look_ahead;   /* tried only where GPUs are driven as real ones are */
    double memory;        /* share of each memory to use; 0: all */
    xy_task_fewer_t fewer;
    bool is_for_short;   /* it wins on short graphs only, if ever */
    bool is_for_several; /* memories */
    bool may_refuse;     /* graphs that lack what it needs */
    int32_t first;       /* its place where only some can be tried, from 1; 0: behind those */
} xy_task_trial_t;

struct xy_task_policy {
    const char *name;
    const char *describe; /* one line */
    const char *eviction; /* the default eviction */
    /* Not a policy of its own: the engine runs these in virtual time and takes the one that ends
     * first. The functions below are NULL. */
    const xy_task_trial_t *trials;
    int32_t pipeline; /* tasks a worker holds at once, the running one included; 0: 2 */
    /* Data that no task writes any more go home as soon as their way is free. */
    bool is_writing_early;
    /* It may keep a task that is ready until others, which are not, have run: then ranks that share
     * a graph could wait for each other for ever. */
    bool is_strict;
    /* XY_ENOMEM and XY_EINVAL (the graph lacks what the policy needs) are reported. */
    xy_status_t (*create)(const xy_task_view_t *view, const xy_task_params_t *params,
                          void **state_p);
    void (*destroy)(void *state); /* NULL is fine */
    void (*ready)(void *state, xy_op_id_t op);
    xy_op_id_t (*pick)(void *state, int32_t worker);
    void (*done)(void *state, int32_t worker, xy_op_id_t op); /* may be NULL */
    /* A copy that was not there is there now, or on its way. NULL: the policy need not know. */
    void (*arrived)(void *state, int32_t memory, int32_t data);
    /* The datum that `memory` should load next without any task asking; -1: none. Asked again
     * once it is on its way. NULL: the policy does not prefetch. */
    int32_t (*prefetch)(void *state, int32_t memory);
    /* May room for a prefetch be made by giving up other data? */
    bool is_evicting_for_prefetch;
    /* The datum that `memory` can best do without, among those for which `is_free` holds; -1:
     * none. NULL: the eviction strategy chooses. */
    int32_t (*victim)(void *state, int32_t memory, bool is_prefetch,
                      bool (*is_free)(const void *arg, int32_t data), const void *arg);
    /* When the datum is used next by the plan of the policy, in an order of its own; NULL: it has
     * no plan, and the order of submission stands for it. */
    int64_t (*next_use)(void *state, int32_t memory, int32_t data);
    /* Has it broken a rule? It was reported, and the policy picks nothing more. NULL: never. */
    bool (*is_faulty)(const void *state);
    const void *plugin; /* the table of the user behind it (policy_plugin.c); or NULL */
};

/* All policies, ended by NULL; the first is the default. */
extern const xy_task_policy_t *const xy_task_policies[];

/* The policy of this name, or of a plug-in, by its path. XY_EINVAL: there is none (said, with the
 * nearest). Errors of plug-ins are reported. */
xy_status_t xy_task_policy_find(const char *name, const xy_task_policy_t **policy_p);
/* Is there one of this name, or could there be? Silent. */
bool xy_task_policy_is_known(const char *name);
/* For runs in real time: NULL is their default, and a policy that is a choice its first trial. */
xy_status_t xy_task_policy_find_real(const char *name, const xy_task_policy_t **policy_p);

/* The function that engines call instead of `create`. */
xy_status_t xy_task_policy_create(const xy_task_policy_t *policy, const xy_task_view_t *view,
                                  const xy_task_params_t *params, void **state_p);
static inline bool xy_task_policy_is_faulty(const xy_task_policy_t *policy, const void *state)
{
    return policy->is_faulty != NULL && policy->is_faulty(state);
}
/* The run has ended, or cannot continue. XY_EINVAL: `left` tasks were never picked (said here), or
 * the policy is faulty. */
xy_status_t xy_task_policy_end(const xy_task_policy_t *policy, const void *state, int32_t left,
                               int32_t ops);

/* ---- What policies compute alike ---- */

/* Seconds that `op` takes on `worker`. */
double xy_task_seconds(const xy_task_view_t *view, xy_op_id_t op, int32_t worker);
/* Bytes of what `op` reads that are neither in `memory` nor on their way. */
uint64_t xy_task_missing(const xy_task_view_t *view, xy_op_id_t op, int32_t memory);
/* Seconds to bring them there, one after the other, each from the nearest copy. Once it is known to
 * take `limit` seconds or more, some number that is not less. */
double xy_task_transfer_within(const xy_task_view_t *view, xy_op_id_t op, int32_t memory,
                               double limit);

/* Cut 0 .. n - 1 with these weights into one part per worker, in proportion to their speeds (or
 * `weights` NULL: equal weights and speeds): worker w has cuts[w] .. cuts[w + 1] - 1. */
void xy_task_cut(const double *weights, int64_t n, const double *speed, int32_t workers,
                 int64_t *cuts);

/* A run in slices of its life, so that the cut follows a load that moves: weights[slice][n] and
 * cuts[slice][workers + 1]. A cut that is within 2 % of the ideal stays, as moving it moves data.
 */
enum { XY_TASK_SLICES = 20 };
void xy_task_cut_slices(const double *weights, int64_t n, const double *speed, int32_t workers,
                        int64_t *cuts);
/* The slice of step `step` of so many. */
int32_t xy_task_slice(int64_t step, int64_t steps);

/* The tasks that use each datum, in the order of submission: a plan for policies that have none. */
typedef struct {
    size_t *start;   /* [data + 1] */
    size_t *cursor;  /* [data]: all before it are complete */
    xy_op_id_t *ops; /* datum after datum */
} xy_task_uses_t;

xy_status_t xy_task_uses_init(xy_task_uses_t *uses,
                              const xy_graph_t *graph); /* ENOMEM in silence */
void xy_task_uses_cleanup(xy_task_uses_t *uses);
/* The first task that uses the datum and is not over; INT64_MAX: none. */
static inline int64_t xy_task_uses_next(xy_task_uses_t *uses, int32_t data, const bool *is_over)
{
    size_t i = uses->cursor[data], end = uses->start[data + 1];

    while (i < end && is_over[uses->ops[i]])
        i++;
    uses->cursor[data] = i;
    return i < end ? uses->ops[i] : INT64_MAX;
}

/* When the datum is used next in `memory`: by the plan of the policy, or else by the order of
 * submission. */
static inline int64_t xy_task_next_use(const xy_task_policy_t *policy, void *state,
                                       xy_task_uses_t *uses, const bool *is_over, int32_t memory,
                                       int32_t data)
{
    if (policy->next_use != NULL)
        return policy->next_use(state, memory, data);
    return xy_task_uses_next(uses, data, is_over);
}

/* ---- Eviction: what a full memory gives up ---- */

typedef struct {
    const char *name;
    const char *describe;
    bool is_clean_first; /* of equals, one that need not be written back */
    bool is_by_next_use; /* the one used latest from now; otherwise the least recently used */
} xy_task_eviction_t;

extern const xy_task_eviction_t xy_task_evictions[]; /* ended by a NULL name */
xy_status_t xy_task_eviction_find(const char *name, const xy_task_eviction_t **eviction_p);

/* ---- What engines and those who use them share ---- */

/* A task as it is run in real time. */
typedef struct {
    int32_t worker;
    xy_op_id_t op;
    void *const *buffers; /* [accesses] where the data are */
} xy_task_turn_t;

/* Told what happens, in the order of the ends. Any may be NULL. */
typedef struct {
    void *arg;
    void (*task)(void *arg, int32_t worker, xy_op_id_t op, double start, double end);
    void (*transfer)(void *arg, int32_t data, int32_t from, int32_t to, double start, double end);
    void (*memory)(void *arg, int32_t memory, double time, uint64_t used);
    /* Real time: a worker was without a task, deciding or waiting for others. */
    void (*pause)(void *arg, int32_t worker, bool is_decision, double start, double end);
    /* Real time on GPUs: a memory gave up a datum; the policy chose a task for a worker. */
    void (*evict)(void *arg, int32_t memory, int32_t data, double time);
    void (*decide)(void *arg, int32_t worker, xy_op_id_t op, double start, double end);
    /* A message to or from another rank. */
    void (*message)(void *arg, int32_t data, int32_t peer, bool is_send, double start, double end);
} xy_task_observer_t;

typedef struct {
    const char *policy;        /* that ran: the one chosen, when it was a choice */
    const char *eviction;      /* likewise */
    int32_t extra_rounds;      /* likewise, of relay */
    int32_t look_ahead;        /* likewise, where GPUs are driven as real ones are */
    int32_t workers;           /* that it used */
    uint64_t memory;           /* bytes of each memory that it used at most; 0: all of it */
    int32_t trials;            /* that a choice made */
    double makespan;           /* until the last datum is home */
    double tasks_end;          /* until the last task is complete */
    double scheduling_seconds; /* real time spent in the policy */
    double trial_seconds;      /* of a processor, for all trials of a choice */
    double compute_bound;      /* all work shared by all workers without a gap */
    double bound;              /* virtual time: no schedule ends before (bound.c) */
    /* Virtual time, of all memories but the main one: how long data moved to or from it, and how
     * much of that its workers computed. */
    double moving_seconds, hidden_seconds;
    uint64_t loads, stores, peers; /* transfers from and to the main memory, between others */
    uint64_t bytes_loaded, bytes_stored, bytes_peer;
    uint64_t tasks, evictions, given_back; /* given_back: younger tasks that had to start again */
    uint64_t messages, bytes_received;     /* that came from other ranks */
    uint64_t bytes_staged;     /* on GPUs: copied by way of pinned memory, as theirs is not */
    uint64_t launches;         /* as GPUs are driven: tasks that share one are one */
    uint64_t launches_waiting; /* launches that the GPU itself held up until a copy was complete */
    uint64_t exchanges;        /* real time: data that took the place of dead ones in a cache */
} xy_task_result_t;

#endif
