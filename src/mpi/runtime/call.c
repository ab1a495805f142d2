/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/call.h"

#include <stdlib.h>

_Thread_local mpi_rank_t *mpi_thread_owner;
_Thread_local const char *mpi_thread_call;

static void refuse_thread(const char *name)
{
    static const char why[] = "was called from a thread that is not a rank; only the thread that "
                              "runs main may call MPI";
    const mpi_rank_t *owner = mpi_thread_owner;

    if (owner != NULL || mpi_job->size == 1)
        xy_fail(XY_EINVAL, "rank %d: %s %s", owner != NULL ? owner->world : 0, name, why);
    else
        xy_fail(XY_EINVAL, "%s %s", name, why);
}

void mpi_enter_refused(const char *name, const void *site)
{
    mpi_rank_t *self = mpi_self;

    (void)site;
    if (self == NULL && mpi_job == NULL)
        xy_fail(XY_EINVAL, "%s was called before MPI_Init; call MPI_Init first", name);
    else if (self == NULL)
        refuse_thread(name);
    else
        xy_fail(XY_EINVAL, "rank %d: %s was called %s", self->world, name,
                self->phase == XMPI_RANK_BEFORE_INIT ? "before MPI_Init; call MPI_Init first"
                                                     : "after MPI_Finalize; move it before");
    if (mpi_job != NULL)
        mpi_job->abort(1);
    exit(1);
}
