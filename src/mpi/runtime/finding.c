/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/finding.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/base.h"

enum { LINES_MOST = 8 }; /* of one class */

const mpi_finding_class_t mpi_finding_classes[XMPI_FINDING_KINDS] = {
    [XMPI_FINDING_NEVER_RECEIVED] = {"never-received", false, false,
                                     "a message that was sent and never received"},
    [XMPI_FINDING_NEVER_COMPLETED] = {"never-completed", false, false,
                                      "a request that was started and never completed"},
    [XMPI_FINDING_NEVER_FREED] = {"never-freed", false, false,
                                  "an object that the program made and never freed"},
    [XMPI_FINDING_TYPE_MISMATCH] = {"type-mismatch", true, false,
                                    "data that is sent as one type and received as another"},
    [XMPI_FINDING_NEEDS_BUFFERING] = {"needs-buffering", false, false,
                                      "sends that end only because messages are buffered"},
    [XMPI_FINDING_BUFFER_CHANGED] = {"buffer-changed", true, false,
                                     "a buffer that is changed while an operation uses it"},
    [XMPI_FINDING_BUFFER_TOUCHED] = {"buffer-touched", true, false,
                                     "a receive buffer that is used before its data is there"},
    [XMPI_FINDING_BUFFER_OVERLAP] = {"buffer-overlap", true, false,
                                     "memory that two operations use at the same time"},
    [XMPI_FINDING_WILDCARD] = {"wildcard", false, false,
                               "a receive from any source that could take other messages"},
    [XMPI_FINDING_RMA_CONFLICT] = {"rma-conflict", true, false,
                                   "one-sided accesses to the same memory in one epoch"},
    [XMPI_FINDING_DEADLOCK] = {"deadlock", true, true, "ranks that wait for what cannot come"},
    [XMPI_FINDING_DISAGREEMENT] = {"disagreement", true, true,
                                   "members of a communicator that call different collectives"},
    [XMPI_FINDING_EXCESS] = {"excess", true, true,
                             "a collective that sends more than a member has room for"},
    [XMPI_FINDING_TRUNCATION] = {"truncation", true, true,
                                 "a message that is longer than its receive"},
    [XMPI_FINDING_NOT_READY] = {"not-ready", true, true, "a ready send that meets no receive"},
    [XMPI_FINDING_CALL_ERROR] = {"call-error", true, true,
                                 "a call with a wrong argument, or that failed"},
    [XMPI_FINDING_RMA_ERROR] = {"rma-error", true, true,
                                "a one-sided call outside of its epoch or window"},
    [XMPI_FINDING_WRONG_TIME] = {"wrong-time", true, true,
                                 "a call before MPI_Init, after MPI_Finalize or in a wrong thread"},
    [XMPI_FINDING_CRASH] = {"crash", true, true, "a rank that was ended by a signal"},
    [XMPI_FINDING_EARLY_EXIT] = {"early-exit", true, true,
                                 "a rank that ended without calling MPI_Finalize"},
    [XMPI_FINDING_ABORTED] = {"aborted", true, true, "a rank that called MPI_Abort"},
    [XMPI_FINDING_TIME_LIMIT] = {"time-limit", true, true,
                                 "a job that did not end in the time that it was given"},
};

const mpi_finding_store_t *mpi_finding_store;

/* Without a store: what was printed. */
static struct {
    mpi_finding_t printed[LINES_MOST];
    int count;
} lines[XMPI_FINDING_KINDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_printed(const mpi_finding_t *f)
{
    for (int i = 0; i < lines[f->kind].count; i++) {
        const mpi_finding_t *p = &lines[f->kind].printed[i];

        if (p->rank == f->rank && p->sites[0] == f->sites[0] && p->sites[1] == f->sites[1])
            return true;
    }
    return lines[f->kind].count == LINES_MOST;
}

bool mpi_finding_is_known(const mpi_finding_t *finding)
{
    bool is_known;

    if (mpi_finding_store != NULL)
        return mpi_finding_store->is_known(finding);
    pthread_mutex_lock(&lock);
    is_known = is_printed(finding);
    pthread_mutex_unlock(&lock);
    return is_known;
}

static void print(const mpi_finding_t *f, const char *message)
{
    bool is_new, is_last;

    pthread_mutex_lock(&lock);
    is_new = !is_printed(f);
    if (is_new)
        lines[f->kind].printed[lines[f->kind].count++] = *f;
    is_last = lines[f->kind].count == LINES_MOST;
    pthread_mutex_unlock(&lock);
    if (is_new)
        xy_warn("rank %d: %s%s", f->rank, message,
                is_last ? "; more of this kind is not shown" : "");
}

void mpi_finding_add(const mpi_finding_t *finding, const char *format, ...)
{
    char message[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    if (mpi_finding_store != NULL)
        mpi_finding_store->add(finding, message);
    else
        print(finding, message);
}

void mpi_finding_end(const mpi_finding_t *finding, const char *format, ...)
{
    char message[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    xy_fail(XY_EINVAL, "%s", message);
    if (mpi_finding_store != NULL)
        mpi_finding_store->end(finding, message);
}
