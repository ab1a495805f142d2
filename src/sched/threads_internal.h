/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the placements (private to the component). */
#ifndef XY_SCHED_THREADS_INTERNAL_H
#define XY_SCHED_THREADS_INTERNAL_H

#include "sched/threads.h"

extern const xy_threads_t sched_threads_bind;
extern const xy_threads_t sched_threads_numa;
extern const xy_threads_t sched_threads_odd_even;
extern const xy_threads_t sched_threads_dedicated;
extern const xy_threads_t sched_threads_smt;

/* Is `core` kept for communication? */
bool sched_is_comm(const xy_threads_query_t *query, int core);

/* The communication core of the same NUMA node that is nearest to `core`, the lower of two; -1:
 * the node has none. */
int sched_nearest_comm(const xy_threads_query_t *query, int core);

#endif
