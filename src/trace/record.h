/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recording. Names are registered once and become small numbers; events then go into a buffer of
 * the row, which its only user fills without locks and which is appended to the file when it is
 * full, about once a second, and at the end.
 *
 *   xy_trace_t *trace;
 *   xy_trace_row_t *row;                                  (one per worker; NULL: not recording)
 *   st = xy_trace_create("run.xyt", &(xy_trace_options_t){.title = "heat 4096"}, &trace);
 *   st = xy_trace_row_create(trace, "core 0", "node 0", &row);
 *   uint32_t compute = xy_trace_kind(trace, "compute", XY_TRACE_COMPUTE, 0);
 *   uint32_t dgemm = xy_trace_label(trace, "dgemm");
 *
 *   xy_trace_enter(row, compute, rank, dgemm);
 *   ...
 *   xy_trace_leave(row);
 *   st = xy_trace_close(trace);
 *
 * Off is a NULL row: every call below is then one predictable branch. On, an event takes some 30
 * ns (bench/trace_event.c prints it), two thirds of it for reading the clock.
 *
 * The file is written in place, not beside: it is complete up to the last flush, even if the
 * program crashes. Each chunk has a length and a checksum, so that a reader finds all complete
 * ones.
 *
 * Clocks: by default the processor's time stamp counter, read by xy_trace_clock(). A simulator
 * records with XY_TRACE_VIRTUAL and gives its own times, in nanoseconds, to the *_at calls. A
 * caller that has read a clock itself does the same with XY_TRACE_GIVEN: the trace is then one of
 * real time.
 */
#ifndef XY_TRACE_RECORD_H
#define XY_TRACE_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/base.h"

typedef struct xy_trace xy_trace_t;
typedef struct xy_trace_row xy_trace_row_t;

typedef enum { XY_TRACE_REAL, XY_TRACE_VIRTUAL, XY_TRACE_GIVEN } xy_trace_clock_t;

/* The role of a kind of state in the summary: only computing can hide communication, and waiting
 * and idling are to be avoided. */
typedef enum {
    XY_TRACE_OTHER,
    XY_TRACE_COMPUTE,
    XY_TRACE_PROGRESS, /* moving data */
    XY_TRACE_WAIT,     /* busy waiting, blocked in a call */
    XY_TRACE_IDLE,     /* nothing to do; time outside of any state counts as idle too */
    XY_TRACE_ROLES
} xy_trace_role_t;

typedef struct {
    const char *title;      /* NULL: none */
    xy_trace_clock_t clock; /* XY_TRACE_REAL unless said otherwise */
    size_t buffer;          /* bytes per row, 4 KiB to 1 MiB; 0: 64 KiB */
} xy_trace_options_t;

enum { XY_TRACE_NO_ID = -1, XY_TRACE_NO_LABEL = 0 };

/* The counter of a row for the time, in seconds, that other programs had its core while a rank
 * computed there: a value at the end of such a state. */
#define XY_TRACE_STOLEN "stolen"
/* The counter of a row that is recorded for a rank: the core of the machine that the rank is on. */
#define XY_TRACE_CORE "core"

/* A message from rank to rank. Of one that is received, `bytes` and `label` are not looked at. */
typedef struct {
    uint64_t key, bytes;
    uint32_t label, rank, peer; /* rank: whose half it is */
} xy_trace_message_t;

/* The part of one member in a collective. */
typedef struct xy_trace_collective {
    uint32_t rank;
    uint32_t collective;      /* a number of those who record: xy_collective_t */
    uint32_t context, first;  /* of the communicator, and the rank of its member 0: both name it */
    uint32_t members, member; /* how many it has, and which of them this rank is */
    uint32_t root;
    uint64_t count, element; /* elements that it gives or gets (of all blocks, where they differ),
                                and their bytes */
} xy_trace_collective_t;

/* Start a trace in the file `path`, which is replaced when the trace ends; until then it is written
 * as `path`.part. `options` may be NULL. On success the caller owns *trace_p. Any thread. */
