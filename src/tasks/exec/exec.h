/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Task graphs in real time: workers of src/fiber, one per core, run the tasks, and the policies
 * that the simulator knows decide which and when.
 *
 *   xy_task_exec_t how = {.policy = "closure"};         (each task has its code, each datum
 *   st = xy_task_execute(graph, &how, &result);          its address)
 *   printf("%.3f s on %d cores\n", result.makespan, xy_task_exec_workers(&how));
 *
 * Memories. Policies decide by the data near a worker, so each worker has a memory:
 *
 *   in core      each worker has a memory of its own, its cache. A cache cannot be asked what it
 *                holds, so it is modelled: what tasks of the worker touched, as much as fits, in
 *                the order that the policy or the eviction gives up. Nothing is copied; loads and
 *                stores are those of the model.
 *   out of core  the data live in a file (`store`), and all workers share one memory of `capacity`
 *                bytes, in which blocks are read and from which they are written back, by threads
 *                of their own, while tasks run. Loads and stores are real.
 *
 * Each thread records its own events, which go to trace and observer after the run: loads and
 * evictions of a modelled cache have the time of the decision, all other times are measured.
 *
 * Policies are called under one lock. A worker that has nothing to do, or that waits for tasks of
 * other workers, polls for 100 us, then sleeps until it is notified. With more workers than cores
 * none is pinned and none polls.
 */
#ifndef XY_TASKS_EXEC_EXEC_H
#define XY_TASKS_EXEC_EXEC_H

#include <stdatomic.h>

#include "graph/graph.h"
#include "tasks/memory/memory.h"

/* Data in a file: datum d has its bytes at offset[d]. */
typedef struct {
    int fd;
    const char *path; /* for messages */
    const uint64_t *offset;
} xy_task_store_t;

typedef struct {
    const char *policy;      /* NULL: closure. One that is a choice (foresight) runs its first
                                trial; who can simulate chooses before */
    const char *eviction;    /* NULL: what the policy prefers */
    xy_task_params_t params; /* alpha and beta 0: both 1 */
    int32_t pipeline;        /* out of core: tasks a worker holds; 0: as the policy does */
    int32_t workers;         /* 0: one per core that the process may use */
    uint64_t capacity;       /* of a cache (0: xy_task_cache_bytes), of the memory with a store */
    void **addresses;        /* [data] in core; NULL: those of the data themselves */
    /* In core, with addresses and without `stop`: data of the same size may exchange their
     * addresses, which spares the way to memory of what is overwritten before it is read. A datum
     * is afterwards where `addresses` says. */
    bool is_exchanging;
    const xy_task_store_t *store; /* NULL: in core */
    /* Do a task. Called by several workers at once. NULL: the `code` of each. */
    void (*run)(void *arg, const xy_task_turn_t *turn);
    void *arg;
    const atomic_bool *stop; /* no task begins once it is set; or NULL */
    const char *trace;       /* file to record into, or NULL */
    const xy_task_observer_t
        *observer; /* notified when all is complete, by the calling thread; or NULL */
} xy_task_exec_t;

/* Run the graph (final). In the result, compute_bound is the time that was spent in tasks, shared
 * by all workers without a gap; makespan and tasks_end are wall-clock times from the first decision
 * on, scheduling_seconds is what workers spent in decisions and waiting for others' decisions.
 *
 * XY_EINVAL: no such policy or eviction, a task does not fit, the policy cannot run the graph.
 * XY_EIO: the file cannot be read or written; what it holds is then worth nothing. XY_ENOMEM. All
 * said. Any thread, fibers included: the caller's thread is blocked until all tasks are complete,
 * and the threads that ran them have ended. */
xy_status_t xy_task_execute(const xy_graph_t *graph, const xy_task_exec_t *how,
                            xy_task_result_t *result_p);

/* The threads that run with these options. */
int32_t xy_task_exec_workers(const xy_task_exec_t *how);
/* The capacity of a core's own cache (the second level) for the data of tasks. */
uint64_t xy_task_cache_bytes(void);

#endif
