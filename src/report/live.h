/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The activity of the ranks of a running job: a snapshot. mpiexec makes one when `xylem top` asks.
 *
 *   xy_live_t *before, *now;
 *   xy_live_parse(first, &before);                (text that mpiexec has sent, half a second ago)
 *   xy_live_parse(second, &now);
 *   xy_live_settle(now);                          (who waits for whom)
 *   xy_live_rates(now, before);
 *   xy_live_text(now, &(xy_live_style_t){.width = 100, .rows = 40}, stdout);
 *
 * Each process describes its own ranks; the texts of several are one after the other.
 */
#ifndef XY_REPORT_LIVE_H
#define XY_REPORT_LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/base.h"

typedef enum {
    XY_LIVE_START,   /* before MPI_Init */
    XY_LIVE_COMPUTE, /* in its own code */
    XY_LIVE_CALL,    /* in an MPI call, and does something */
    XY_LIVE_WAIT,    /* in an MPI call, and waits */
    XY_LIVE_END,     /* after MPI_Finalize */
    XY_LIVE_STATES
} xy_live_state_t;

extern const char *const xy_live_state_names[XY_LIVE_STATES];

enum { XY_LIVE_NOBODY = -1, XY_LIVE_ANYBODY = -2, XY_LIVE_PARTNERS = 4 };
enum { XY_LIVE_RANKS_MAX = 1 << 24 };

typedef struct {
    int32_t rank;
    uint32_t process;
    xy_live_state_t state;
    uint64_t ns;                     /* in this state, or in this call */
    bool is_least;                   /* at least so long: it began before anyone looked */
    uint64_t calls, messages, bytes; /* since someone looks; messages and bytes: sent */
    const char *call;                /* "MPI_Recv", or "" */
    const char *comm;                /* its communicator, or "" */
    const char *place;               /* of the call, or of the last one: "at ring.c:25", or "" */
    /* Whom it waits for: the first ones, and how many. ANYBODY: any one of several. */
    int32_t partner[XY_LIVE_PARTNERS];
    uint32_t partners;
    bool is_collective; /* it waits in one: number `number` of the communicator with `context` */
    uint32_t context;
    uint64_t number;
    /* Filled in by xy_live_settle and xy_live_rates: */
    int32_t root;                              /* whom it waits for in the end, or NOBODY */
    uint32_t waiters;                          /* how many wait for it in the end */
    double call_rate, message_rate, byte_rate; /* per second; below 0: not known */
} xy_live_rank_t;

/* How many collectives a rank has called on a communicator, where some rank is in one. */
typedef struct {
    uint32_t context;
    int32_t rank;
    uint64_t number;
} xy_live_calls_t;

typedef struct {
    uint32_t number;
    const char *host;
    uint64_t time; /* of its snapshot, by its clock; 0: it has not answered */
} xy_live_process_t;

typedef struct {
    const char *program;
    long pid;
    uint32_t size;      /* ranks of the job */
    xy_vec_t ranks;     /* of xy_live_rank_t, by rank */
    xy_vec_t calls;     /* of xy_live_calls_t; after reading by context, then number */
    xy_vec_t processes; /* of xy_live_process_t */
    xy_arena_t *arena;  /* of the strings */
} xy_live_t;

/* An empty one. On success the caller owns *live_p. */
xy_status_t xy_live_create(xy_live_t **live_p);
void xy_live_destroy(xy_live_t *live); /* NULL is fine */

/* The text of a snapshot: what is about the whole job, and what a process says about its ranks.
 * Write errors stay in the FILE. */
void xy_live_write_job(const xy_live_t *live, FILE *file);
void xy_live_write(xy_live_t *live, FILE *file);
/* EPARSE, with the line: no snapshot. `text` is changed. */
xy_status_t xy_live_parse(char *text, xy_live_t **live_p);

/* Find the partners of waiting ranks: those of collectives, the roots, the waiters. */
void xy_live_settle(xy_live_t *live);
/* Rates since the snapshot `before` of the same job. */
void xy_live_rates(xy_live_t *live, const xy_live_t *before);

typedef enum { XY_LIVE_BY_TIME, XY_LIVE_BY_RANK, XY_LIVE_BY_BYTES, XY_LIVE_ORDERS } xy_live_order_t;

typedef struct {
    int width;        /* columns; 0: as many as it takes */
    int rows;         /* lines in all; 0: as many as it takes */
    int first;        /* rows that are left out at the top */
    bool is_unfolded; /* a row for each rank */
    bool is_coloured; /* by escape sequences */
    xy_live_order_t order;
} xy_live_style_t;

/* A table: ranks that do the same share a row. Returns how many rows there are in all. */
xy_status_t xy_live_text(const xy_live_t *live, const xy_live_style_t *style, FILE *file,
                         int *rows_p);
void xy_live_json(const xy_live_t *live, FILE *file);

#endif