xy_status_t xy_trace_create(const char *path, const xy_trace_options_t *options,
                            xy_trace_t **trace_p);

/* Flush every row and close the file; reports the first write error of the whole recording (a full
 * disk). The trace and its rows are gone in all cases; no thread may be recording. NULL is fine. */
xy_status_t xy_trace_close(xy_trace_t *trace);

/* Flush every row, say that the trace ends here, give the file its name, and nothing else: for a
 * process that ends at once, from a signal handler even. Other threads may still be recording; of
 * the rows they use at this very moment the last flush may be lost. */
void xy_trace_end(xy_trace_t *trace);

/* A new row, shown in the order of creation. `group` (a node, a rank's host) gathers rows; NULL:
 * none. The trace owns the row. Any thread; the row is used by one thread at a time. */
xy_status_t xy_trace_row_create(xy_trace_t *trace, const char *name, const char *group,
                                xy_trace_row_t **row_p);
uint32_t xy_trace_row_number(const xy_trace_row_t *row); /* for xy_trace_link; 0 for NULL */

/* Register a name, or find it again. They return 0, "no name", when `trace` is NULL or memory ran
 * out: recording continues without. `colour` is 0xRRGGBB, 0: chosen by the role. Any thread. */
uint32_t xy_trace_kind(xy_trace_t *trace, const char *name, xy_trace_role_t role, uint32_t colour);
uint32_t xy_trace_label(xy_trace_t *trace, const char *name);
uint32_t xy_trace_counter_name(xy_trace_t *trace, const char *name, const char *unit);
/* A place in a program that calls are made from: "PROGRAM+0xOFFSET". */
uint32_t xy_trace_site(xy_trace_t *trace, const char *name);

/* Append what `row` holds to the file now: before a risky step, or when a row falls asleep. */
void xy_trace_flush(xy_trace_row_t *row);

/* The out-of-line halves of the calls below; `row` is not NULL. */
void xy_trace_put_enter(xy_trace_row_t *row, uint64_t time, uint32_t kind, int64_t id,
                        uint32_t label);
void xy_trace_put_leave(xy_trace_row_t *row, uint64_t time);
void xy_trace_put_state(xy_trace_row_t *row, uint64_t start, uint64_t end, uint32_t kind,
                        int64_t id, uint32_t label);
void xy_trace_put_link(xy_trace_row_t *row, uint32_t from, uint64_t start, uint32_t to,
                       uint64_t end, uint64_t bytes, uint32_t label);
void xy_trace_put_sent(xy_trace_row_t *row, uint64_t time, const xy_trace_message_t *message);
void xy_trace_put_received(xy_trace_row_t *row, uint64_t time, const xy_trace_message_t *message);
void xy_trace_put_call(xy_trace_row_t *row, uint64_t time, uint32_t rank, uint32_t label,
                       uint32_t site);
void xy_trace_put_collective(xy_trace_row_t *row, uint64_t time, const xy_trace_collective_t *c);
void xy_trace_put_counter(xy_trace_row_t *row, uint64_t time, uint32_t counter, double value);
void xy_trace_put_mark(xy_trace_row_t *row, uint64_t time, int64_t id, uint32_t label);
/* Ticks of the real clock. The first says which counter that is, before any thread reads it;
 * xy_trace_create does the same. */
void xy_trace_clock_begin(void);
#if defined(__x86_64__)
extern bool xy_trace_has_counter; /* that neither stops nor changes its pace */
uint64_t xy_trace_clock_kernel(void);
static inline uint64_t xy_trace_clock(void)
{
    return __builtin_expect(xy_trace_has_counter, 1) ? __builtin_ia32_rdtsc()
                                                     : xy_trace_clock_kernel();
}
#elif defined(__aarch64__)
static inline uint64_t xy_trace_clock(void)
{
    uint64_t t;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
}
#else
uint64_t xy_trace_clock_kernel(void);
static inline uint64_t xy_trace_clock(void)
{
    return xy_trace_clock_kernel();
}
#endif
/* Ticks of a second, about. */
uint64_t xy_trace_clock_rate(void);

