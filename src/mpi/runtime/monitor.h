/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between ranks, counted while a job runs, for `--monitor`.
 *
 * Each rank counts what it sends, in tables that only its worker touches: one record per peer and
 * communicator, so that memory grows with the communicating pairs, not with the square of the
 * ranks. MPI_Pcontrol(level) ends a phase; phases, slices of time and reorderings have their own
 * records.
 *
 * Messages inside collectives are those of the algorithm really used: buffers are copied straight
 * from member to member, so a broadcast is one message from the root to each, an alltoall one from
 * each to each; a large reduction sends each part (the members of one core) its slice from every
 * member, and the part's first member sends the result.
 */
#ifndef XY_MPI_RUNTIME_MONITOR_H
#define XY_MPI_RUNTIME_MONITOR_H

#include "mpi/runtime/rank.h"
#include "place/place.h"

/* Sent messages: [0] by the program, [1] inside collectives. */
typedef struct {
    uint64_t bytes[2], messages[2];
} mpi_sent_t;

/* A part of the run: a phase, cut by slices of time and by reorderings. */
typedef struct {
    uint32_t phase, slice, round;
} mpi_span_t;

/* The counters of a rank: an open hash table, at most 7/8 full. Only the rank's worker touches it
 * while the rank runs. The first two fields are what a message costs when it goes where the one
 * before went. */
struct mpi_monitor {
    uint64_t pair; /* mpi_monitor_pair of `sent`; XMPI_MONITOR_NONE: none, or time is cut */
    mpi_sent_t *sent;
    struct mpi_monitor_record *records;
    uint32_t capacity, count;
    mpi_span_t now;
    uint32_t span;  /* number of `now` */
    bool is_lossy;  /* memory ran out: some were not counted */
    xy_vec_t spans; /* of mpi_span_t */
};

#define XMPI_MONITOR_NONE UINT64_MAX

static inline uint64_t mpi_monitor_pair(int to, uint32_t context)
{
    return (uint64_t)(uint32_t)to << 32 | context;
}

/* Begin to count for all ranks of the job; before it runs. `seconds` above 0: time is cut into
 * slices of that length. */
xy_status_t mpi_monitor_start(mpi_job_t *job, double seconds);
/* Begin to count for one rank, if it does not; by its worker, or while it waits for the caller. */
xy_status_t mpi_monitor_begin(mpi_rank_t *rank);
/* The counts of the ranks of this process. All have ended. On success the caller cleans up.
 */
xy_status_t mpi_monitor_collect(const mpi_job_t *job, xy_traffic_t *t);
/* Write what was counted to the directory `path`, see xy_traffic_write. All ranks have ended. */
xy_status_t mpi_monitor_write(const mpi_job_t *job, const char *path);
void mpi_monitor_stop(mpi_job_t *job);
/* Bytes of memory that all counters take, when no rank runs; and those of one, by its worker. */
size_t mpi_monitor_bytes(const mpi_job_t *job);
size_t mpi_monitor_rank_bytes(const mpi_rank_t *rank);
/* Append what a rank sent since the last time, as xy_matrix_entry_t of `from` to index[world rank]
 * where that is not negative. By its worker, or while it waits for the caller. Silent ENOMEM. */
xy_status_t mpi_monitor_take(mpi_rank_t *rank, uint32_t from, const int *index, xy_vec_t *entries);

/* The total of a rank since it counts. By its worker. */
void mpi_monitor_total(const mpi_rank_t *rank, mpi_sent_t *total);
/* The same on one communicator. */
void mpi_monitor_total_on(const mpi_rank_t *rank, uint32_t context, mpi_sent_t *total);
/* ... and to one rank of the world. */
void mpi_monitor_total_to(const mpi_rank_t *rank, uint32_t context, int to, mpi_sent_t *total);

/* The slow half of the hook below, and what collectives count (coll/count_messages.c). */
void mpi_monitor_add(mpi_rank_t *self, int to, uint32_t context, uint64_t bytes, bool collective);

/* So many messages inside collectives at once. */
void mpi_monitor_add_many(mpi_rank_t *self, int to, uint32_t context, uint64_t messages,
                          uint64_t bytes);

/* A message of `bytes` from `self` to world rank `to`: one branch without monitoring, a dozen
 * instructions when it goes where the one before went. */
static inline void mpi_monitor_message(mpi_rank_t *self, int to, uint32_t context, uint64_t bytes)
{
    const struct mpi_monitor *m = self->monitor;

    if (__builtin_expect(m == NULL, 1))
        return;
    if (__builtin_expect(m->pair == mpi_monitor_pair(to, context), 1)) {
        m->sent->bytes[0] += bytes;
        m->sent->messages[0]++;
    } else {
        mpi_monitor_add(self, to, context, bytes, false);
    }
}

/* MPI_Pcontrol: what follows is another phase. */
void mpi_monitor_phase(mpi_rank_t *self);

#endif
