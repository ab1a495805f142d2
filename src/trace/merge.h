/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several recordings become one file while they are made. Each source (a process of a job) records
 * into a pipe; its bytes come here in pieces of any length, and whole chunks are appended to the
 * file, which is readable at any time.
 *
 *   xy_trace_merge_t *merge;
 *   st = xy_trace_merge_create("run.xyt", names, 2, &merge);
 *   st = xy_trace_merge_add(merge, 0, bytes, size);             (any number of times)
 *   xy_trace_merge_clock(merge, 0, &(xy_trace_clock_fit_t){...});
 *   st = xy_trace_merge_close(merge);
 *
 * Clocks: the file has the monotonic clock of the process that merges. The caller measures the
 * offset of a source's clock at two times of the run; between them it is a line. One thread at a
 * time.
 */
#ifndef XY_TRACE_MERGE_H
#define XY_TRACE_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

typedef struct xy_trace_merge xy_trace_merge_t;

/* At time[i] of a source's monotonic clock, the clock of the file is offset[i] later (ns). */
typedef struct {
    uint64_t time[2];
    int64_t offset[2];
    uint64_t error; /* that either may be wrong by */
} xy_trace_clock_fit_t;

/* `names` are those of the `count` sources, for people. On success the caller owns *merge_p. */
xy_status_t xy_trace_merge_create(const char *path, const char *const *names, int count,
                                  xy_trace_merge_t **merge_p);
/* The next bytes of a source. EPARSE, reported once: they are no trace; nothing more of this source
 * is taken. */
xy_status_t xy_trace_merge_add(xy_trace_merge_t *merge, int source, const void *bytes, size_t size);
/* The measurements of a source's clock; the last call counts. */
void xy_trace_merge_clock(xy_trace_merge_t *merge, int source, const xy_trace_clock_fit_t *fit);
/* The end of the trace: gives the file its name. Reports the first write error. NULL is fine. */
xy_status_t xy_trace_merge_close(xy_trace_merge_t *merge);

#endif
