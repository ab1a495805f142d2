/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Request_free and MPI_Cancel. */
#include <string.h>

#include "mpi/object/object.h"
#include "mpi/p2p/calls.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

/* Is it a nonblocking collective? MPI_Isendrecv has a request of that kind. */
static bool is_nonblocking_collective(const mpi_request_t *request)
{
    return request->kind == XMPI_KIND_COLL && !request->is_persistent &&
           strncmp(request->call.name, "MPI_Isendrecv", 13) != 0;
}

int mpi_request_abandon(mpi_request_t *request)
{
    int error = MPI_SUCCESS;

    if (request->is_done || !request->is_active) {
        mpi_engine_finish(request);
        if (request->kind == XMPI_KIND_GENERALIZED)
            error = mpi_grequest_release(request);
        mpi_request_free(request);
        return mpi_grequest_raise(error);
    }
    request->is_freed = true;
    if (mpi_p2p_engine != NULL)
        mpi_p2p_engine->free(request);
    return MPI_SUCCESS;
}

int impl_request_free(MPI_Request *handle)
{
    mpi_request_t *request;

    if (*handle == MPI_REQUEST_NULL)
        return mpi_error(NULL, MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
    if (mpi_request_is_over(*handle))
        return mpi_request_refuse_over(*handle);
    request = mpi_request_of(*handle);
    if (is_nonblocking_collective(request))
        return mpi_error(request->comm, MPI_ERR_REQUEST,
                         "the request of a nonblocking collective cannot be freed; call MPI_Wait");
    if (mpi_request_is_partitioned(request) && request->is_active && !request->is_done)
        return mpi_error(request->comm, MPI_ERR_REQUEST,
                         "the partitioned request is active; complete it first");
    if (request->waiter != NULL && !request->is_done)
        return mpi_request_refuse_waiter(request);
    *handle = MPI_REQUEST_NULL;
    return mpi_request_abandon(request);
}

int impl_cancel(mpi_rank_t *self, MPI_Request *handle)
{
    mpi_request_t *request;

    if (*handle == MPI_REQUEST_NULL)
        return mpi_error(NULL, MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
    request = mpi_request_of(*handle);
    if (request->kind == XMPI_KIND_GENERALIZED)
        return mpi_grequest_cancel(request);
    if (request->kind == XMPI_KIND_COLL)
        return mpi_error(request->comm, MPI_ERR_REQUEST, "a collective cannot be cancelled");
    if (request->kind == XMPI_KIND_REMOTE)
        return mpi_error(request->comm, MPI_ERR_REQUEST,
                         "a one-sided operation cannot be cancelled");
    if (mpi_request_is_partitioned(request))
        return mpi_error(request->comm, MPI_ERR_REQUEST,
                         "a partitioned request cannot be cancelled");
    if (request->kind == XMPI_KIND_FILE)
        return mpi_error(request->comm, MPI_ERR_REQUEST, "an access to a file cannot be cancelled");
    if (request->kind == XMPI_KIND_FLUSH)
        return mpi_error(NULL, MPI_ERR_REQUEST, "the flush of a buffer cannot be cancelled");
    if (mpi_p2p_engine == NULL)
        mpi_plain_cancel(self, request);
    else if (!request->is_done)
        mpi_p2p_engine->cancel(self, request);
    return MPI_SUCCESS;
}
