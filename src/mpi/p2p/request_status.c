/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Request_get_status and its forms for several requests: what MPI_Test says, with the requests
 * left as they are. Errors of operations are raised by what completes them.
 */
#include "mpi/object/object.h"
#include "mpi/p2p/calls.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

static bool is_over(MPI_Request handle)
{
    return mpi_request_is_empty(handle) || mpi_request_of(handle)->is_done;
}

static MPI_Status *status_at(MPI_Status statuses[], int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* The status of a request that is complete. */
static int tell(MPI_Request handle, MPI_Status *status)
{
    mpi_request_t *request = mpi_request_of(handle);

    if (mpi_request_is_empty(handle)) {
        mpi_status_set_empty(status);
        return MPI_SUCCESS;
    }
    mpi_engine_finish(request);
    if (request->kind == XMPI_KIND_GENERALIZED)
        return mpi_grequest_raise(mpi_grequest_query(request, status));
    mpi_status_set(status, &request->completion);
    return MPI_SUCCESS;
}

static void look(mpi_rank_t *self, int count, const MPI_Request requests[], bool any)
{
    mpi_request_look(self, (mpi_request_t *const *)(const void *)requests, count, any);
}

int impl_request_get_status(mpi_rank_t *self, MPI_Request handle, int *flag, MPI_Status *status)
{
    if (mpi_request_is_over(handle))
        return mpi_request_refuse_over(handle);
    if (!is_over(handle))
        look(self, 1, &handle, false);
    *flag = is_over(handle);
    return *flag ? tell(handle, status) : MPI_SUCCESS;
}

static int check(int count, const MPI_Request requests[])
{
    if (count < 0)
        return mpi_error(NULL, MPI_ERR_COUNT, "the number of requests is %d", count);
    if (count > 0 && !requests)
        return mpi_error_null(NULL, "array_of_requests");
    return MPI_SUCCESS;
}

static bool all_over(int count, const MPI_Request requests[])
{
    for (int i = 0; i < count; i++)
        if (!is_over(requests[i]))
            return false;
    return true;
}

int impl_request_get_status_all(mpi_rank_t *self, int count, const MPI_Request requests[],
                                int *flag, MPI_Status *statuses)
{
    int error = check(count, requests);

    if (error != MPI_SUCCESS)
        return error;
    if (!all_over(count, requests))
        look(self, count, requests, false);
    *flag = all_over(count, requests);
    for (int i = 0; *flag && i < count && error == MPI_SUCCESS; i++)
        error = tell(requests[i], status_at(statuses, i));
    return error;
}

/* How many are active; *ready_p: how many of those are complete, and *first_p is the first. */
static int count_active(int count, const MPI_Request requests[], int *ready_p, int *first_p)
{
    int active = 0;

    *ready_p = 0;
    *first_p = MPI_UNDEFINED;
    for (int i = count - 1; i >= 0; i--) {
        if (mpi_request_is_empty(requests[i]))
            continue;
        active++;
        if (is_over(requests[i])) {
            ++*ready_p;
            *first_p = i;
        }
    }
    return active;
}

int impl_request_get_status_any(mpi_rank_t *self, int count, const MPI_Request requests[],
                                int *index, int *flag, MPI_Status *status)
{
    int error = check(count, requests), ready, active;

    if (error != MPI_SUCCESS)
        return error;
    active = count_active(count, requests, &ready, index);
    if (active > 0 && ready == 0) {
        look(self, count, requests, true);
        count_active(count, requests, &ready, index);
    }
    *flag = active == 0 || ready > 0;
    if (ready > 0)
        error = tell(requests[*index], status);
    else if (active == 0)
        mpi_status_set_empty(status);
    return error;
}

int impl_request_get_status_some(mpi_rank_t *self, int incount, const MPI_Request requests[],
                                 int *outcount, int indices[], MPI_Status *statuses)
{
    int error = check(incount, requests), ready, first, active;

    if (error != MPI_SUCCESS)
        return error;
    active = count_active(incount, requests, &ready, &first);
    if (active > 0 && ready == 0)
        look(self, incount, requests, true);
    *outcount = active > 0 ? 0 : MPI_UNDEFINED;
    for (int i = 0; active > 0 && i < incount && error == MPI_SUCCESS; i++)
        if (!mpi_request_is_empty(requests[i]) && is_over(requests[i])) {
            error = tell(requests[i], status_at(statuses, *outcount));
            indices[(*outcount)++] = i;
        }
    return error;
}
