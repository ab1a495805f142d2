/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that runs one kernel (private to the component): it may crash, hang or spoil its memory
 * without harm.
 *
 *   measure_child_t w;
 *   st = measure_child_start(&(measure_child_options_t){.name = "dgemm", .threads = 1}, &w);
 *   st = measure_child_measure(&w, 1500, 0.5, &pool);
 *   measure_child_stop(&w);
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
    double patience;      /* seconds a single measurement may take; 0: a minute */
    bool is_raw;          /* as a program sees it: time that others take from its core counts */
    measure_speed_t pace; /* the reference, may change; zeros: pace does not matter */
} measure_child_options_t;

typedef struct {
    measure_child_options_t options;
    pid_t pid;
    int socket;
    char library[128]; /* the library that was loaded */
} measure_child_t;

/* ENOENT: no such kernel, library or symbol. The strings must live as long as the worker. */
xy_status_t measure_child_start(const measure_child_options_t *options, measure_child_t *worker_p);

/* Measure size n in about `seconds`: one run at least. EINVAL: the kernel failed, crashed or did
 * not end; it was reported, with what happened, and the worker is good for nothing but to be
 * stopped.
 */
xy_status_t measure_child_measure(measure_child_t *worker, double n, double seconds,
                                  measure_pool_t *pool_p);

/* The same for a kernel of the table with several sizes, `count` of them. */
xy_status_t measure_child_measure_sizes(measure_child_t *worker, const double *sizes, size_t count,
                                        double seconds, measure_pool_t *pool_p);

void measure_child_stop(measure_child_t *worker);

#endif
