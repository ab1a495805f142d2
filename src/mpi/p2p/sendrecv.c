/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Sendrecv and MPI_Sendrecv_replace, blocking and nonblocking. */
#include <string.h>

#include "mpi/object/object.h"
#include "mpi/p2p/calls.h"
#include "mpi/p2p/multi_request.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

/* Receive first, so that a message to oneself finds its place. */
static int exchange(mpi_rank_t *self, const mpi_transfer_t *send, const mpi_transfer_t *receive,
                    MPI_Status *status)
{
    mpi_request_t requests[2];
    bool sent = true;

    mpi_request_init(&requests[0], self, XMPI_KIND_RECV);
    mpi_request_init(&requests[1], self, XMPI_KIND_SEND);
    if (receive->peer != MPI_PROC_NULL)
        mpi_recv_start(self, receive, &requests[0], false);
    else
        requests[0].completion = mpi_completion_null_peer;
    if (send->peer != MPI_PROC_NULL)
        sent = mpi_send_start(self, send, &requests[1], false);
    if (receive->peer != MPI_PROC_NULL)
        mpi_request_wait(self, &requests[0]);
    if (!sent)
        mpi_request_wait(self, &requests[1]);
    mpi_status_set(status, &requests[0].completion);
    if (!sent && requests[1].completion.error != MPI_SUCCESS)
        return mpi_request_raise(&requests[1]);
    return receive->peer == MPI_PROC_NULL ? MPI_SUCCESS : mpi_request_raise(&requests[0]);
}

/* Both as one request with the status of the receive. `copy`, or NULL, goes back at its end. */
static int start(mpi_rank_t *self, mpi_transfer_t *send, mpi_transfer_t *receive, char *copy,
                 MPI_Request *request)
{
    mpi_multi_request_t *multi;
    int error = mpi_multi_request_begin(self, receive->comm, &multi);

    if (error != MPI_SUCCESS) {
        if (copy != NULL)
            mpi_buffer_give(self->worker, copy);
        return error;
    }
    multi->keeps = true;
    multi->copy = copy;
    error = mpi_multi_request_receive(multi, receive);
    if (error == MPI_SUCCESS)
        error = mpi_multi_request_send(multi, send);
    return mpi_multi_request_end(multi, error, request, MPI_STATUS_IGNORE);
}

/* With `request` nonblocking, else with `status`. */
static int sendrecv(mpi_rank_t *self, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                    int dest, int sendtag, void *recvbuf, int64_t recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Comm comm, MPI_Status *status,
                    MPI_Request *request)
{
    mpi_transfer_t send, receive;
    int error =
        mpi_transfer_check(self, comm, sendbuf, sendcount, sendtype, dest, sendtag, false, &send);

    if (error == MPI_SUCCESS)
        error = mpi_transfer_check(self, comm, recvbuf, recvcount, recvtype, source, recvtag, true,
                                   &receive);
    if (error == MPI_SUCCESS && sendbuf == recvbuf && sendcount > 0 && recvcount > 0 &&
        dest != MPI_PROC_NULL && source != MPI_PROC_NULL && send.type->is_predefined &&
        receive.type->is_predefined)
        error = mpi_error(send.comm, MPI_ERR_BUFFER,
                          "the send and the receive buffer are the same memory; use "
                          "MPI_Sendrecv_replace");
    if (error == MPI_SUCCESS)
        error = request ? start(self, &send, &receive, NULL, request)
                        : exchange(self, &send, &receive, status);
    return error;
}

/* The data leaves through a packed copy, so that the answer may land in its place. */
static int sendrecv_replace(mpi_rank_t *self, void *buffer, int64_t count, MPI_Datatype type,
                            int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
                            MPI_Status *status, MPI_Request *request)
{
    mpi_transfer_t send, receive;
    uint64_t bytes;
    char *copy;
    int error = mpi_transfer_check(self, comm, buffer, count, type, dest, sendtag, false, &send);

    if (error == MPI_SUCCESS)
        error =
            mpi_transfer_check(self, comm, buffer, count, type, source, recvtag, true, &receive);
    if (error != MPI_SUCCESS)
        return error;
    bytes = (uint64_t)count * mpi_type_size(send.type);
    copy = mpi_buffer_take(self->worker, bytes);
    if (copy == NULL)
        return mpi_error(send.comm, MPI_ERR_NO_MEM, "no memory for %llu bytes",
                         (unsigned long long)bytes);
    mpi_type_pack(copy, buffer, count, send.type, 0, bytes);
    send.buffer = copy;
    send.count = (int64_t)bytes;
    send.type = mpi_type_of(MPI_BYTE);
    if (request != NULL)
        return start(self, &send, &receive, copy, request);
    error = exchange(self, &send, &receive, status);
    mpi_buffer_give(self->worker, copy);
    return error;
}

int impl_sendrecv(mpi_rank_t *self, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                  int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                  int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    return sendrecv(self, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                    source, recvtag, comm, status, NULL);
}

int impl_isendrecv(mpi_rank_t *self, const void *sendbuf, MPI_Count sendcount,
                   MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                   MPI_Request *request)
{
    return sendrecv(self, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                    source, recvtag, comm, NULL, request);
}

int impl_sendrecv_replace(mpi_rank_t *self, void *buf, MPI_Count count, MPI_Datatype type, int dest,
                          int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    return sendrecv_replace(self, buf, count, type, dest, sendtag, source, recvtag, comm, status,
                            NULL);
}

int impl_isendrecv_replace(mpi_rank_t *self, void *buf, MPI_Count count, MPI_Datatype type,
                           int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
                           MPI_Request *request)
{
    return sendrecv_replace(self, buf, count, type, dest, sendtag, source, recvtag, comm, NULL,
                            request);
}
