/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The most frequent calls: compiled into their entry points (kind `fast` in functions.def), because
 * calls with eight arguments cost a small message 4 % of its instructions.
 */
#ifndef XY_MPI_P2P_FAST_H
#define XY_MPI_P2P_FAST_H

#include "mpi/p2p/p2p.h"

/* Two entry points share each of them, so the compiler would not do it by itself. */
#define FAST static inline __attribute__((always_inline))

FAST int send_blocking(mpi_rank_t *self, const void *buffer, int64_t count, MPI_Datatype type,
                       int dest, int tag, MPI_Comm comm, mpi_mode_t mode)
{
    mpi_request_t request;
    mpi_transfer_t t;
    int error = mpi_transfer_check(self, comm, buffer, count, type, dest, tag, false, &t);

    if (error != MPI_SUCCESS || dest == MPI_PROC_NULL)
        return error;
    t.mode = mode;
    t.is_blocking = true;
    mpi_request_init(&request, self, XMPI_KIND_SEND);
    if (!mpi_send_start(self, &t, &request, false)) {
        mpi_request_wait(self, &request);
        return mpi_request_raise(&request);
    }
    mpi_send_throttle(self->worker);
    return MPI_SUCCESS;
}

FAST int impl_send(mpi_rank_t *self, const void *buf, MPI_Count count, MPI_Datatype type, int dest,
                   int tag, MPI_Comm comm)
{
    return send_blocking(self, buf, count, type, dest, tag, comm, XMPI_MODE_STANDARD);
}

FAST int send_nonblocking(mpi_rank_t *self, const void *buffer, int64_t count, MPI_Datatype type,
                          int dest, int tag, MPI_Comm comm, mpi_mode_t mode, MPI_Request *handle)
{
    mpi_request_t *request;
    mpi_transfer_t t;
    int error = mpi_transfer_check(self, comm, buffer, count, type, dest, tag, false, &t);

    if (error != MPI_SUCCESS)
        return error;
    t.mode = mode;
    error = mpi_isend(self, &t, &request);
    if (error == MPI_SUCCESS)
        *handle = mpi_request_handle(request);
    return error;
}

FAST int impl_isend(mpi_rank_t *self, const void *buf, MPI_Count count, MPI_Datatype type, int dest,
                    int tag, MPI_Comm comm, MPI_Request *request)
{
    return send_nonblocking(self, buf, count, type, dest, tag, comm, XMPI_MODE_STANDARD, request);
}

FAST int impl_recv(mpi_rank_t *self, void *buffer, int64_t count, MPI_Datatype type, int source,
                   int tag, MPI_Comm comm, MPI_Status *status)
{
    mpi_request_t request;
    mpi_transfer_t t;
    int error = mpi_transfer_check(self, comm, buffer, count, type, source, tag, true, &t);

    if (error != MPI_SUCCESS)
        return error;
    if (source == MPI_PROC_NULL) {
        mpi_status_set(status, &mpi_completion_null_peer);
        return MPI_SUCCESS;
    }
    mpi_request_init(&request, self, XMPI_KIND_RECV);
    mpi_recv_start(self, &t, &request, false);
    mpi_request_wait(self, &request);
    mpi_status_set(status, &request.completion);
    return mpi_request_raise(&request);
}

FAST int impl_irecv(mpi_rank_t *self, void *buffer, int64_t count, MPI_Datatype type, int source,
                    int tag, MPI_Comm comm, MPI_Request *handle)
{
    mpi_request_t *request;
    mpi_transfer_t t;
    int error = mpi_transfer_check(self, comm, buffer, count, type, source, tag, true, &t);

    if (error != MPI_SUCCESS)
        return error;
    error = mpi_irecv(self, &t, &request);
    if (error == MPI_SUCCESS)
        *handle = mpi_request_handle(request);
    return error;
}

FAST int impl_wait(mpi_rank_t *self, MPI_Request *request, MPI_Status *status)
{
    if (mpi_request_is_empty(*request)) {
        if (mpi_request_is_over(*request))
            return mpi_request_refuse_over(*request);
        mpi_status_set_empty(status);
        return MPI_SUCCESS;
    }
    if (__builtin_expect(mpi_request_of(*request)->waiter != NULL, 0))
        return mpi_request_refuse_waiter(mpi_request_of(*request));
    mpi_request_wait(self, mpi_request_of(*request));
    return mpi_request_finish(request, status, true);
}

#undef FAST

#endif