/* The next state of the row begins now, inside the current one if there is one. `id` is a rank or
 * a task, or XY_TRACE_NO_ID. */
static inline void xy_trace_enter(xy_trace_row_t *row, uint32_t kind, int64_t id, uint32_t label)
{
    if (__builtin_expect(row != NULL, 0))
        xy_trace_put_enter(row, xy_trace_clock(), kind, id, label);
}

static inline void xy_trace_enter_at(xy_trace_row_t *row, uint64_t time, uint32_t kind, int64_t id,
                                     uint32_t label)
{
    if (__builtin_expect(row != NULL, 0))
        xy_trace_put_enter(row, time, kind, id, label);
}

/* The innermost state ends. */
static inline void xy_trace_leave(xy_trace_row_t *row)
{
    if (__builtin_expect(row != NULL, 0))
        xy_trace_put_leave(row, xy_trace_clock());
}

static inline void xy_trace_leave_at(xy_trace_row_t *row, uint64_t time)
{
    if (__builtin_expect(row != NULL, 0))
        xy_trace_put_leave(row, time);
}

/* A whole state, known afterwards. States of a row nest or are disjoint, in any order. */
static inline void xy_trace_state_at(xy_trace_row_t *row, uint64_t start, uint64_t end,
                                     uint32_t kind, int64_t id, uint32_t label)
{
    if (__builtin_expect(row != NULL, 0))
        xy_trace_put_state(row, start, end, kind, id, label);
}

/* A whole message, known afterwards, put into the buffer of any row. */
static inline void xy_trace_link_at(xy_trace_row_t *row, uint32_t from, uint64_t start, uint32_t to,
                                    uint64_t end, uint64_t bytes, uint32_t label)
{
    if (__builtin_expect(row != NULL, 0))
        xy_trace_put_link(row, from, start, to, end, bytes, label);
}

/* Or its two halves, each on its own row, joined by the reader: the n-th that was sent of a key
 * with the n-th that was received of it, in time. */
static inline void xy_trace_sent(xy_trace_row_t *row, const xy_trace_message_t *message)
{
    if (__builtin_expect(row != NULL, 0))
        xy_trace_put_sent(row, xy_trace_clock(), message);
}

static inline void xy_trace_received(xy_trace_row_t *row, const xy_trace_message_t *message)
{
    if (__builtin_expect(row != NULL, 0))
        xy_trace_put_received(row, xy_trace_clock(), message);
}

/* Steps of a rank besides sending and receiving, in order: it makes a call, and takes part in a
 * collective. */
static inline void xy_trace_call_at(xy_trace_row_t *row, uint64_t time, uint32_t rank,
                                    uint32_t label, uint32_t site)
{
    if (__builtin_expect(row != NULL, 0))
        xy_trace_put_call(row, time, rank, label, site);
}

static inline void xy_trace_collective(xy_trace_row_t *row, const xy_trace_collective_t *c)
{
    if (__builtin_expect(row != NULL, 0))
        xy_trace_put_collective(row, xy_trace_clock(), c);
}

/* The counter has this value from now on. */
static inline void xy_trace_counter(xy_trace_row_t *row, uint32_t counter, double value)
{
    if (__builtin_expect(row != NULL, 0))
        xy_trace_put_counter(row, xy_trace_clock(), counter, value);
}

static inline void xy_trace_counter_at(xy_trace_row_t *row, uint64_t time, uint32_t counter,
                                       double value)
{
    if (__builtin_expect(row != NULL, 0))
        xy_trace_put_counter(row, time, counter, value);
}

/* Something happened at one moment. */
static inline void xy_trace_mark(xy_trace_row_t *row, int64_t id, uint32_t label)
{
    if (__builtin_expect(row != NULL, 0))
        xy_trace_put_mark(row, xy_trace_clock(), id, label);
}

static inline void xy_trace_mark_at(xy_trace_row_t *row, uint64_t time, int64_t id, uint32_t label)
{
    if (__builtin_expect(row != NULL, 0))
        xy_trace_put_mark(row, time, id, label);
}

#endif
