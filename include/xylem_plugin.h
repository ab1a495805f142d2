/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plug-ins: scheduling policies of your own, as shared objects.
 *
 *   #include <xylem_plugin.h>
 *
 *   const xylem_policy xylem_plugin_policy = {
 *       .version = XYLEM_PLUGIN_VERSION,
 *       .create = create, .destroy = destroy, .ready = ready, .pick = pick,
 *   };
 *
 *   cc -shared -fPIC -o mine.so MINE.c $(pkg-config --cflags xylem)
 *   xylem stencil --policy ./mine.so
 *
 * A plug-in is linked with no library of Xylem. Each run has a state of its own, made by `create`.
 * One thread at a time calls into a run; different runs may be in different threads at the same
 * time, so variables of the file must be constant or protected. docs/plugins.md is the guide;
 * examples/plugins has complete plug-ins.
 */
#ifndef XYLEM_PLUGIN_H
#define XYLEM_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. A plug-in that was built with another one is refused. */
#define XYLEM_PLUGIN_VERSION 1

/* ---- Scheduling policies: xylem stencil --policy ./mine.so, and xylem_run_options.policy ---- */

/* Modes of an access; states of a copy (0: it is not there). */
enum { XYLEM_PLUGIN_READ = 1, XYLEM_PLUGIN_WRITE = 2 };
enum { XYLEM_PLUGIN_HERE = 1, XYLEM_PLUGIN_COMING = 2 };

typedef struct {
    int32_t data;
    int32_t mode; /* XYLEM_PLUGIN_READ, XYLEM_PLUGIN_WRITE, or both added */
} xylem_plugin_access;

typedef struct {
    double seconds; /* on a worker of speed 1 */
    int32_t priority;
    int32_t iteration;
    int64_t position[3]; /* in the domain; -1: none */
    const xylem_plugin_access *accesses;
    int32_t access_count;
    int32_t successor_count;
    const int32_t *successors;
    int32_t predecessors; /* how many */
} xylem_plugin_task;

typedef struct {
    uint64_t bytes;
    int32_t home;        /* memory where it is at the beginning and at the end */
    int64_t position[3]; /* in the domain; -1: none */
} xylem_plugin_datum;

/* The view of a policy. Tasks, data, workers and memories are numbered from 0; memory 0 is the main
 * memory. `copies` and `now` change during the run. */
typedef struct {
    int32_t task_count, data_count, workers, memories;
    const xylem_plugin_task *tasks;
    const xylem_plugin_datum *data;
    const int32_t *memory_of;     /* [workers] */
    const double *speed;          /* [workers] */
    const uint64_t *capacity;     /* [memories] bytes; 0: no limit */
    const uint8_t *const *copies; /* [memories][data]: XYLEM_PLUGIN_HERE, XYLEM_PLUGIN_COMING, 0 */
    const double *latency;        /* [from * memories + to] seconds */
    const double *rate;           /* likewise, bytes per second; 0: no such way */
    const double *now;            /* seconds since the start */
} xylem_policy_view;

/* Can the memory give up this datum now? */
typedef struct {
    int (*is_free)(const void *arg, int32_t data);
    const void *arg;
} xylem_plugin_free;

typedef struct {
    int version;          /* XYLEM_PLUGIN_VERSION */
    int tasks_held;       /* by a worker at once, the running one included; 0: 2, at most 8 */
    const char *eviction; /* where `victim` has no answer: lru, clean-first (NULL), belady-plan */
    /* 1: data that no task writes any more go home as soon as their way is free. */
    int is_writing_early;
    /* 1: a task that is ready may have to wait for others that are not. Ranks that share a graph
     * refuse such a policy: they could wait for each other forever. */
    int is_strict;
    /* 1: room for a prefetch may be made by giving up other data. */
    int is_evicting_for_prefetch;

    /* Required. `create` returns 0, or any other number to refuse the graph; the view stays until
     * `destroy`. */
    int (*create)(const xylem_policy_view *view, void **state_p);
    void (*destroy)(void *state);
    void (*ready)(void *state, int32_t task); /* its predecessors have ended */
    /* A task for this worker, of those that are ready and not yet picked; -1: none now. */
    int32_t (*pick)(void *state, int32_t worker);

    /* Each may be NULL. */
    void (*done)(void *state, int32_t worker, int32_t task);
    void (*arrived)(void *state, int32_t memory, int32_t data); /* it is there or on its way */
    /* A datum that `memory` lacks and should load before any task asks for it; -1: none. */
    int32_t (*prefetch)(void *state, int32_t memory);
    /* Eviction: the datum to give up, one that `may_go` allows; -1: the named eviction decides, or,
     * for a prefetch, nothing goes. */
    int32_t (*victim)(void *state, int32_t memory, int is_prefetch,
                      const xylem_plugin_free *may_go);
    /* When the datum is used next in `memory`, for the eviction belady-plan: any ascending number;
     * INT64_MAX: never. */
    int64_t (*next_use)(void *state, int32_t memory, int32_t data);
} xylem_policy;

