/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files that read traces: the calls of all ranks, and their waits. */
#ifndef XY_REPORT_TIMELINE_INTERNAL_H
#define XY_REPORT_TIMELINE_INTERNAL_H

#include "report/insight.h"
#include "report/timeline.h"

/* A call of a rank. */
typedef struct {
    int64_t enter, leave;
    uint32_t site;
    size_t first, end; /* its steps in the log, without the call itself */
    size_t started;    /* the first step of what it completes; `first`: it completes nothing else */
    int64_t compute;   /* before it */
    int64_t rest;      /* after its last wait */
    uint64_t bytes;
    uint32_t members;
} timeline_call_t;

enum {
    TIMELINE_ROOTS = 4,
    TIMELINE_EAGER = 16 << 10, /* larger messages wait for their receive */
};

/* A cause of a wait: the rank works, up to a call that it enters at `end` at the latest. */
typedef struct {
    uint32_t rank, site;
    int64_t end;
    double share; /* of the wait; 0: unused */
} timeline_root_t;

/* A stretch of a call in which its rank waits for another one. */
typedef struct {
    int64_t start, end;
    uint32_t who;
    size_t call; /* that it is in */
    xy_part_t part;
    int64_t met; /* when the rank and `who` have met before */
    timeline_root_t root[TIMELINE_ROOTS];
} timeline_wait_t;

typedef struct {
    size_t first_call, calls, first_wait, waits;
    int64_t begin, end; /* counted */
    uint32_t row;
} timeline_rank_t;

/* One collective of all its members: who came last, and when its root came (INT64_MIN: unknown). */
typedef struct {
    int64_t last, root_time;
    uint32_t root;
    size_t first, entries; /* of its members, in the order of time */
} timeline_meeting_t;

/* A member enters a collective. */
typedef struct {
    int64_t time;
    size_t meeting;
    uint32_t rank;
} timeline_entry_t;

/* A rank computes on a core. */
typedef struct {
    int64_t start, end;
    uint32_t core, rank;
} timeline_busy_t;

typedef struct {
    const xy_trace_log_t *log;
    xy_profile_t *profile;
    xy_site_fn line;
    uint32_t ranks;
    timeline_rank_t *rank;
    xy_vec_t calls, waits; /* by rank, in the order of time */
    xy_vec_t meetings;
    xy_vec_t entries;   /* by meeting, in the order of time */
    xy_vec_t busy;      /* by core, in the order of time */
    int64_t *sent;      /* [message]: when, and */
    int64_t *received;  /* ... when the call began that received it */
    size_t *meeting_of; /* [step] */
    uint32_t *core;     /* [row] */
    int64_t slack;      /* by which times of two processes may be wrong */
    xy_hash_t index;    /* of meetings */
} timeline_t;

/* The waits and calls of a rank, [rank->waits] and [rank->calls]. */
static inline const timeline_wait_t *timeline_waits(const timeline_t *t, uint32_t rank)
{
    return (const timeline_wait_t *)t->waits.data + t->rank[rank].first_wait;
}

static inline const timeline_call_t *timeline_calls(const timeline_t *t, uint32_t rank)
{
    return (const timeline_call_t *)t->calls.data + t->rank[rank].first_call;
}

/* MPI_Isend, MPI_Start; MPI_Wait, MPI_Test and their like. */
bool timeline_starts(const char *function);
bool timeline_completes(const char *function);

/* When what a step of a call needs of others was there: the send of what it receives, the last
 * member of a collective; INT64_MAX: it needs nothing. */
int64_t timeline_ready(const timeline_t *t, size_t step);

/* The site of the call that a rank enters at `time`, or is in. */
uint32_t timeline_site_at(const timeline_t *t, uint32_t rank, int64_t time);
/* Find the causes of all waits, which are known: their roots. ENOMEM in silence. */
xy_status_t timeline_find_causes(timeline_t *t);

/* Fill profile->insight, when calls and waits are known. ENOMEM in silence. */
xy_status_t timeline_find_insight(timeline_t *t);

#endif
