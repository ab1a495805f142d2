/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cores of progress threads. Every rank has one thread; it executes the rank's part of a
 * nonblocking collective while the rank computes.
 *
 *   const xy_threads_t *numa;
 *   st = xy_threads_find("numa", &numa);
 *   st = xy_threads_place(numa, &(xy_threads_query_t){.cores = &cores, .ranks = 62,
 *                         .core_of = core_of, .comm = comm, .comm_count = 2, .pus = 1}, thread_of);
 *
 * Cores are numbered as in xy_cores_t. The communication cores are those that no rank computes on
 * and that the job keeps for progress; with ranks placed by `scatter` they are the gaps it leaves.
 */
#ifndef XY_SCHED_THREADS_H
#define XY_SCHED_THREADS_H

#include <stdbool.h>

#include "base/base.h"
#include "place/place.h"

typedef struct {
    const xy_cores_t *cores;
    int ranks;
    const int *core_of; /* [ranks] */
    const int *comm;    /* [comm_count] growing; none of them in core_of */
    int comm_count;
    int pus; /* hardware threads of each core */
} xy_threads_query_t;

typedef struct {
    const char *name;
    const char *describe; /* half a line */
    bool on_sibling;      /* on the second hardware thread of the core */
    bool is_usual;        /* every machine has what it needs: a model may choose it */
    /* Write thread_of[0 .. ranks). Says what the machine lacks (XY_EUNSUPPORTED). */
    xy_status_t (*place)(const xy_threads_query_t *query, int *thread_of);
} xy_threads_t;

/* All of them, NULL-terminated. */
extern const xy_threads_t *const xy_threads_all[];

/* By name. XY_EUSAGE: there is none (said, with the nearest). Any thread. */
xy_status_t xy_threads_find(const char *name, const xy_threads_t **threads_p);

/* The cores that no rank is on, growing; at most `limit` of them, as even over the NUMA nodes as
 * they are there, the last of each node first taken away. limit < 0: all. Returns how many were
 * written to comm[cores->count]. */
int xy_threads_free_cores(const xy_cores_t *cores, int ranks, const int *core_of, int limit,
                          int *comm);

/* The core of a single thread that works for all ranks of a process, as that of its network does:
 * beside the first rank; `dedicated` is a communication core of its own, the nearest, in the same
 * NUMA node if that has one. XY_EUNSUPPORTED: the machine lacks it (reported). */
xy_status_t xy_threads_place_one(const xy_threads_t *threads, const xy_threads_query_t *query,
                                 int *core_p);

#endif