/* The table that the plug-in defines. */
extern const xylem_policy xylem_plugin_policy __attribute__((visibility("default")));

/* ---- Placement: xylem place --strategy ./mine.so, mpiexec --place ./mine.so ---- */

/* Processes to place on leaves: cores, or nodes of a grid. */
typedef struct xylem_place_problem {
    uint32_t processes, leaves;
    /* The communication graph, both directions added: process r exchanges weight[k] with peer[k],
     * for k from first[r] to first[r + 1] - 1. NULL: not known. */
    const uint32_t *first, *peer;
    const double *weight;
    const uint32_t *capacity; /* [leaves] processes that it may run at most */
    const uint32_t *host;     /* [leaves] the host of each; NULL: there is one */
    const uint32_t *numa;     /* [leaves] numbered over all hosts; NULL: not known */
    const double *load;       /* [processes]; NULL: all the same */
    uint64_t seed;            /* the same seed must give the same placement */
    /* How far two leaves are from each other, by the objective of the command; what a placement
     * costs is the sum of weight times distance. */
    double (*distance)(const struct xylem_place_problem *problem, uint32_t a, uint32_t b);
    const void *own; /* of Xylem */
} xylem_place_problem;

typedef struct {
    int version;      /* XYLEM_PLUGIN_VERSION */
    int needs_matrix; /* 1: it looks at who talks to whom; mpiexec then asks for --matrix */
    uint32_t limit;   /* more processes take too long; 0: none */
    /* Fill leaf_of[processes]. Returns 0, or any other number where it has no answer. */
    int (*place)(const xylem_place_problem *problem, uint32_t *leaf_of);
} xylem_strategy;

/* The table that the plug-in defines. */
extern const xylem_strategy xylem_plugin_strategy __attribute__((visibility("default")));

/* ---- Collectives: mpiexec --algorithm allreduce=./mine.so ---- */

/* The request of all ranks together. Let n = count * element bytes.
 *
 *   collective            buffers of a rank: send     receive
 *   bcast                 -                           n
 *   reduce                n                           n, of the root
 *   allreduce scan exscan n                           n
 *   gather                n                           n per rank, of the root
 *   scatter               n per rank, of the root     n
 *   allgather             n                           n per rank
 *   alltoall              n per rank                  n per rank
 *   reduce_scatter_block  n per rank                  n
 */
typedef struct {
    const char *collective; /* "allreduce" */
    int32_t ranks, root;
    uint64_t count, element; /* `element` in bytes */
    int is_commutative;      /* of the reduction */
} xylem_coll_request;

/* Buffers of a rank. Temporaries are made as large as they are used. */
enum {
    XYLEM_PLUGIN_SEND,
    XYLEM_PLUGIN_RECEIVE,
    XYLEM_PLUGIN_TEMPORARY, /* and the two after it */
    XYLEM_PLUGIN_BUFFERS = 5
};

typedef struct {
    int32_t rank, buffer;
    uint64_t offset;
} xylem_spot;

/* An algorithm writes down what is copied and reduced as one sequential program. What touches
 * different bytes may run at the same time; what goes from one rank to another is a message. */
typedef struct xylem_coll_builder {
    const xylem_coll_request *request;
    /* Where the contribution of a rank is: in its send buffer, or, with MPI_IN_PLACE, elsewhere. */
    xylem_spot (*input)(const struct xylem_coll_builder *builder, int32_t rank);
    void (*copy)(struct xylem_coll_builder *builder, xylem_spot from, xylem_spot to,
                 uint64_t bytes);
    /* to = from op to, or, with is_after, to = to op from. Whole elements. */
    void (*reduce)(struct xylem_coll_builder *builder, xylem_spot from, xylem_spot to,
                   uint64_t bytes, int is_after);
    void *own; /* of Xylem */
} xylem_coll_builder;

typedef struct {
    int version;            /* XYLEM_PLUGIN_VERSION */
    int is_commuting;       /* 1: it needs an operation that commutes */
    const char *collective; /* the collective that it does, of those above */
    /* Can it do this call? NULL: any. Others are done as without the plug-in. */
    int (*applies)(const xylem_coll_request *request);
    void (*build)(xylem_coll_builder *builder);
} xylem_algorithm;

/* The table that the plug-in defines. */
extern const xylem_algorithm xylem_plugin_algorithm __attribute__((visibility("default")));

#ifdef __cplusplus
}
#endif

#endif
