/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the time of each rank goes, counted while a job runs, for `--report`.
 *
 * Each rank has an account: a table with a record for each call site, size of communicator and
 * class of message sizes. Entering a call ends a stretch of computation, leaving it ends the call;
 * while the rank is parked in between, each event of its wait attributes the time since the
 * previous one:
 *
 *   enter ... park        message met         complete            resume ... leave
 *   | library |   late sender   |    transfer    |  core in use   | library |
 *
 * A message meets its receive on the receiver's worker, so an account is touched by the worker of
 * its rank only. Others read two words of it: when, and where, the rank entered its last call. For
 * ranks of other processes these come with their messages; clocks of other hosts are not compared,
 * so that a wait for a rank there ends when its message comes.
 *
 * Memory grows with the call sites and not with the length of the run. Off, the hooks are the
 * branch that traces have anyway (mpi_rank_t.observed), and one more before a rank parks.
 *
 * Calls of further threads of a rank are not counted, nor are ranks that are spawned.
 */
#ifndef XY_MPI_RUNTIME_ACCOUNT_H
#define XY_MPI_RUNTIME_ACCOUNT_H

#include "mpi/runtime/rank.h"
#include "report/report.h"

typedef struct mpi_account mpi_account_t;

/* The last rank so far to enter a collective. The members of a communicator share a few of these,
 * one for each collective that may be open; times only grow, so that none is ever cleared. */
typedef struct mpi_meeting {
    _Atomic uint64_t time;
    _Atomic(const void *) site;
    _Atomic int rank;
    _Atomic bool is_far; /* members of other hosts take part */
} mpi_meeting_t;

/* The part of a message to another process that says when, and where, a rank has entered its last
 * call: the sender, or the last one to enter a collective as far as the sender knows. So waits for
 * ranks of other processes are known as those for ranks of this one. */
typedef struct {
    uint64_t time, site;
    int32_t rank;
    uint32_t unused;
} mpi_stamp_t;

/* Count for all ranks of this process; before they run. */
xy_status_t mpi_account_start(mpi_job_t *job);
/* The counts; all ranks have ended. `core_of`: the core of each rank, on a simulated machine; NULL:
 * its worker. On success the caller owns *profile_p. */
xy_status_t mpi_account_collect(mpi_job_t *job, const char *program, const int32_t *core_of,
                                xy_profile_t **profile_p);
/* MPI_Pcontrol: stop counting, or continue. */
void mpi_account_control(mpi_rank_t *self, bool is_on);

/* ---- Hooks; `self` is observed ---- */

/* A call of the program begins or ends. */
void mpi_account_enter(mpi_rank_t *self);
void mpi_account_leave(mpi_rank_t *self);
/* The call that the rank is in has sent or received so much. */
void mpi_account_bytes(mpi_rank_t *self, uint64_t bytes);
/* The rank takes part in a collective that others wait for in `meeting`. */
void mpi_account_meet(mpi_rank_t *self, mpi_meeting_t *meeting, bool is_far);

/* `owner`, if it is parked, has waited for rank `who` until then: as `part`. With
 * XMPI_ACCOUNT_ENTERED: until `who` entered its last call, or until now where that is not known. */
#define XMPI_ACCOUNT_ENTERED UINT64_MAX
void mpi_account_waited(mpi_rank_t *owner, xy_part_t part, int who, const void *site,
                        uint64_t time);
/* The event that it is parked for has come: from now on it waits for its core. */
void mpi_account_ready(mpi_rank_t *owner);
/* The same for a collective. */
void mpi_account_met(mpi_rank_t *owner, const mpi_meeting_t *meeting);
/* The next wait is for a lock. */
void mpi_account_lock(mpi_rank_t *self, bool is_lock);

/* The stamp of a message of `self`, which is counted; `meeting`: of a collective, or NULL. And such
 * a message has come, for a collective with that meeting, or NULL. */
void mpi_account_stamp(mpi_rank_t *self, const mpi_meeting_t *meeting, mpi_stamp_t *stamp);
void mpi_account_stamped(mpi_meeting_t *meeting, const mpi_stamp_t *stamp);

void mpi_account_put_park(mpi_rank_t *self);
void mpi_account_put_resume(mpi_rank_t *self);

/* Around what lets other ranks run until something has happened. */
static inline void mpi_account_park(mpi_rank_t *self)
{
    if (__builtin_expect(mpi_is_observed(self), 0))
        mpi_account_put_park(self);
}

static inline void mpi_account_resume(mpi_rank_t *self)
{
    if (__builtin_expect(mpi_is_observed(self), 0))
        mpi_account_put_resume(self);
}

#endif
