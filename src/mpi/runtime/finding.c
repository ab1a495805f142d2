/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/finding.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/base.h"

enum { LINES_MOST = 8 }; /* of one class */

const mpi_finding_class_t mpi_finding_classes[XMPI_FINDING_KINDS] = {
    [XMPI_FINDING_NEVER_RECEIVED] = {"never-received", false,
                                     "a message that was sent and never received"},
    [XMPI_FINDING_NEVER_COMPLETED] = {"never-completed", false,
                                      "a request that was started and never completed"},
    [XMPI_FINDING_NEVER_FREED] = {"never-freed", false,
                                  "an object that the program made and never freed"},
    [XMPI_FINDING_TYPE_MISMATCH] = {"type-mismatch", true,
                                    "data that is sent as one type and received as another"},
    [XMPI_FINDING_NEEDS_BUFFERING] = {"needs-buffering", false,
                                      "sends that end only because messages are buffered"},
    [XMPI_FINDING_BUFFER_CHANGED] = {"buffer-changed", true,
                                     "a buffer that is changed while an operation uses it"},
    [XMPI_FINDING_BUFFER_OVERLAP] = {"buffer-overlap", true,
                                     "memory that two operations use at the same time"},
    [XMPI_FINDING_WILDCARD] = {"wildcard", false,
                               "a receive from any source that could take other messages"},
    [XMPI_FINDING_RMA_CONFLICT] = {"rma-conflict", true,
                                   "one-sided accesses to the same memory in one epoch"},
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
