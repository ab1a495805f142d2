/* SPDX-License-Identifier: BSD-3-Clause */
/* The receives of matched messages; MPI_Recv and MPI_Irecv are in fast.h. */
#include "mpi/object/object.h"
#include "mpi/p2p/calls.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

const mpi_completion_t mpi_completion_null_peer = {.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG};

/* The receive of a message that Mprobe took out of the queue. */
static int message_receive(mpi_rank_t *self, void *buffer, int64_t count, MPI_Datatype type,
                           MPI_Message *message, mpi_request_t *request)
{
    mpi_message_t *m = (mpi_message_t *)(void *)*message;
    mpi_transfer_t t;
    int error;

    if (*message == MPI_MESSAGE_NULL)
        return mpi_error(NULL, MPI_ERR_REQUEST, "the message is MPI_MESSAGE_NULL");
    error = mpi_transfer_check(self, mpi_comm_handle(m->comm), buffer, count, type,
                               m->entry.envelope.source, m->entry.envelope.tag, true, &t);
    if (error != MPI_SUCCESS)
        return error;
    mpi_request_describe(request, &t);
    *message = MPI_MESSAGE_NULL;
    mpi_recv_message(self, request, m, false);
    return MPI_SUCCESS;
}

int impl_mrecv(mpi_rank_t *self, void *buffer, int64_t count, MPI_Datatype type,
               MPI_Message *message, MPI_Status *status)
{
    mpi_request_t request;
    int error;

    if (*message == MPI_MESSAGE_NO_PROC) {
        *message = MPI_MESSAGE_NULL;
        mpi_status_set(status, &mpi_completion_null_peer);
        return MPI_SUCCESS;
    }
    mpi_request_init(&request, self, XMPI_KIND_RECV);
    error = message_receive(self, buffer, count, type, message, &request);
    if (error != MPI_SUCCESS)
        return error;
    mpi_request_wait(self, &request);
    mpi_status_set(status, &request.completion);
    error = mpi_request_raise(&request);
    mpi_comm_release(request.comm);
    return error;
}

int impl_imrecv(mpi_rank_t *self, void *buffer, int64_t count, MPI_Datatype type,
                MPI_Message *message, MPI_Request *handle)
{
    mpi_request_t *request = mpi_request_new(self, XMPI_KIND_RECV);
    int error = MPI_SUCCESS;

    if (request == NULL)
        return mpi_error(NULL, MPI_ERR_NO_MEM, "no memory for a request");
    if (*message == MPI_MESSAGE_NO_PROC) {
        *message = MPI_MESSAGE_NULL;
        request->completion = mpi_completion_null_peer;
        request->is_done = true;
    } else {
        error = message_receive(self, buffer, count, type, message, request);
        if (error != MPI_SUCCESS) {
            request->comm = NULL;
            request->type = NULL;
            mpi_request_free(request);
            return error;
        }
        mpi_type_hold(request->type); /* the communicator was held by the message */
    }
    *handle = mpi_request_handle(request);
    return error;
}
