/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Recv, MPI_Irecv, and the receives of matched messages. */
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

#define SITE __builtin_return_address(0)

const mpi_completion_t mpi_completion_null_peer = {.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG};

static int recv_blocking(const char *name, const void *site, void *buffer, int64_t count,
                         MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    mpi_rank_t *self = mpi_enter(name, site);
    mpi_request_t request;
    mpi_transfer_t t;
    int error = mpi_transfer_check(self, comm, buffer, count, type, source, tag, true, &t);

    if (error != MPI_SUCCESS)
        return mpi_leave(self, error);
    if (source == MPI_PROC_NULL) {
        mpi_status_set(status, &mpi_completion_null_peer);
        return mpi_leave(self, MPI_SUCCESS);
    }
    mpi_request_init(&request, self, XMPI_KIND_RECV);
    mpi_recv_start(self, &t, &request, false);
    mpi_request_wait(self, &request);
    mpi_status_set(status, &request.completion);
    return mpi_leave(self, mpi_request_raise(&request));
}

static int recv_nonblocking(const char *name, const void *site, void *buffer, int64_t count,
                            MPI_Datatype type, int source, int tag, MPI_Comm comm,
                            MPI_Request *handle)
{
    mpi_rank_t *self = mpi_enter(name, site);
    mpi_request_t *request;
    mpi_transfer_t t;
    int error = mpi_transfer_check(self, comm, buffer, count, type, source, tag, true, &t);

    if (error != MPI_SUCCESS)
        return mpi_leave(self, error);
    error = mpi_irecv(self, &t, &request);
    if (error == MPI_SUCCESS)
        *handle = mpi_request_handle(request);
    return mpi_leave(self, error);
}

int PMPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Status *status)
{
    return recv_blocking("MPI_Recv", SITE, buf, count, type, source, tag, comm, status);
}
XY_MPI_ALIAS(Recv)

int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                MPI_Status *status)
{
    return recv_blocking("MPI_Recv_c", SITE, buf, count, type, source, tag, comm, status);
}
XY_MPI_ALIAS(Recv_c)

int PMPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    return recv_nonblocking("MPI_Irecv", SITE, buf, count, type, source, tag, comm, request);
}
XY_MPI_ALIAS(Irecv)

int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    return recv_nonblocking("MPI_Irecv_c", SITE, buf, count, type, source, tag, comm, request);
}
XY_MPI_ALIAS(Irecv_c)

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

static int mrecv(const char *name, const void *site, void *buffer, int64_t count, MPI_Datatype type,
                 MPI_Message *message, MPI_Status *status)
{
    mpi_rank_t *self = mpi_enter(name, site);
    mpi_request_t request;
    int error;

    if (*message == MPI_MESSAGE_NO_PROC) {
        *message = MPI_MESSAGE_NULL;
        mpi_status_set(status, &mpi_completion_null_peer);
        return mpi_leave(self, MPI_SUCCESS);
    }
    mpi_request_init(&request, self, XMPI_KIND_RECV);
    error = message_receive(self, buffer, count, type, message, &request);
    if (error != MPI_SUCCESS)
        return mpi_leave(self, error);
    mpi_status_set(status, &request.completion);
    error = mpi_request_raise(&request);
    mpi_comm_release(request.comm);
    return mpi_leave(self, error);
}

static int imrecv(const char *name, const void *site, void *buffer, int64_t count,
                  MPI_Datatype type, MPI_Message *message, MPI_Request *handle)
{
    mpi_rank_t *self = mpi_enter(name, site);
    mpi_request_t *request = mpi_request_new(self, XMPI_KIND_RECV);
    int error = MPI_SUCCESS;

    if (request == NULL)
        return mpi_leave(self, mpi_error(NULL, MPI_ERR_NO_MEM, "no memory for a request"));
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
            return mpi_leave(self, error);
        }
        mpi_type_hold(request->type); /* the communicator was held by the message */
    }
    *handle = mpi_request_handle(request);
    return mpi_leave(self, error);
}

int PMPI_Mrecv(void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    return mrecv("MPI_Mrecv", SITE, buf, count, type, message, status);
}
XY_MPI_ALIAS(Mrecv)

int PMPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message,
                 MPI_Status *status)
{
    return mrecv("MPI_Mrecv_c", SITE, buf, count, type, message, status);
}
XY_MPI_ALIAS(Mrecv_c)

int PMPI_Imrecv(void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    return imrecv("MPI_Imrecv", SITE, buf, count, type, message, request);
}
XY_MPI_ALIAS(Imrecv)

int PMPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message,
                  MPI_Request *request)
{
    return imrecv("MPI_Imrecv_c", SITE, buf, count, type, message, request);
}
XY_MPI_ALIAS(Imrecv_c)
