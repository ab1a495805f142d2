/* SPDX-License-Identifier: BSD-3-Clause */
/* The receives of matched messages; MPI_Recv and MPI_Irecv are in fast.h. */
#include "mpi/object/object.h"
#include "mpi/p2p/calls.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

const mpi_completion_t mpi_completion_null_peer = {.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG};

void mpi_message_take(mpi_rank_t *self, mpi_message_t *m, mpi_comm_t *comm)
{
    m->comm = comm;
    mpi_comm_hold(comm);
    m->taken_at = self->call.caller;
    m->next_taken = NULL;
    m->previous_taken = self->last_taken;
    if (self->last_taken != NULL)
        self->last_taken->next_taken = m;
    else
        self->first_taken = m;
    self->last_taken = m;
}

static void untake(mpi_rank_t *self, mpi_message_t *m)
{
    if (m->previous_taken != NULL)
        m->previous_taken->next_taken = m->next_taken;
    else
        self->first_taken = m->next_taken;
    if (m->next_taken != NULL)
        m->next_taken->previous_taken = m->previous_taken;
    else
        self->last_taken = m->previous_taken;
}

/* NULL: the handle is none, or the message has been received. Programs receive messages soon, and
 * in the order in which they took them. */
static mpi_message_t *message_of(const mpi_rank_t *self, MPI_Message handle)
{
    mpi_message_t *m = self->first_taken;

    while (m != NULL && (MPI_Message)(void *)m != handle)
        m = m->next_taken;
    return m;
}

/* The receive of a message that Mprobe took out of the queue. */
static int message_receive(mpi_rank_t *self, void *buffer, int64_t count, MPI_Datatype type,
                           MPI_Message *message, mpi_request_t *request)
{
    mpi_message_t *m = message_of(self, *message);
    mpi_transfer_t t;
    int error;

    if (*message == MPI_MESSAGE_NULL)
        return mpi_error(NULL, MPI_ERR_REQUEST, "the message is MPI_MESSAGE_NULL");
    if (m == NULL)
        return mpi_error(NULL, MPI_ERR_REQUEST,
                         "the message has been received, or was never taken by MPI_Mprobe");
    error = mpi_transfer_check_on(self, m->comm, MPI_COMM_NULL, buffer, count, type,
                                  m->entry.envelope.source, m->entry.envelope.tag, true, &t);
    if (error != MPI_SUCCESS)
        return error;
    untake(self, m);
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
