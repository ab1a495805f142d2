/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part that all task engines share: it keeps the memories and the tasks that gather data in
 * them, and asks the policy. The driver, a table, says how data move, and what is counted.
 *
 *   static const xy_task_driver_t driver = {.fetch = fetch, .write_back = write_back, ...};
 *   xy_task_engine_t e = {.driver = &driver, .graph = graph, .memory_count = 2, ...};
 *   st = xy_task_engine_init(&e, graph);
 *   slot = xy_task_engine_take(&e, &pipeline, op, worker, memory);     (the policy named the task)
 *   xy_task_engine_pump(&e, memory);                       (tasks get room, and ask for their data)
 *   slot = xy_task_pipeline_complete(&pipeline);
 *   xy_task_engine_begin(&e, memory, slot);                            (it writes now)
 *   xy_task_engine_end(&e, memory, &pipeline, slot);                   (successors may be ready)
 *
 * Drivers are src/tasks/exec (cores with modelled caches; a file as home), src/tasks/sim (links on
 * the virtual clock) and src/tasks/device. That one gathers by itself: its streams put things in
 * order, so that no task waits for data, and no room is being made. Not thread-safe.
 */
#ifndef XY_TASKS_MEMORY_MEMORY_H
#define XY_TASKS_MEMORY_MEMORY_H

#include "tasks/memory/copies.h"

typedef struct xy_task_engine xy_task_engine_t;

/* Functions may be NULL where it says so. */
typedef struct {
    /* The copy has room now, or has none any more. */
    void (*taken)(xy_task_engine_t *e, int32_t memory, int32_t data);
    void (*given)(xy_task_engine_t *e, int32_t memory, int32_t data);
    /* Bring a datum to a memory that has made room for it. */
    void (*fetch)(xy_task_engine_t *e, int32_t memory, int32_t data, bool is_prefetch);
    /* Evict the only copy that is current. true: the main memory knows it now. false: it leaves
     * (xy_task_memory_leave) until it is written back. */
    bool (*write_back)(xy_task_engine_t *e, int32_t memory, int32_t data);
    /* NULL: nothing to do. A copy was given up; a task gets room for what it only writes; a task
     * may begin. */
    void (*evicted)(xy_task_engine_t *e, int32_t memory, int32_t data);
    void (*overwrite)(xy_task_engine_t *e, int32_t memory, int32_t data);
    void (*ready)(xy_task_engine_t *e, xy_op_id_t op);
    /* The datum is written: a transfer that brings an old value here is worth nothing. true: there
     * is one, and the copy is given up when it arrives. NULL: there never is. */
    bool (*is_overtaken)(xy_task_engine_t *e, int32_t memory, int32_t data);
    /* No task will read what is there. NULL: one may. */
    bool (*is_dead)(xy_task_engine_t *e, int32_t data);
    /* Data that are written no more go home while their way has nothing else to do. NULL: never. */
    bool (*is_way_home_free)(const xy_task_engine_t *e, int32_t memory);
    void (*send_home)(xy_task_engine_t *e, int32_t memory, int32_t data);
    int32_t prefetch_max; /* data on their way at once that no task waits for */
    bool is_spilling;     /* a memory without room takes what a task needs, as a cache does */
    bool is_exact;        /* data must not be overwritten while they are copied */
    bool is_timed;        /* count the time of each decision here: the engine does not time them */
} xy_task_driver_t;

typedef struct {
    xy_task_memory_t space; /* `own` of a copy belongs to the driver */
    xy_task_gathering_t gathering;
    int32_t prefetching; /* data on their way that no task waits for */
} xy_task_engine_memory_t;

