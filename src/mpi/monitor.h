/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who talks to whom: messages counted while a job runs, for `--monitor`.
 *
 * Each rank counts what it sends, in tables that only its worker touches: one record per peer and
 * communicator, so that memory grows with the pairs that talk, not with the square of the ranks.
 * MPI_Pcontrol(level) ends a phase; each phase has its own tables.
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

/* Begin to count for all ranks of the job; before it runs. */
xy_status_t mpi_monitor_start(mpi_job_t *job);
/* Write what was counted to the directory `path`: all.csv, program.csv (without what is inside
 * collectives), collectives.csv, and a file for each phase and each communicator when there are
 * several; each line is source, target, bytes, messages. All ranks have ended. */
xy_status_t mpi_monitor_write(const mpi_job_t *job, const char *path);
void mpi_monitor_stop(mpi_job_t *job);

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
    if (__builtin_expect(mpi_job->is_monitored, 0))
        mpi_monitor_add_collective(part, slot);
}

/* MPI_Pcontrol: what follows is another phase. */
void mpi_monitor_phase(mpi_rank_t *self);

#endif
