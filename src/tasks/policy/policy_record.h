/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trace of a run of tasks, from what an engine reports to its observer: a row per worker with
 * its tasks, decisions and waits, a row per way between memories, and what each memory holds.
 * Transfers of GPUs are also messages.
 *
 *   xy_task_trace_t *trace;
 *   xy_task_trace_open("run.xyt", &view, XY_TASK_GPUS, "dmdar", NULL, &trace);
 *   observer = xy_task_trace_observer(trace);         (for the engine)
 *   ... run ...
 *   st = xy_task_trace_close(trace);
 */
#ifndef XY_TASKS_POLICY_POLICY_RECORD_H
#define XY_TASKS_POLICY_POLICY_RECORD_H

#include "tasks/policy/task.h"

/* The kind of the memories other than the main memory, for their names, and the clock. */
typedef enum {
    XY_TASK_GPUS,    /* virtual time */
    XY_TASK_CACHES,  /* real time: a modelled cache per core */
    XY_TASK_FILE,    /* real time: memory 0 is a file, memory 1 what is held of it */
    XY_TASK_DEVICES, /* real time: GPUs */
} xy_task_memories_t;

typedef struct xy_task_trace xy_task_trace_t;

/* The workers, memories and rates of the view are read, and only now; the graph must stay. `next`
 * (or NULL) gets all events, too. The caller owns *trace_p. XY_EIO, XY_ENOMEM (reported). */
xy_status_t xy_task_trace_open(const char *path, const xy_task_view_t *view,
                               xy_task_memories_t memories, const char *title,
                               const xy_task_observer_t *next, xy_task_trace_t **trace_p);
/* To be given to an engine; belongs to the trace. */
const xy_task_observer_t *xy_task_trace_observer(const xy_task_trace_t *trace);
/* Says the first error of the recording; the trace is gone in all cases. NULL is fine. */
xy_status_t xy_task_trace_close(xy_task_trace_t *trace);

#endif
