/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of jobs that survive (p2p/survive.h): what waits for a member that has failed ends, and
 * the locks that it had are free.
 *
 * When the process of a member is dead and all its letters have been handled, questions to the
 * member are answered, and operations on it end with an error. The calls that complete operations
 * raise MPIX_ERR_PROC_FAILED: those for one target if that has failed, those for all targets if
 * something was lost.
 *
 *   rma_survive_ask(answers, target, RMA_FAR_FLUSH)      (false: there is nobody to ask)
 *   rma_survive_raise(win, target)                       (rma.h: what MPI_Win_flush returns)
 *
 * Letters of a dead member may come after the window was freed in all live ones: the object of such
 * a window is kept to the end of the job, and refuses them.
 */
#ifndef XY_MPI_RMA_RMA_SURVIVE_H
#define XY_MPI_RMA_RMA_SURVIVE_H

#include "mpi/rma/far.h"

/* One member has a lock. Under rma_shared_t.guard. */
struct rma_holder {
    rma_holder_t *next;
    int rank, target;
    int door; /* the member here that got the letter, or has the lock */
};

/* A window of this process begins; and ends: `is_whole` if no member has failed, or the job does
 * not survive. The object is freed then, or kept. */
void rma_survive_begin(mpi_win_t *win);
void rma_survive_end(mpi_win_t *win, bool is_whole);

/* One more question for `answers`; false: `target` is dead, and nothing is to be sent. */
bool rma_survive_ask(rma_answers_t *answers, int target, rma_far_kind_t kind);
/* A member in `process` has answered. */
void rma_survive_answered(rma_answers_t *answers, int process);
/* An operation has begun. */
void rma_survive_await(rma_pending_t *pending);

/* mpi_far_t.failed */
void rma_survive_look(mpi_worker_t *worker);
void rma_survive_cleanup(mpi_job_t *job);

/* Give back the locks that members that are gone have got through member `win`, and forget those
 * that wait (locks.c). */
void rma_locks_drop(mpi_win_t *win);

#endif
