/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entering and leaving an MPI call.
 *
 *   int PMPI_Barrier(MPI_Comm comm)
 *   {
 *       mpi_rank_t *self = mpi_enter("MPI_Barrier", __builtin_return_address(0));
 *       ...
 *       return mpi_leave(self, MPI_SUCCESS);
 *   }
 */
#ifndef XY_MPI_RUNTIME_CALL_H
#define XY_MPI_RUNTIME_CALL_H

#include "mpi.h"
#include "mpi/runtime/rank.h"

/* MPI is not usable here (before MPI_Init, after MPI_Finalize, on a thread that is no rank): say so
 * and end the job. */
void mpi_enter_refused(const char *name, const void *site) __attribute__((noreturn, cold));

/* The calling rank, with the call noted. */
static inline mpi_rank_t *mpi_enter(const char *name, const void *site)
{
    mpi_rank_t *self = mpi_self;

    if (__builtin_expect(self == NULL || self->phase != XMPI_RANK_RUNNING, 0))
        mpi_enter_refused(name, site);
    mpi_call_begin(self, name, site);
    return self;
}

static inline int mpi_leave(mpi_rank_t *self, int error)
{
    mpi_call_end(self);
    return error;
}

#endif
