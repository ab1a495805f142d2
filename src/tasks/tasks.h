/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks for programs: the functions of xylem.h over the graph and its engines.
 *
 *   tasks.c   data and tasks in the graph
 *   tasks_run.c     options, the platform, the engine, the result
 *   run_gpu.c real time on GPUs: their kernels
 *   run_choose.c  real time: the policy behind a choice
 *   run_ranks.c   real time, with other ranks
 *
 * The header is for these two files and their tests; programs include xylem.h. A xylem_tasks
 * belongs to the program's thread that made it. Its first error is kept and returned by the run.
 */
#ifndef XY_TASKS_TASKS_H
#define XY_TASKS_TASKS_H

#include <xylem.h>

#include "cost/cost.h"
#include "graph/graph.h"
#include "tasks/policy/policy.h"
#include "tasks/ranks/ranks.h"

enum { TASKS_VALUES = 8 }; /* of a kernel, beside its data */

/* The work of a task; `code.run` and `kernel` may be NULL. */
typedef struct {
    xy_task_code_t code;
    const xylem_kernel *kernel; /* a copy, and so are its values */
    xylem_gpu_fn gpu;
} tasks_code_t;

struct xylem_tasks {
    xy_graph_t *graph;
    xy_arena_t *arena;  /* tasks_code_t of the tasks, and copies of their arguments */
    xy_costs_t *costs;  /* NULL: not asked for yet */
    xy_status_t status; /* the first error; it was reported */
    xy_vec_t owners;    /* of int32_t: ranks of the data */
    int data, tasks;    /* added: the graph has fewer after memory ran out */
    bool is_final;
    bool has_code;    /* every task can run on a core */
    bool has_all;     /* every task can run somewhere */
    bool has_kernels; /* some task can run on a GPU */
};

/* run_choose.c. What a policy that is a choice stands for in real time on so many GPUs. */
typedef struct {
    const char *policy, *eviction;
    int32_t extra_rounds;
    uint64_t memory; /* to use; 0: all that there is */
} tasks_choice_t;

xy_status_t tasks_choose(const xylem_tasks *t, const xylem_run_options *o, int32_t gpus,
                         tasks_choice_t *choice);

/* The share of this rank. */
typedef struct {
    xy_task_share_t *share;
    void **addresses; /* [data of the share] */
    char *kept;       /* data of other ranks that have no address here */
} tasks_share_t;

/* run_gpu.c. The graph is final. `share` NULL: there are no other ranks. On a share there need not
 * be a GPU. */
xy_status_t tasks_run_on_gpus(const xylem_tasks *t, const xylem_run_options *o,
                              const tasks_choice_t *choice, const tasks_share_t *share,
                              const xy_task_observer_t *observer, xy_task_result_t *result_p);

/* run_ranks.c. Likewise, with the other ranks of o->messages. */
xy_status_t tasks_run_on_ranks(const xylem_tasks *t, const xylem_run_options *o, bool is_on_gpus,
                               const xy_task_observer_t *observer, xy_task_result_t *result_p);

#endif
