/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sends of one rank in a collective, by the algorithms that Open MPI and MPICH document: taken
 * from the builders of src/coll, once for each collective, number of ranks and rank.
 *
 * Nothing of MPI here: it is tested without one.
 */
#ifndef XY_TOOLS_MONITOR_SCHEDULE_H
#define XY_TOOLS_MONITOR_SCHEDULE_H

#include "coll/coll.h"

typedef struct {
    int to, messages;
    uint64_t blocks; /* in all of them: what the collective counts, a vector or the block of a rank
                        or of a pair */
} monitor_send_t;

typedef struct monitor_schedule monitor_schedule_t;
struct monitor_schedule {
    monitor_schedule_t *next;
    xy_collective_t collective;
    int size, rank;
    int count;
    monitor_send_t sends[];
};

/* The sends of `rank` of `size` when rank 0 is the root; with another root all ranks count from
 * that one. GATHERV, SCATTERV, ALLGATHERV, ALLTOALLV, ALLTOALLW and REDUCE_SCATTER: with blocks
 * that are all alike. NULL: memory ran out (reported). It stays. Any thread. */
const monitor_schedule_t *monitor_schedule(xy_collective_t collective, int size, int rank);

#endif
