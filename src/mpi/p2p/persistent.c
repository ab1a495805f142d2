/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent requests: described once, started many times. */
#include "mpi/object/object.h"
#include "mpi/p2p/bsend.h"
#include "mpi/p2p/calls.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

static mpi_transfer_t transfer_of(const mpi_request_t *request)
{
    return (mpi_transfer_t){.comm = request->comm,
                            .buffer = request->buffer,
                            .count = request->count,
                            .type = request->type,
                            .peer = request->peer,
                            .tag = request->tag,
                            .mode = request->mode};
}

/* Start a persistent send; it may be complete at once. */
static void start_send(mpi_request_t *request)
{
    mpi_transfer_t t = transfer_of(request);

    if (t.mode == XMPI_MODE_BUFFERED && t.peer != MPI_PROC_NULL) {
        request->completion.error = mpi_bsend(request->owner, &t, request);
        request->is_done = true;
    } else if (t.peer == MPI_PROC_NULL) {
        request->is_done = true;
    } else if (mpi_send_start(request->owner, &t, request, mpi_job->offloads)) {
        request->is_done = true;
        mpi_send_throttle(request->owner->worker);
    }
}

static void start_receive(mpi_request_t *request)
{
    mpi_transfer_t t = transfer_of(request);

    if (t.peer == MPI_PROC_NULL) {
        request->completion = mpi_completion_null_peer;
        request->is_done = true;
    } else {
        mpi_recv_start(request->owner, &t, request, mpi_job->offloads);
    }
}

/* Create a persistent request, inactive; returns an MPI error code. */
int part_request_init(mpi_rank_t *self, const void *buffer, int64_t count, MPI_Datatype type,
                      int peer, int tag, MPI_Comm comm, mpi_request_kind_t kind, mpi_mode_t mode,
                      MPI_Request *handle)
{
    bool receive = kind == XMPI_KIND_RECV;
    mpi_request_t *request;
    mpi_transfer_t t;
    int error = mpi_transfer_check(self, comm, buffer, count, type, peer, tag, receive, &t);

    if (error != MPI_SUCCESS)
        return error;
    request = mpi_request_new(self, kind);
    if (request == NULL)
        return mpi_error(t.comm, MPI_ERR_NO_MEM, "no memory for a request");
    t.mode = mode;
    mpi_request_describe(request, &t);
    mpi_comm_hold(t.comm);
    mpi_type_hold(t.type);
    request->is_persistent = true;
    request->is_active = false;
    request->start = receive ? start_receive : start_send;
    *handle = mpi_request_handle(request);
    return MPI_SUCCESS;
}

/* Reports name the call that made the request, with its arguments, and the place of the start. */
static void start_named(mpi_request_t *request)
{
    mpi_rank_t *self = request->owner;
    const mpi_call_t now = self->call;

    self->call = request->call;
    self->call.caller = now.caller;
    if (request->mode == XMPI_MODE_BUFFERED) /* the start itself may fail */
        self->call.name = now.name;
    request->call.caller = now.caller;
    request->start(request);
    self->call = now;
}

/* Start a persistent request; MPI_ERR_REQUEST if it is active or not persistent. */
int part_request_start(MPI_Request handle)
{
    mpi_request_t *request;

    if (handle == MPI_REQUEST_NULL)
        return mpi_error(NULL, MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
    if (mpi_request_is_over(handle))
        return mpi_request_refuse_over(handle);
    request = mpi_request_of(handle);
    if (!request->is_persistent)
        return mpi_error(request->comm, MPI_ERR_REQUEST, "the request is not persistent");
    if (request->is_active)
        return mpi_error(request->comm, MPI_ERR_REQUEST,
                         "the request was started before and has not been completed since");
    request->is_active = true;
    request->is_done = false;
    request->completion = (mpi_completion_t){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    start_named(request);
    return MPI_SUCCESS;
}

int impl_startall(int count, MPI_Request requests[])
{
    int error = MPI_SUCCESS;

    for (int i = 0; i < count && error == MPI_SUCCESS; i++)
        error = part_request_start(requests[i]);
    return error;
}
