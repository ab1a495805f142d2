/* SPDX-License-Identifier: BSD-3-Clause */
/* The modes of MPI_Send and MPI_Isend (fast.h) but buffered (bsend.c). */
#include "mpi/p2p/calls.h"
#include "mpi/p2p/fast.h"
#include "mpi/runtime/runtime.h"

int impl_ssend(mpi_rank_t *self, const void *buf, MPI_Count count, MPI_Datatype type, int dest,
               int tag, MPI_Comm comm)
{
    return send_blocking(self, buf, count, type, dest, tag, comm, XMPI_MODE_SYNCHRONOUS);
}

int impl_rsend(mpi_rank_t *self, const void *buf, MPI_Count count, MPI_Datatype type, int dest,
               int tag, MPI_Comm comm)
{
    return send_blocking(self, buf, count, type, dest, tag, comm, XMPI_MODE_READY);
}

int impl_issend(mpi_rank_t *self, const void *buf, MPI_Count count, MPI_Datatype type, int dest,
                int tag, MPI_Comm comm, MPI_Request *request)
{
    return send_nonblocking(self, buf, count, type, dest, tag, comm, XMPI_MODE_SYNCHRONOUS,
                            request);
}

int impl_irsend(mpi_rank_t *self, const void *buf, MPI_Count count, MPI_Datatype type, int dest,
                int tag, MPI_Comm comm, MPI_Request *request)
{
    return send_nonblocking(self, buf, count, type, dest, tag, comm, XMPI_MODE_READY, request);
}