/* The first member of an engine. */
struct xy_task_engine {
    const xy_task_driver_t *driver;
    const xy_graph_t *graph;
    const xy_task_policy_t *policy;
    const xy_task_eviction_t *eviction;
    void *state; /* of the policy */
    xy_task_view_t view;
    xy_task_result_t result;
    int32_t worker_count, memory_count;
    int32_t depth; /* of the pipelines; 0: there are none */
    int32_t data_count, ops, left;
    int32_t most;                      /* accesses of a task, 1 at least */
    xy_task_engine_memory_t *memories; /* [memory_count] */
    uint64_t *bytes;                   /* [data] as the graph has them */
    uint8_t **states;                  /* [memory_count]: for the view */
    int32_t *waiting;                  /* [operations] predecessors still to end */
    int32_t *writers_left;             /* [data] */
    bool *is_over;                     /* [ops] */
    xy_task_uses_t uses;               /* for belady-plan without a plan, and for is_dead */
    /* The platform of the view, where the engine has to make one up. */
    int32_t *memory_of;
    double *speed, *latency, *rate;
    uint64_t *capacity;
};

/* Find policy and eviction (NULL: the usual ones), and count tasks and data of e->graph. */
xy_status_t xy_task_engine_find(xy_task_engine_t *e, const char *policy, const char *eviction);
/* Memories without a limit, all data in the main one, no task complete. `order` is the graph, or
 * one that has its tasks and more. XY_ENOMEM (silent): may be cleaned up nevertheless. */
xy_status_t xy_task_engine_init(xy_task_engine_t *e, const xy_graph_t *order);
/* The arrays of a platform, all zero, and a view of them. XY_ENOMEM (silent). */
xy_status_t xy_task_engine_init_platform(xy_task_engine_t *e);
/* Also ends the policy. */
void xy_task_engine_cleanup(xy_task_engine_t *e);
/* Creates the policy, with alpha and beta 1 unless they are named; its time counts as decisions. */
xy_status_t xy_task_engine_start(xy_task_engine_t *e, const xy_task_params_t *params);

/* A task takes hold of its data and begins to gather them. */
xy_task_slot_t *xy_task_engine_take(xy_task_engine_t *e, xy_task_pipeline_t *pipeline,
                                    xy_op_id_t op, int32_t worker, int32_t memory);
/* Let the tasks of a memory gather what they miss, then prefetch, then send data home. */
void xy_task_engine_pump(xy_task_engine_t *e, int32_t memory);
/* It begins to write. */
void xy_task_engine_begin(xy_task_engine_t *e, int32_t memory, const xy_task_slot_t *slot);
/* It has ended. */
void xy_task_engine_end(xy_task_engine_t *e, int32_t memory, xy_task_pipeline_t *pipeline,
                        xy_task_slot_t *slot);
/* The policy may pick the task. */
void xy_task_engine_ready(xy_task_engine_t *e, xy_op_id_t op);

/* Parts of these, for drivers. */
/* The memory lets go of the data of a task that has run: they were used just now. */
void xy_task_engine_finished(xy_task_engine_t *e, int32_t memory, xy_op_id_t op);
/* It gives up what it gathered, and the room taken for data that hold nothing yet. */
void xy_task_engine_let_go(xy_task_engine_t *e, int32_t memory, xy_op_id_t op);
/* No other copy is worth anything. */
void xy_task_engine_own(xy_task_engine_t *e, int32_t memory, int32_t data);
/* Tell the policy that a copy is there, or on its way. */
void xy_task_engine_announce(xy_task_engine_t *e, int32_t memory, int32_t data);
void xy_task_engine_allocate(xy_task_engine_t *e, int32_t memory, int32_t data);
void xy_task_engine_release(xy_task_engine_t *e, int32_t memory, int32_t data);
/* Likewise, as an eviction. */
void xy_task_engine_evict(xy_task_engine_t *e, int32_t memory, int32_t data);
/* The datum to evict, by the policy or else by the eviction strategy; -1: there is none. */
int32_t xy_task_engine_victim(xy_task_engine_t *e, int32_t memory, bool is_prefetch);
/* Adds a transfer to the result. */
void xy_task_engine_count(xy_task_engine_t *e, int32_t data, int32_t from, int32_t to);

/* Is there no other copy that is current? */
static inline bool xy_task_engine_is_sole(const xy_task_engine_t *e, int32_t memory, int32_t data)
{
    for (int32_t m = 0; m < e->memory_count; m++)
        if (e->states[m][data] == XY_TASK_HERE && m != memory)
            return false;
    return true;
}

#endif
