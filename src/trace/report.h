/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output of a log: numbers, text, and files for this and other viewers.
 *
 *   xy_trace_summary_t *sum;
 *   st = xy_trace_summarize(log, &sum);
 *   printf("row 0 was idle for %.3f s\n", 1e-9 * sum->rows[0].idle);
 *   xy_trace_summary_free(sum);
 *
 * Write errors of the functions with a FILE stay in its error flag: the code that opened it
 * (xy_out_t) reports them.
 */
#ifndef XY_TRACE_REPORT_H
#define XY_TRACE_REPORT_H

#include <stdio.h>

#include "trace/log.h"

/* Times in nanoseconds; doubles, because sums over rows may leave 64 bits. A moment counts for the
 * innermost state only, so that the kinds of a row and its idle time outside of states add up to
 * the span. */
typedef struct {
    double compute;
    double idle;   /* in states of role idle, and outside of any state */
    double flight; /* some message from or to this row was in flight */
    double hidden; /* ... and the row computed: hidden / flight is the overlap */
    uint64_t sent, received, bytes_sent, bytes_received;
} xy_trace_row_summary_t;

typedef struct {
    size_t row_count, kind_count;
    double span;       /* end - begin of the log */
    double *time;      /* [row * kind_count + kind] */
    double *kind_time; /* [kind], over all rows */
    xy_trace_row_summary_t *rows;
    xy_trace_row_summary_t total;
} xy_trace_summary_t;

/* On success the caller owns *summary_p. Any thread. */
xy_status_t xy_trace_summarize(const xy_trace_log_t *log, xy_trace_summary_t **summary_p);
void xy_trace_summary_free(xy_trace_summary_t *summary); /* NULL is fine */

/* For people: a table and a timeline of `columns` characters (UTF-8). At most `row_limit` rows are
 * printed, 0: all. */
xy_status_t xy_trace_write_text(const xy_trace_log_t *log, const xy_trace_summary_t *summary,
                                size_t columns, size_t row_limit, FILE *file);
/* For programs. Times in seconds. */
void xy_trace_write_json(const xy_trace_log_t *log, const xy_trace_summary_t *summary, FILE *file);

/* Pajé, with its self-defining header: ViTE, PajeNG. */
xy_status_t xy_trace_write_paje(const xy_trace_log_t *log, FILE *file);
/* Chrome's trace event format: ui.perfetto.dev, chrome://tracing. */
xy_status_t xy_trace_write_chrome(const xy_trace_log_t *log, FILE *file);
/* OTF2, into a new directory: Vampir, Scalasca, otf2-print. `line` gives the line of a site, false:
 * it is not known. EUNSUPPORTED: the library is missing (reported). */
typedef bool (*xy_trace_line_fn)(const char *site, char *text, size_t size);
xy_status_t xy_trace_write_otf2(const xy_trace_log_t *log, const char *directory,
                                xy_trace_line_fn line);
/* A picture of the time from `begin` to `end` (of the log's clock). EINVAL: that is empty
 * (reported).
 */
xy_status_t xy_trace_write_svg(const xy_trace_log_t *log, int64_t begin, int64_t end, FILE *file);

/* ---- The page ---- */

typedef struct {
    const char *function; /* "MPI_Recv" */
    const char *place;    /* "ring.c:25", or "" */
} xy_trace_place_t;

typedef struct {
    int64_t enter, leave;
    uint32_t rank, place;
} xy_trace_call_t;

/* A part of a call in which its rank waits. */
typedef struct {
    int64_t start, end;
    uint32_t rank, kind;
    uint32_t who, place;       /* the rank that ends the wait, and its call then */
    uint32_t root, root_place; /* the rank to blame for most of the wait, and where it came late, */
    int64_t root_end;          /* when, */
    int64_t root_ns;           /* and how much of the wait it is to blame for */
} xy_trace_wait_t;

/* Why ranks wait, as src/report finds it. Calls and waits are in the order of ranks, then of time;
 * those of a rank are disjoint, and a wait is inside a call. Places have index 0 for "none". */
typedef struct {
    const char *finding;
    const xy_trace_kind_info_t *kinds; /* of waits */
    const xy_trace_place_t *places;
    const xy_trace_call_t *calls;
    const xy_trace_wait_t *waits;
    size_t kind_count, place_count, call_count, wait_count;
} xy_trace_why_t;

/* One self-contained page. With `why` it also has a row for each rank, with its calls and waits;
 * NULL: not known. ENOMEM (reported). */
xy_status_t xy_trace_write_html(const xy_trace_log_t *log, const xy_trace_why_t *why, FILE *file);

#endif
