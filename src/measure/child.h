/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that runs one kernel (private to the room): it may crash, hang or spoil its memory
 * without harm.
 *
 *   cost_worker_t w;
 *   st = cost_worker_start(&(cost_worker_options_t){.name = "dgemm", .threads = 1}, &w);
 *   st = cost_worker_measure(&w, 1500, 0.5, &pool);
 *   cost_worker_stop(&w);
 */
#ifndef XY_MEASURE_CHILD_H
#define XY_MEASURE_CHILD_H

#include <sys/types.h>

#include "base/base.h"
#include "measure/timing.h"

typedef struct {
    const char *name;    /* of the kernel; of the table when there is no plug-in */
    const char *library; /* NULL: search for a BLAS; the plug-in when `symbol` is given */
    const char *symbol;  /* NULL: from the table */
    long threads;
    double patience;  /* seconds a single measurement may take; 0: a minute */
    cost_pace_t pace; /* the reference, may change; zeros: pace does not matter */
} cost_worker_options_t;

typedef struct {
    cost_worker_options_t options;
    pid_t pid;
    int socket;
    char library[128]; /* what was loaded */
} cost_worker_t;

/* ENOENT: no such kernel, library or symbol. The strings must live as long as the worker. */
xy_status_t cost_worker_start(const cost_worker_options_t *options, cost_worker_t *worker_p);

/* Measure size n in about `seconds`: one run at least. EINVAL: the kernel failed, crashed or did
 * not end; it was said, with what happened, and the worker is good for nothing but to be stopped.
 */
xy_status_t cost_worker_measure(cost_worker_t *worker, double n, double seconds,
                                cost_pool_t *pool_p);

void cost_worker_stop(cost_worker_t *worker);

#endif
