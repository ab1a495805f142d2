/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Wait and MPI_Test in all their forms but the first (fast.h). */
#include "mpi/object/object.h"
#include "mpi/p2p/calls.h"
#include "mpi/p2p/p2p_engine.h"
#include "mpi/runtime/runtime.h"

static MPI_Status *status_at(MPI_Status statuses[], int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

static bool is_pending(MPI_Request handle)
{
    return !mpi_request_is_empty(handle) && !mpi_request_of(handle)->is_done;
}

static bool is_ready(MPI_Request handle)
{
    return !mpi_request_is_empty(handle) && mpi_request_of(handle)->is_done;
}

/* A test that finds nothing: see mpi_request_look. No other thread may wait for one of them. */
static int let_others_run(mpi_rank_t *self, int count, const MPI_Request requests[], bool any)
{
    bool has_threads = self->gate != NULL && self->gate->is_shared;

    for (int i = 0; has_threads && i < count; i++)
        if (is_pending(requests[i]) && mpi_request_of(requests[i])->waiter != NULL)
            return mpi_request_refuse_waiter(mpi_request_of(requests[i]));
    mpi_request_look(self, (mpi_request_t *const *)(const void *)requests, count, any);
    return MPI_SUCCESS;
}

/* One of the list is waited for already: the list has no waiter then. */
static int refuse_waiter(const mpi_waiter_t *waiter, const MPI_Request requests[], int at)
{
    for (int i = 0; i < at; i++)
        if (is_pending(requests[i]) && mpi_request_of(requests[i])->waiter == waiter)
            mpi_request_of(requests[i])->waiter = NULL;
    return mpi_request_refuse_waiter(mpi_request_of(requests[at]));
}

/* Park until all pending ones (or, with `any`, one of them) are done. */
static int wait_for(mpi_rank_t *self, int count, const MPI_Request requests[], bool any)
{
    mpi_waiter_t *waiter = self->waiter;
    int pending = 0;

    mpi_request_before_wait(self, (mpi_request_t *const *)(const void *)requests, count);
    for (int i = 0; i < count; i++)
        if (is_pending(requests[i])) {
            if (__builtin_expect(mpi_request_of(requests[i])->waiter != NULL, 0))
                return refuse_waiter(waiter, requests, i);
            mpi_request_of(requests[i])->waiter = waiter;
            pending++;
        }
    if (pending == 0)
        return MPI_SUCCESS;
    waiter->count = any ? 1 : pending;
    waiter->waits = (mpi_request_t *const *)(const void *)requests;
    waiter->waits_count = count;
    mpi_account_park(self);
    if (__builtin_expect(mpi_p2p_engine != NULL, 0))
        mpi_p2p_engine->wait(self, waiter->waits, count, any);
    else
        xy_fiber_park();
    mpi_account_resume(self);
    if (any)
        for (int i = 0; i < count; i++)
            if (is_pending(requests[i]))
                mpi_request_of(requests[i])->waiter = NULL;
    return MPI_SUCCESS;
}

static bool is_wildcard(MPI_Request handle)
{
    const mpi_request_t *r = mpi_request_of(handle);

    return r->kind == XMPI_KIND_RECV && r->peer == MPI_ANY_SOURCE;
}

/* Choose among the complete receives from any source the one whose message came first; `first` is
 * one of them. Programs rely on it that have several at a time: the last message of a sender must
 * not be seen before the others. */
static __attribute__((noinline)) int find_earliest(int count, const MPI_Request requests[],
                                                   int first)
{
    int earliest = first;

    for (int i = first + 1; i < count; i++)
        if (is_ready(requests[i]) && is_wildcard(requests[i]) &&
            mpi_request_of(requests[i])->entry.order <
                mpi_request_of(requests[earliest])->entry.order)
            earliest = i;
    return earliest;
}

/* The index of the first that is done; -1: none; MPI_UNDEFINED: nothing is active. */
static int find_ready(int count, const MPI_Request requests[])
{
    bool active = false;

    for (int i = 0; i < count; i++) {
        if (is_ready(requests[i]))
            return is_wildcard(requests[i]) ? find_earliest(count, requests, i) : i;
        active |= !mpi_request_is_empty(requests[i]);
    }
    return active ? -1 : MPI_UNDEFINED;
}

static int finish_one_of_many(MPI_Request *request, MPI_Status *status)
{
    int error;

    if (mpi_request_is_empty(*request)) {
        mpi_status_set_empty(status);
        error = mpi_request_is_over(*request) ? mpi_request_refuse_over(*request) : MPI_SUCCESS;
    } else {
        error = mpi_request_finish(request, status, status == MPI_STATUS_IGNORE);
    }
    return error;
}

/* Finish request `i` of `count`. Its error goes into the status, and the call returns
 * MPI_ERR_IN_STATUS; without a status it returns the last error. `worst`: its result so far. */
static int finish_into(MPI_Request requests[], int i, int count, MPI_Status *status, int worst)
{
    mpi_comm_t *comm = mpi_request_is_empty(requests[i]) ? NULL : mpi_request_of(requests[i])->comm;
    int error = finish_one_of_many(&requests[i], status);

    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = error;
    if (error == MPI_SUCCESS)
        return worst;
    if (status == MPI_STATUS_IGNORE)
        return error;
    return worst != MPI_SUCCESS
               ? worst
               : mpi_error(comm, MPI_ERR_IN_STATUS,
                           "operation %d of %d failed; its status says how", i, count);
}

static int finish_all(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int worst = MPI_SUCCESS;

    for (int i = 0; i < count; i++)
        worst = finish_into(requests, i, count, status_at(statuses, i), worst);
    return worst;
}

static int check_count(int count)
{
    if (count >= 0)
        return MPI_SUCCESS;
    return mpi_error(NULL, MPI_ERR_COUNT, "the number of requests is %d", count);
}

int impl_waitall(mpi_rank_t *self, int count, MPI_Request requests[], MPI_Status statuses[])
{
    int error = check_count(count);

    if (error == MPI_SUCCESS)
        error = wait_for(self, count, requests, false);
    if (error == MPI_SUCCESS)
        error = finish_all(count, requests, statuses);
    return error;
}

int impl_waitany(mpi_rank_t *self, int count, MPI_Request requests[], int *index,
                 MPI_Status *status)
{
    int error = check_count(count);

    if (error != MPI_SUCCESS)
        return error;
    *index = find_ready(count, requests);
    if (*index == -1) {
        error = wait_for(self, count, requests, true);
        *index = error == MPI_SUCCESS ? find_ready(count, requests) : MPI_UNDEFINED;
    }
    if (*index == MPI_UNDEFINED)
        mpi_status_set_empty(status);
    else
        error = mpi_request_finish(&requests[*index], status, true);
    return error;
}

/* Finish those that are done into outcount, indices and statuses. */
static int finish_some(int incount, MPI_Request requests[], int *outcount, int indices[],
                       MPI_Status statuses[])
{
    int worst = MPI_SUCCESS;

    *outcount = 0;
    for (int i = 0; i < incount; i++)
        while (*outcount < incount &&
               is_ready(requests[i])) { /* one that came before it may be done first */
            int next = is_wildcard(requests[i]) ? find_earliest(incount, requests, i) : i;

            worst = finish_into(requests, next, incount, status_at(statuses, *outcount), worst);
            indices[(*outcount)++] = next;
        }
    return worst;
}

/* Finish those that are done, after `progress` if none is. */
static inline int some(mpi_rank_t *self, int incount, MPI_Request requests[], int *outcount,
                       int indices[], MPI_Status statuses[],
                       int (*progress)(mpi_rank_t *, int, const MPI_Request[], bool))
{
    int error = check_count(incount);
    int first;

    if (error != MPI_SUCCESS)
        return error;
    first = find_ready(incount, requests);
    if (first == MPI_UNDEFINED) {
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    if (first == -1)
        error = progress(self, incount, requests, true);
    return error != MPI_SUCCESS ? error
                                : finish_some(incount, requests, outcount, indices, statuses);
}

int impl_waitsome(mpi_rank_t *self, int incount, MPI_Request requests[], int *outcount,
                  int indices[], MPI_Status statuses[])
{
    return some(self, incount, requests, outcount, indices, statuses, wait_for);
}

int impl_test(mpi_rank_t *self, MPI_Request *request, int *flag, MPI_Status *status)
{
    int error = MPI_SUCCESS;

    *flag = 1;
    if (mpi_request_is_empty(*request)) {
        if (mpi_request_is_over(*request))
            return mpi_request_refuse_over(*request);
        mpi_status_set_empty(status);
        return MPI_SUCCESS;
    }
    if (!mpi_request_of(*request)->is_done)
        error = let_others_run(self, 1, request, false);
    if (error == MPI_SUCCESS && mpi_request_of(*request)->is_done)
        return mpi_request_finish(request, status, true);
    *flag = 0;
    return error;
}

static bool all_done(int count, const MPI_Request requests[])
{
    for (int i = 0; i < count; i++)
        if (is_pending(requests[i]))
            return false;
    return true;
}

int impl_testall(mpi_rank_t *self, int count, MPI_Request requests[], int *flag,
                 MPI_Status statuses[])
{
    int error = check_count(count);

    if (error != MPI_SUCCESS)
        return error;
    if (!all_done(count, requests))
        error = let_others_run(self, count, requests, false);
    if (error != MPI_SUCCESS)
        return error;
    *flag = all_done(count, requests);
    if (*flag)
        error = finish_all(count, requests, statuses);
    return error;
}

int impl_testany(mpi_rank_t *self, int count, MPI_Request requests[], int *index, int *flag,
                 MPI_Status *status)
{
    int error = check_count(count);

    if (error != MPI_SUCCESS)
        return error;
    *index = find_ready(count, requests);
    if (*index == -1) {
        error = let_others_run(self, count, requests, true);
        if (error != MPI_SUCCESS)
            return error;
        *index = find_ready(count, requests);
    }
    *flag = *index != -1;
    if (*index == MPI_UNDEFINED)
        mpi_status_set_empty(status);
    else if (*flag)
        error = mpi_request_finish(&requests[*index], status, true);
    else
        *index = MPI_UNDEFINED;
    return error;
}

int impl_testsome(mpi_rank_t *self, int incount, MPI_Request requests[], int *outcount,
                  int indices[], MPI_Status statuses[])
{
    return some(self, incount, requests, outcount, indices, statuses, let_others_run);
}
