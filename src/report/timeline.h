/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles from traces. A trace has every call and message, so a delay can be followed to its
 * origin: a wait is blamed on the rank that ends it as far as that has worked longer since both
 * met, and as far as it has waited longer, on those that it has waited for, and so on.
 *
 *   rank 0  compute ---------- send
 *   rank 1  recv ...............| send                  waits for rank 0
 *   rank 2  recv .................|                     waits for rank 1, because of rank 0
 */
#ifndef XY_REPORT_TIMELINE_H
#define XY_REPORT_TIMELINE_H

#include "report/profile.h"
#include "trace/trace.h"

/* "ring.c:25" for a site of a trace, "FILE+0xOFFSET"; false: it is not known. */
typedef bool (*xy_site_fn)(const char *site, char *text, size_t size);

/* The blames of records are root causes. What is neither a wait nor computation is XY_PART_LIBRARY.
 * The profile has its insight. EINVAL (reported): the trace has no calls of ranks. On success the
 * caller owns *profile_p. */
xy_status_t xy_profile_from_trace(const xy_trace_log_t *log, xy_site_fn line,
                                  xy_profile_t **profile_p);

/* The page of a trace (xy_trace_write_html), with calls, waits and their causes if the trace has
 * calls of ranks. ENOMEM (reported). */
xy_status_t xy_report_view(const xy_trace_log_t *log, xy_site_fn line, FILE *file);

#endif
