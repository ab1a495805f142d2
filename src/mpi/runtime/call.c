/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/runtime/caller.h"
#include "mpi/runtime/finding.h"

_Thread_local mpi_rank_t *mpi_thread_owner;
_Thread_local const char *mpi_thread_call;

void mpi_report_claim(void)
{
    static atomic_flag is_claimed = ATOMIC_FLAG_INIT;

    while (atomic_flag_test_and_set(&is_claimed))
        pause();
}

const char *mpi_call_start_of(const char *name)
{
    const char *end = strstr(name, "_init");

    return end != NULL && (end[5] == '\0' || strcmp(end, "_init_c") == 0) ? "MPI_Start of " : "";
}

/* Report that a thread that is not a rank has called MPI, and how it may. */
static void refuse_thread(const mpi_finding_t *finding, const char *name, const char *site)
{
    static const char why[] = "was called from a thread that is not a rank; only the thread that "
                              "runs main may call MPI, unless MPI_Init_thread is asked for "
                              "MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE";
    const mpi_rank_t *owner = mpi_thread_owner;

    if (owner != NULL || mpi_job->size == 1)
        mpi_finding_end(finding, "rank %d: %s %s%s", owner != NULL ? owner->world : 0, name, why,
                        site);
    else
        mpi_finding_end(finding, "%s %s%s", name, why, site);
}

/* Why a rank may not call MPI now, and what to do. */
static const char *describe_phase(const mpi_rank_t *self)
{
    if (self->phase == XMPI_RANK_IN_OPERATION)
        return "in an operation of the program (MPI_Op_create), which must not communicate";
    if (self->phase == XMPI_RANK_FINALIZED)
        return "after MPI_Finalize; move it before";
    return self->has_had_session ? "after MPI_Session_finalize and without MPI_Init; move it before"
                                 : "before MPI_Init; call MPI_Init first";
}

void mpi_enter_refused(const char *name, const void *site)
{
    const mpi_rank_t *self = mpi_self, *owner = self != NULL ? self : mpi_thread_owner;
    mpi_finding_t finding = {.kind = XMPI_FINDING_WRONG_TIME,
                             .rank = owner != NULL ? owner->world : -1,
                             .other = -1,
                             .sites = {site}};
    char place[256], where[sizeof(place) + 4] = "";

    mpi_report_claim();
    mpi_caller_describe(site, place, sizeof(place));
    if (place[0] != '\0')
        snprintf(where, sizeof(where), " (%s)", place);
    if (self == NULL && mpi_job == NULL)
        xy_fail(XY_EINVAL, "%s was called before MPI_Init; call MPI_Init first%s", name, where);
    else if (self == NULL)
        refuse_thread(&finding, name, where);
    else
        mpi_finding_end(&finding, "rank %d: %s was called %s%s", self->world, name,
                        describe_phase(self), where);
    if (mpi_job != NULL)
        mpi_job->abort(1);
    exit(1);
}
