/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entering and leaving an MPI call. The functions around this are generated (bindings/functions.def
 * says which call is entered how):
 *
 *   int PMPI_Barrier(MPI_Comm comm)
 *   {
 *       mpi_rank_t *self = mpi_enter("MPI_Barrier", __builtin_return_address(0));
 *       int error = impl_barrier(self, comm, NULL, false);
 *
 *       return mpi_leave(self, error);
 *   }
 */
#ifndef XY_MPI_RUNTIME_CALL_H
#define XY_MPI_RUNTIME_CALL_H

#include "mpi.h"
#include "mpi/runtime/rank.h"

/* One job has one report of a mistake: the first that finds something continues, and ends the job;
 * the others wait for that. */
void mpi_report_claim(void) __attribute__((cold));

/* MPI is not usable here (before MPI_Init, after MPI_Finalize, on a thread that may not call it):
 * say so and end the job. */
void mpi_enter_refused(const char *name, const void *site) __attribute__((noreturn, cold));
/* The same as the functions below, where the caller is no rank: a thread of one, which enters the
 * call if it may (thread.h). */
mpi_rank_t *mpi_enter_thread(const char *name, const void *site) __attribute__((cold));
mpi_rank_t *mpi_enter_any_thread(const char *name, const void *site) __attribute__((cold));
mpi_rank_t *mpi_enter_query_thread(const char *name, const void *site) __attribute__((cold));

/* "MPI_Start of ", in front of the name of a call that made a persistent request, where the place
 * is that of its start; "" in front of others. */
const char *mpi_call_start_of(const char *name);

/* The calling rank, with the call noted. */
static inline mpi_rank_t *mpi_enter(const char *name, const void *site)
{
    mpi_rank_t *self = mpi_self;

    if (__builtin_expect(self == NULL || self->phase != XMPI_RANK_RUNNING, 0))
        return mpi_enter_thread(name, site);
    mpi_call_begin(self, name, site);
    return self;
}

/* The same for a call that asks for something and does not communicate: the program's operations
 * may make it. */
static inline mpi_rank_t *mpi_enter_query(const char *name, const void *site)
{
    mpi_rank_t *self = mpi_self;

    if (__builtin_expect(self == NULL || self->phase != XMPI_RANK_RUNNING, 0))
        return mpi_enter_query_thread(name, site);
    mpi_call_begin(self, name, site);
    return self;
}

static inline int mpi_leave(mpi_rank_t *self, int error)
{
    mpi_call_end(self);
    return error;
}

/* A call that is allowed at any time. NULL in a program without a launcher before MPI_Init, and on
 * threads that may not call MPI. */
static inline mpi_rank_t *mpi_enter_any(const char *name, const void *site)
{
    mpi_rank_t *self = mpi_self;

    if (self == NULL)
        return mpi_enter_any_thread(name, site);
    mpi_call_begin(self, name, site);
    return self;
}

static inline int mpi_leave_any(mpi_rank_t *self, int error)
{
    if (self)
        mpi_call_end(self);
    return error;
}

/* A call that touches nothing but the memory of the calling rank (datatypes, operations). It never
 * parks, so it is not tracked; it is noted because an error names it. Functions that MPI calls, as
 * the program's operations, make such calls: the call around them is noted again after it. The gate
 * is closed around it all the same: a helper reads and writes the note, for messages of its own. */
typedef struct {
    const char *name;
    const void *caller;
} mpi_noted_t;

/* Enter a call that needs no communicator; returns the call that it interrupts, for
 * mpi_leave_local(). */
static inline mpi_noted_t mpi_enter_local(const char *name, const void *site)
{
    mpi_rank_t *self = mpi_self;
    mpi_noted_t outer = {NULL, NULL};

    if (self == NULL) {
        mpi_enter_any_thread(name, site);
        return outer;
    }
    mpi_go_inside(self);
    outer = (mpi_noted_t){self->call.name, self->call.caller};
    self->call.name = name;
    self->call.caller = site;
    return outer;
}

static inline int mpi_leave_local(mpi_noted_t outer, int error)
{
    mpi_rank_t *self = mpi_self;

    if (self) {
        self->call.name = outer.name;
        self->call.caller = outer.caller;
        mpi_go_outside(self);
    }
    return error;
}

#endif
