/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who talks to whom: messages counted while a job runs, for `--monitor`.
 *
 * Each rank counts what it sends, in tables that only its worker touches: one record per peer and
 * communicator, so that memory grows with the pairs that talk, not with the square of the ranks.
 * MPI_Pcontrol(level) ends a phase; phases, slices of time and reorderings have their own records.
 *
 * Messages inside collectives are those of the algorithm really used: buffers are copied straight
 * from member to member, so a broadcast is one message from the root to each, an alltoall one from
 * each to each; a large reduction sends each part (the members of one core) its slice from every
 * member, and the part's first member sends the result.
 */
#ifndef XY_MPI_MONITOR_H
#define XY_MPI_MONITOR_H

#include "mpi/coll.h"
#include "mpi/rank.h"
#include "place/place.h"

/* Begin to count for all ranks of the job; before it runs. `seconds` above 0: time is cut into
 * slices of that length. */
xy_status_t mpi_monitor_start(mpi_job_t *job, double seconds);
/* Begin to count for one rank, if it does not; by its worker, or while it waits for the caller. */
xy_status_t mpi_monitor_begin(mpi_rank_t *rank);
/* Write what was counted to the directory `path`, see xy_traffic_write. All ranks have ended. */
xy_status_t mpi_monitor_write(const mpi_job_t *job, const char *path);
void mpi_monitor_stop(mpi_job_t *job);
/* Bytes of memory that all counters take. No rank runs. */
size_t mpi_monitor_bytes(const mpi_job_t *job);
/* Append what a rank sent since the last time, as xy_matrix_entry_t of `from` to index[world rank]
 * where that is not negative. By its worker, or while it waits for the caller. Silent ENOMEM. */
xy_status_t mpi_monitor_take(mpi_rank_t *rank, uint32_t from, const int *index, xy_vec_t *entries);

/* Slow halves of the hooks below. */
void mpi_monitor_add(mpi_rank_t *self, int to, uint32_t context, uint64_t bytes, bool collective);
void mpi_monitor_add_collective(const coll_part_t *part, const coll_slot_t *slot);

/* A message of `bytes` from `self` to world rank `to`: one branch when nobody counts. */
static inline void mpi_monitor_message(mpi_rank_t *self, int to, uint32_t context, uint64_t bytes)
{
    if (__builtin_expect(self->monitor != NULL, 0))
        mpi_monitor_add(self, to, context, bytes, false);
}

/* A collective whose members of `part` have all arrived. */
static inline void mpi_monitor_collective(const coll_part_t *part, const coll_slot_t *slot)
{
    if (__builtin_expect(atomic_load_explicit(&mpi_job->is_monitored, memory_order_relaxed), 0))
        mpi_monitor_add_collective(part, slot);
}

/* MPI_Pcontrol: what follows is another phase. */
void mpi_monitor_phase(mpi_rank_t *self);

#endif
