/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Request_free, MPI_Request_get_status and MPI_Cancel. */
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

#define SITE __builtin_return_address(0)

int PMPI_Request_free(MPI_Request *handle)
{
    mpi_rank_t *self = mpi_enter("MPI_Request_free", SITE);
    mpi_request_t *request;

    if (*handle == MPI_REQUEST_NULL)
        return mpi_leave(self, mpi_error(NULL, MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL"));
    request = mpi_request_of(*handle);
    *handle = MPI_REQUEST_NULL;
    if (request->is_done || !request->is_active)
        mpi_request_free(request);
    else
        request->is_freed = true;
    return mpi_leave(self, MPI_SUCCESS);
}
XY_MPI_ALIAS(Request_free)

int PMPI_Request_get_status(MPI_Request handle, int *flag, MPI_Status *status)
{
    mpi_rank_t *self = mpi_enter("MPI_Request_get_status", SITE);

    *flag = 1;
    if (mpi_request_is_empty(handle)) {
        mpi_status_set_empty(status);
        return mpi_leave(self, MPI_SUCCESS);
    }
    if (!mpi_request_of(handle)->is_done) {
        mpi_request_before_wait(self, NULL, 0);
        xy_fiber_yield();
    }
    *flag = mpi_request_of(handle)->is_done;
    if (*flag)
        mpi_status_set(status, &mpi_request_of(handle)->completion);
    return mpi_leave(self, MPI_SUCCESS);
}
XY_MPI_ALIAS(Request_get_status)

int PMPI_Cancel(MPI_Request *handle)
{
    mpi_rank_t *self = mpi_enter("MPI_Cancel", SITE);
    mpi_request_t *request;

    if (*handle == MPI_REQUEST_NULL)
        return mpi_leave(self, mpi_error(NULL, MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL"));
    request = mpi_request_of(*handle);
    if (request->kind == XMPI_KIND_GENERALIZED)
        return mpi_leave(self, mpi_grequest_cancel(request));
    if (request->kind == XMPI_KIND_COLL)
        return mpi_leave(self, mpi_error(request->comm, MPI_ERR_REQUEST,
                                         "a nonblocking collective cannot be cancelled"));
    if (request->kind == XMPI_KIND_SEND) {
        mpi_send_cancel(self, request);
    } else if (request->is_posted) {
        mpi_match_unpost(&self->match, &request->entry);
        request->is_posted = false;
        request->completion.is_cancelled = true;
        mpi_request_complete(request);
    }
    return mpi_leave(self, MPI_SUCCESS);
}
XY_MPI_ALIAS(Cancel)

int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    *flag = mpi_status_is_cancelled(status);
    return MPI_SUCCESS;
}
XY_MPI_ALIAS(Test_cancelled)

int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    mpi_status_set_cancelled(status, flag != 0);
    return MPI_SUCCESS;
}
XY_MPI_ALIAS(Status_set_cancelled)
