/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks for programs: the functions of xylem.h over the graph and its engines.
 *
 *   tasks.c   data and tasks: what they become in the graph
 *   run.c     options, the platform, the engine, the result
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

struct xylem_tasks {
    xy_graph_t *graph;
    xy_arena_t *arena;  /* xy_task_code_t of the tasks, and copies of their arguments */
    xy_costs_t *costs;  /* NULL: not asked for yet */
    xy_status_t status; /* the first error; it was reported */
    int data, tasks;    /* added: the graph has fewer after memory ran out */
    bool is_final;
    bool has_code; /* every task can run in real time */
};

#endif
