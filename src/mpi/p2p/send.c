/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Send and its kin: blocking and nonblocking, in all modes but buffered (bsend.c). */
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

#define SITE __builtin_return_address(0)

static int send_blocking(const char *name, const void *site, const void *buffer, int64_t count,
                         MPI_Datatype type, int dest, int tag, MPI_Comm comm, mpi_mode_t mode)
{
    mpi_rank_t *self = mpi_enter(name, site);
    mpi_request_t request;
    mpi_transfer_t t;
    int error = mpi_transfer_check(self, comm, buffer, count, type, dest, tag, false, &t);

    if (error != MPI_SUCCESS || dest == MPI_PROC_NULL)
        return mpi_leave(self, error);
    t.mode = mode;
    mpi_request_init(&request, self, XMPI_KIND_SEND);
    if (mpi_send_start(self, &t, &request, false))
        mpi_send_throttle(self, &t);
    else
        mpi_request_wait(self, &request);
    return mpi_leave(self, MPI_SUCCESS);
}

static int send_nonblocking(const char *name, const void *site, const void *buffer, int64_t count,
                            MPI_Datatype type, int dest, int tag, MPI_Comm comm, mpi_mode_t mode,
                            MPI_Request *handle)
{
    mpi_rank_t *self = mpi_enter(name, site);
    mpi_request_t *request;
    mpi_transfer_t t;
    int error = mpi_transfer_check(self, comm, buffer, count, type, dest, tag, false, &t);

    if (error != MPI_SUCCESS)
        return mpi_leave(self, error);
    t.mode = mode;
    error = mpi_isend(self, &t, &request);
    if (error == MPI_SUCCESS)
        *handle = mpi_request_handle(request);
    return mpi_leave(self, error);
}

int PMPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    return send_blocking("MPI_Send", SITE, buf, count, type, dest, tag, comm, XMPI_MODE_STANDARD);
}
XY_MPI_ALIAS(Send)

int PMPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                MPI_Comm comm)
{
    return send_blocking("MPI_Send_c", SITE, buf, count, type, dest, tag, comm, XMPI_MODE_STANDARD);
}
XY_MPI_ALIAS(Send_c)

int PMPI_Ssend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    return send_blocking("MPI_Ssend", SITE, buf, count, type, dest, tag, comm,
                         XMPI_MODE_SYNCHRONOUS);
}
XY_MPI_ALIAS(Ssend)

int PMPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                 MPI_Comm comm)
{
    return send_blocking("MPI_Ssend_c", SITE, buf, count, type, dest, tag, comm,
                         XMPI_MODE_SYNCHRONOUS);
}
XY_MPI_ALIAS(Ssend_c)

int PMPI_Rsend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    return send_blocking("MPI_Rsend", SITE, buf, count, type, dest, tag, comm, XMPI_MODE_READY);
}
XY_MPI_ALIAS(Rsend)

int PMPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                 MPI_Comm comm)
{
    return send_blocking("MPI_Rsend_c", SITE, buf, count, type, dest, tag, comm, XMPI_MODE_READY);
}
XY_MPI_ALIAS(Rsend_c)

int PMPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    return send_nonblocking("MPI_Isend", SITE, buf, count, type, dest, tag, comm,
                            XMPI_MODE_STANDARD, request);
}
XY_MPI_ALIAS(Isend)

int PMPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    return send_nonblocking("MPI_Isend_c", SITE, buf, count, type, dest, tag, comm,
                            XMPI_MODE_STANDARD, request);
}
XY_MPI_ALIAS(Isend_c)

int PMPI_Issend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return send_nonblocking("MPI_Issend", SITE, buf, count, type, dest, tag, comm,
                            XMPI_MODE_SYNCHRONOUS, request);
}
XY_MPI_ALIAS(Issend)

int PMPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return send_nonblocking("MPI_Issend_c", SITE, buf, count, type, dest, tag, comm,
                            XMPI_MODE_SYNCHRONOUS, request);
}
XY_MPI_ALIAS(Issend_c)

int PMPI_Irsend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return send_nonblocking("MPI_Irsend", SITE, buf, count, type, dest, tag, comm, XMPI_MODE_READY,
                            request);
}
XY_MPI_ALIAS(Irsend)

int PMPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return send_nonblocking("MPI_Irsend_c", SITE, buf, count, type, dest, tag, comm,
                            XMPI_MODE_READY, request);
}
XY_MPI_ALIAS(Irsend_c)
