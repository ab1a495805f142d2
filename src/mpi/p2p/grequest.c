/* SPDX-License-Identifier: BSD-3-Clause */
/* Generalized requests: operations of the program itself that look like MPI's. */
#include "mpi/object/object.h"
#include "mpi/p2p/calls.h"
#include "mpi/p2p/request.h"
#include "mpi/runtime/runtime.h"

typedef struct {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *state;
} grequest_t;

int mpi_grequest_release(mpi_request_t *request)
{
    grequest_t *g = request->extra;
    int error = g->free(g->state);

    request->release = NULL;
    xy_free(g);
    return error;
}

/* No call of the program is there to return the error. */
static void release(mpi_request_t *request)
{
    (void)mpi_grequest_release(request);
}

int mpi_grequest_raise(int error)
{
    if (error == MPI_SUCCESS)
        return MPI_SUCCESS;
    return mpi_error(NULL, error, "a function of the generalized request returned this error");
}

int impl_grequest_start(mpi_rank_t *self, MPI_Grequest_query_function *query,
                        MPI_Grequest_free_function *free_fn, MPI_Grequest_cancel_function *cancel,
                        void *state, MPI_Request *handle)
{
    mpi_request_t *request = mpi_request_new(self, XMPI_KIND_GENERALIZED);
    grequest_t *g = xy_malloc(sizeof(*g));

    if (request == NULL || g == NULL) {
        xy_free(g);
        return mpi_error(NULL, MPI_ERR_NO_MEM, "no memory for a request");
    }
    *g = (grequest_t){query, free_fn, cancel, state};
    request->extra = g;
    request->call = self->call;
    request->release = release;
    *handle = mpi_request_handle(request);
    return MPI_SUCCESS;
}

int impl_grequest_complete(MPI_Request handle)
{
    mpi_request_t *request;
    int error = MPI_SUCCESS;

    if (handle == MPI_REQUEST_NULL || mpi_request_of(handle)->kind != XMPI_KIND_GENERALIZED)
        return mpi_error(NULL, MPI_ERR_REQUEST, "this is not a generalized request");
    request = mpi_request_of(handle);
    if (request->is_freed)
        error = mpi_grequest_release(request);
    mpi_request_complete(request);
    return mpi_grequest_raise(error);
}

int mpi_grequest_query(mpi_request_t *request, MPI_Status *status)
{
    grequest_t *g = request->extra;
    MPI_Status own;

    if (status == MPI_STATUS_IGNORE)
        status = &own;
    mpi_status_set_empty(status);
    return g->query(g->state, status);
}

int mpi_grequest_finish(mpi_request_t *request, MPI_Status *status)
{
    int error = mpi_grequest_query(request, status), free_error = mpi_grequest_release(request);

    return error != MPI_SUCCESS ? error : free_error;
}

int mpi_grequest_cancel(mpi_request_t *request)
{
    grequest_t *g = request->extra;

    return mpi_grequest_raise(g->cancel(g->state, request->is_done));
}
