/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of a point-to-point call, and their checks, which all calls of the family share. */
#ifndef XY_MPI_P2P_TRANSFER_H
#define XY_MPI_P2P_TRANSFER_H

#include "mpi/datatype/datatype.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

typedef enum {
    XMPI_MODE_STANDARD,
    XMPI_MODE_SYNCHRONOUS,
    XMPI_MODE_BUFFERED,
    XMPI_MODE_READY
} mpi_mode_t;

/* One call's arguments, checked. */
typedef struct {
    mpi_comm_t *comm;
    const void *buffer;
    int64_t count;
    mpi_type_t *type;
    int peer, tag;
    mpi_mode_t mode;
    bool is_blocking; /* a send whose caller waits: its buffer stays as it is until then */
} mpi_transfer_t;

/* The slow half of mpi_transfer_check: names what is wrong, or finds that nothing is. `comm` is
 * what `handle` names, or NULL. */
int mpi_transfer_refuse(mpi_comm_t *comm, MPI_Comm handle, const void *buffer, int64_t count,
                        MPI_Datatype type, int peer, int tag, bool receive);

/* NULL (MPI_BOTTOM) or MPI_IN_PLACE: the two lowest addresses. */
static inline bool mpi_buffer_is_special(const void *buffer)
{
    return (uintptr_t)buffer <= (uintptr_t)MPI_IN_PLACE;
}

/* mpi_transfer_check where the communicator is known already. */
static inline int mpi_transfer_check_on(mpi_rank_t *self, mpi_comm_t *comm, MPI_Comm handle,
                                        const void *buffer, int64_t count, MPI_Datatype datatype,
                                        int peer, int tag, bool receive, mpi_transfer_t *t)
{
    mpi_type_t *type = mpi_type_of(datatype);

    self->call.comm = comm;
    self->call.peer = peer;
    self->call.tag = tag;
    if (__builtin_expect(
            comm == NULL || type == NULL || !type->is_committed ||
                (receive ? (uint64_t)count > (uint64_t)type->most_received : count < 0) ||
                mpi_buffer_is_special(buffer) || (unsigned)peer >= (unsigned)comm->size ||
                comm->remote != NULL || tag < 0,
            0)) {
        int error = mpi_transfer_refuse(comm, handle, buffer, count, datatype, peer, tag, receive);

        if (error != MPI_SUCCESS)
            return error;
        type = mpi_type_or_bytes(datatype);
    }
    *t = (mpi_transfer_t){comm, buffer, count, type, peer, tag, XMPI_MODE_STANDARD, false};
    return MPI_SUCCESS;
}

/* Checks shared by all calls of the family; MPI_SUCCESS or what mpi_error returned. `receive`
 * allows wildcards. On success *t is complete. What most calls pass is seen to be right here. */
static inline int mpi_transfer_check(mpi_rank_t *self, MPI_Comm handle, const void *buffer,
                                     int64_t count, MPI_Datatype datatype, int peer, int tag,
                                     bool receive, mpi_transfer_t *t)
{
    return mpi_transfer_check_on(self, mpi_comm_of(handle), handle, buffer, count, datatype, peer,
                                 tag, receive, t);
}

#endif
