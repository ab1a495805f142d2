/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading. A log is a whole trace in memory, checked and in order, with times in nanoseconds.
 *
 *   xy_trace_log_t *log;
 *   st = xy_trace_read("run.xyt", &log);
 *   for (size_t r = 0; r < log->row_count; r++)
 *       for (size_t i = 0; i < log->rows[r].state_count; i++)
 *           use(&log->states[log->rows[r].first_state + i]);
 *   xy_trace_log_free(log);
 *
 * The file may be truncated, damaged in the middle, still being written, or malicious: all complete
 * chunks are read, the rest is counted in log->damage and reported in one warning.
 *
 * Invariants of a log: states are sorted by row, then start, then outermost first; states of a row
 * nest or are disjoint; depth is the number of states around; every index is valid; start <= end;
 * begin <= all times <= end. Kind 0 and label 0 are "no name".
 */
#ifndef XY_TRACE_LOG_H
#define XY_TRACE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "trace/merge.h"
#include "trace/record.h"

typedef struct {
    const char *name;
    const char *group; /* "": none */
    size_t first_state, state_count;
} xy_trace_row_info_t;

typedef struct {
    const char *name;
    xy_trace_role_t role;
    uint32_t colour; /* 0xRRGGBB, already chosen */
} xy_trace_kind_info_t;

typedef struct {
    const char *name;
    const char *unit;
} xy_trace_counter_info_t;

/* A process that recorded a part of the trace. */
typedef struct {
    const char *name;
    bool is_aligned; /* its clock was compared with the trace's */
    int64_t offset;  /* ns that were added to it, at the beginning */
    uint64_t
        error; /* ns that its times may be wrong by, compared with those of the trace's clock */
} xy_trace_source_info_t;

typedef struct {
    int64_t start, end;
    int64_t id; /* rank or task; XY_TRACE_NO_ID */
    uint32_t row, kind, label, depth;
    bool is_open; /* it never ended: it is shown up to the end of the trace */
} xy_trace_state_t;

typedef struct {
    int64_t start, end; /* end < start is possible: clocks of two machines */
    uint64_t bytes;
    uint32_t from, to, label;
} xy_trace_link_t;

typedef struct {
    int64_t time;
    double value;
    uint32_t row, counter;
} xy_trace_sample_t;

typedef struct {
    int64_t time;
    int64_t id;
    uint32_t row, label;
} xy_trace_mark_t;

typedef enum {
    XY_TRACE_STEP_CALL,       /* label, site */
    XY_TRACE_STEP_SENT,       /* peer, bytes, message */
    XY_TRACE_STEP_RECEIVED,   /* peer, bytes, message */
    XY_TRACE_STEP_COLLECTIVE, /* all below */
} xy_trace_step_kind_t;

/* A step of a rank. */
typedef struct {
    int64_t time;
    xy_trace_step_kind_t kind;
    uint32_t rank, row;
    uint32_t label, site; /* of a call: its name, and where it stands */
    uint32_t peer;        /* to whom, from whom; the root */
    size_t order;         /* among all that were recorded */
    size_t message;       /* from 1: the same for both ends; 0: the other end is not there */
    uint64_t bytes;       /* of a message; of a collective: elements, */
    uint64_t element;     /* of so many bytes */
    uint32_t collective, context, first, members, member; /* as in xy_trace_collective_t */
} xy_trace_step_t;

/* The damage of the file. */
typedef struct {
    bool is_unfinished;     /* it was not closed in order */
    uint64_t bytes_skipped; /* not part of a complete chunk */
    uint64_t chunks_missing;
    uint64_t records_bad;    /* a chunk whose rest makes no sense */
    uint64_t states_open;    /* entered, never left */
    uint64_t states_clipped; /* ended after the state around them */
    uint64_t leaves_alone;   /* left without having been entered */
    uint64_t links_alone;    /* received, but not sent */
} xy_trace_damage_t;

typedef struct xy_trace_log {
    const char *path;
    const char *title; /* "": none */
    xy_trace_clock_t clock;
    int64_t wall_ns;    /* start, since 1970; 0: unknown or virtual */
    int64_t begin, end; /* first and last time of any event; both 0 when there is none */
    xy_trace_row_info_t *rows;
    size_t row_count;
    xy_trace_kind_info_t *kinds; /* [0] is "no name", used only if some state has none */
    size_t kind_count;
    const char **labels; /* [0] is "" */
    size_t label_count;
    xy_trace_counter_info_t *counters;
    size_t counter_count;
    xy_trace_state_t *states;
    size_t state_count;
    xy_trace_link_t *links; /* by start */
    size_t link_count;
    uint64_t links_unreceived;  /* sent, and not among the links: never received */
    xy_trace_sample_t *samples; /* by counter, row, time */
    size_t sample_count;
    xy_trace_mark_t *marks; /* by time */
    size_t mark_count;
    xy_trace_step_t *steps; /* by rank, in the order in which it took them */
    size_t step_count;
    const char **sites; /* [0] is "" */
    size_t site_count;
    size_t message_count;            /* steps' messages are 1 to that */
    xy_trace_source_info_t *sources; /* where several processes recorded it; none otherwise */
    size_t source_count;
    xy_trace_damage_t damage;
    struct xy_arena *arena; /* the names */
} xy_trace_log_t;

/* Read a trace file of at most 4 GiB. On success the caller owns *log_p, and damage was reported in
 * one warning. EPARSE: not a trace, or nothing in it is readable. EUNSUPPORTED: made by a later
 * version. Any thread. */
xy_status_t xy_trace_read(const char *path, xy_trace_log_t **log_p);

/* Does the file begin as a trace does? In silence. */
bool xy_trace_is_trace(const char *path);

/* The same from memory; `path` is for messages and log->path. The log keeps nothing of `data`. */
xy_status_t xy_trace_parse(const void *data, size_t size, const char *path, xy_trace_log_t **log_p);

void xy_trace_log_free(xy_trace_log_t *log); /* NULL is fine */

/* The colours of the project, safe for colour-blind eyes: the n-th kind of a role. */
uint32_t xy_trace_colour(xy_trace_role_t role, unsigned n);

/* Call `fn` for each stretch of time of a row in which the innermost state is the same, in order;
 * stretches outside of any state are left out. `fn` gets the state's index. */
typedef void (*xy_trace_segment_fn)(void *arg, size_t state, int64_t start, int64_t end);
xy_status_t xy_trace_segments(const xy_trace_log_t *log, size_t row, xy_trace_segment_fn fn,
                              void *arg);

#endif
