/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results that need a trace, beside the profile: the critical path, and data that waited for
 * progress.
 *
 *   for (size_t i = 0; i < p->insight->path.count; i++)
 *       use(&XY_VEC_AT(&p->insight->path, xy_path_part_t, i));
 *
 * The critical path is walked backwards from the rank that ends last. Where a rank waits, the path
 * changes to the rank that ended the wait, at that moment:
 *
 *   rank 0  compute . . . . | send  - - -           the path: compute, send on rank 0,
 *   rank 1  compute | recv ........| compute |      then the rest of the receive and compute on 1
 *
 * So its parts cover each moment of the run once.
 */
#ifndef XY_REPORT_INSIGHT_H
#define XY_REPORT_INSIGHT_H

#include "report/profile.h"
#include "trace/trace.h"

/* All stretches of the path on one rank that belong to one call site: computation before it, or the
 * calls themselves. */
typedef struct {
    uint32_t rank, site;
    bool is_call;
    uint64_t ns;
} xy_path_part_t;

/* Calls of a rank that complete what an earlier call started: data moved in them that had been
 * ready while the rank computed. */
typedef struct {
    uint32_t rank, site;
    uint64_t calls, ns;
} xy_late_t;

/* Messages of at most XY_SMALL_BYTES that directly follow one to the same rank from the same line.
 */
typedef struct {
    uint32_t rank, site;
    uint64_t messages, bytes;
    uint64_t ns; /* of their calls */
} xy_small_t;

enum { XY_SMALL_BYTES = 1024 };

typedef struct xy_insight {
    xy_vec_t path;     /* of xy_path_part_t, longest first */
    uint64_t path_ns;  /* all of them: from the first beginning of a rank to the last end of one */
    xy_vec_t late;     /* of xy_late_t, longest first */
    xy_vec_t small;    /* of xy_small_t, longest first */
    uint32_t *site_of; /* [steps of the trace] of a call, its site; else 0 */
    xy_vec_t calls;    /* of xy_trace_call_t, counted ones, by rank, then by time */
    xy_vec_t waits;    /* of xy_trace_wait_t, likewise; its kind is an xy_part_t */
} xy_insight_t;

void xy_insight_destroy(xy_insight_t *insight); /* NULL is fine */

#endif
