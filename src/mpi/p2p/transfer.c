/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/p2p/transfer.h"

#include <limits.h>

static int check_peer(mpi_comm_t *comm, int peer, bool receive)
{
    int size = comm->remote ? comm->remote->size : comm->size;

    if ((peer >= 0 && peer < size) || peer == MPI_PROC_NULL || (receive && peer == MPI_ANY_SOURCE))
        return MPI_SUCCESS;
    if (peer == MPI_ANY_SOURCE)
        return mpi_error(
            comm, MPI_ERR_RANK,
            "the destination is MPI_ANY_SOURCE, which only receives have; name a rank");
    return mpi_error(comm, MPI_ERR_RANK, "rank %d does not exist in %s, which has ranks 0 to %d",
                     mpi_number_passed(peer), mpi_comm_name(comm), size - 1);
}

/* Check count, type and buffer of a transfer; returns an MPI error code. */
static int check_buffer(mpi_comm_t *comm, const void *buffer, int64_t count, MPI_Datatype handle,
                        bool receive)
{
    const mpi_type_t *type = mpi_type_of(handle);

    if (count < 0)
        return mpi_error(comm, MPI_ERR_COUNT, "the count is %lld; it must not be negative",
                         (long long)count);
    if (mpi_type_is_absent(handle, count))
        return MPI_SUCCESS;
    if (type == NULL)
        return mpi_error(comm, MPI_ERR_TYPE, "the datatype is not a valid handle");
    if (!type->is_committed)
        return mpi_error(comm, MPI_ERR_TYPE,
                         "the datatype was not committed; call MPI_Type_commit first");
    if (receive && count > type->most_received)
        return mpi_type_refuse_overlap(comm);
    if (buffer == NULL && count > 0 && type->is_predefined)
        return mpi_error(comm, MPI_ERR_BUFFER, "the buffer is NULL and the count is %lld",
                         (long long)count);
    if (buffer == MPI_IN_PLACE && count > 0)
        return mpi_error(comm, MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed for this buffer");
    return MPI_SUCCESS;
}

static int check_tag(mpi_comm_t *comm, int tag, bool receive)
{
    if (tag >= 0 || (receive && tag == MPI_ANY_TAG))
        return MPI_SUCCESS;
    if (tag == MPI_ANY_TAG)
        return mpi_error(comm, MPI_ERR_TAG,
                         "the tag is MPI_ANY_TAG, which only receives have; tags are 0 to %d",
                         INT_MAX);
    return mpi_error(comm, MPI_ERR_TAG, "the tag is %d; tags are 0 to %d", mpi_number_passed(tag),
                     INT_MAX);
}

int mpi_transfer_refuse(mpi_comm_t *comm, MPI_Comm handle, const void *buffer, int64_t count,
                        MPI_Datatype type, int peer, int tag, bool receive)
{
    int error;

    if (comm == NULL)
        return mpi_comm_refuse(handle);
    error = check_buffer(comm, buffer, count, type, receive);
    if (error == MPI_SUCCESS)
        error = check_peer(comm, peer, receive);
    if (error != MPI_SUCCESS)
        return error;
    return peer == MPI_PROC_NULL ? MPI_SUCCESS : check_tag(comm, tag, receive);
}
