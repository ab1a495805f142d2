/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of ranks that call MPI (MPI_THREAD_SERIALIZED and MPI_THREAD_MULTIPLE).
 *
 * A call of a thread acts for the rank on the rank's worker, as a visitor (fiber/fiber.h): it has
 * the worker's lock while it runs, and none while it waits. The worker's own thread has that lock
 * whenever it is not in the program's code, so the runtime needs no other: what belongs to a worker
 * is still touched by one thread at a time. The locks begin with the first MPI_Init_thread on a
 * worker that asks for threads; without it nothing is different.
 *
 * In a rank, `call`, `waiter` and `fiber` belong to the thread that is in a call. A visitor
 * exchanges them as it comes and goes, so that they are those of the rank's own fiber otherwise.
 *
 * In virtual time the clock gives each thread turns, in the program's code as well (job_clock.h).
 * It is a visitor in its turns, and no other thread of the job runs.
 *
 * A rank whose worker has other ranks (or progress threads) moves to a thread of its own: while it
 * waits for one of its threads outside of MPI, the others must run.
 */
#ifndef XY_MPI_RUNTIME_THREAD_H
#define XY_MPI_RUNTIME_THREAD_H

#include "mpi/runtime/rank.h"
#include "mpi/runtime/trace.h"

typedef struct mpi_thread {
    xy_fiber_t *fiber; /* the visitor; of a rank on a thread of its own, the rank's */
    mpi_rank_t *rank;
    int depth; /* calls that it is in */
    bool is_main;
    bool has_begun; /* is_main: on the worker, before it moved */
    bool is_used;   /* a thread has it */
    int number;     /* in reports, with turns; 0: it has none */
    mpi_waiter_t waiter;
    mpi_call_t call;         /* while it waits; what the rank's fiber does, while it is in */
    mpi_trace_state_t state; /* of the worker, before it came in */
    struct mpi_thread *next; /* of the rank */
} mpi_thread_t;

/* The calling thread; NULL: it has not called MPI, or it is a worker. */
extern _Thread_local mpi_thread_t *mpi_thread_here __attribute__((tls_model("initial-exec")));

/* The highest level of MPI_Init_thread; MPI_THREAD_MULTIPLE where there is no job yet. */
int mpi_thread_level_most(void);
/* `self`, which is in a call, may have threads that call MPI from now on; `level` is what it asked
 * for. It may continue on another thread. */
xy_status_t mpi_threads_begin(mpi_rank_t *self, int level);
/* Does a rank with threads that call MPI have the thread of the worker, so that `rank`, which is to
 * begin there, might wait for ever? And its fiber, which was made detached, begins. */
bool mpi_thread_must_carry(const mpi_rank_t *rank);
xy_status_t mpi_thread_begin_away(mpi_rank_t *rank);
/* Has the rank, which has ended, had threads in MPI that its number may stand for? */
bool mpi_thread_has_left(const mpi_rank_t *rank);
/* Continue `rank` on the calling thread until it comes home (see mpi_thread_calls_t); first,
 * moved(rank->process, low, high) is called with its stack. */
void mpi_thread_carry(mpi_rank_t *rank, xy_fiber_moved_fn moved);
/* A rank that ends is on its worker; called by the rank. Inside afterwards, if it was away. */
void mpi_thread_come_home(mpi_rank_t *rank);
/* The fiber of `self` begins: the worker leaves for the program's code. */
void mpi_thread_rank_begins(mpi_rank_t *self);

/* The rank has entered a call: other threads of it must be in none, or the job ends with a report
 * that has `cure` at its end. Inside. */
void mpi_thread_be_alone(const mpi_rank_t *rank, const char *cure);

/* A rank has made a thread (1), or one has ended (-1). Any thread. */
void mpi_thread_count(mpi_rank_t *rank, int change);
/* The calling thread ends: it calls MPI no more. */
void mpi_thread_end(void);

/* Threads with turns: a new one of the rank, with a number for reports, made by one that has its
 * turn; on the thread, wait for
 * the first turn; and give the last one back. */
mpi_thread_t *mpi_thread_make(mpi_rank_t *rank, int number);
void mpi_thread_begin_turns(mpi_thread_t *thread);
void mpi_thread_end_turns(mpi_thread_t *thread);

/* The pool's `visit`. */
void mpi_thread_visit(xy_worker_t *w, xy_fiber_t *visitor, bool enters);
/* At the end of the job. */
void mpi_threads_cleanup(mpi_rank_t *rank);

#endif
