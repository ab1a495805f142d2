/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/check_arguments.h"

#include "mpi/object/object.h"

int coll_check_comm(mpi_rank_t *self, MPI_Comm handle, coll_call_t *call)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    if (comm == NULL)
        return mpi_error(NULL, MPI_ERR_COMM, "the communicator is %s",
                         handle == MPI_COMM_NULL ? "MPI_COMM_NULL" : "not a valid handle");
    self->call.comm = comm;
    self->call.peer = MPI_UNDEFINED;
    if (comm->remote != NULL)
        return mpi_error(comm, MPI_ERR_UNSUPPORTED_OPERATION,
                         "collectives on intercommunicators are not supported; merge it with "
                         "MPI_Intercomm_merge first");
    /* A communicator of one rank gets its shared part when it is first needed. */
    if (comm->coll == NULL) {
        if (mpi_coll_create(comm->group, comm->context, &comm->coll) != XY_OK)
            return mpi_error(comm, MPI_ERR_NO_MEM, "no memory for collectives");
        mpi_coll_hold(comm->coll);
        mpi_coll_join(comm);
    }
    call->comm = comm;
    return MPI_SUCCESS;
}

int coll_check_root(const coll_call_t *call)
{
    if (call->root >= 0 && call->root < call->comm->size)
        return MPI_SUCCESS;
    return mpi_error(call->comm, MPI_ERR_ROOT, "the root is %d; %s has ranks 0 to %d", call->root,
                     mpi_comm_name(call->comm), call->comm->size - 1);
}

static int check_type(const coll_call_t *call, MPI_Datatype handle, mpi_type_t **type_p)
{
    mpi_type_t *type = mpi_type_of(handle);

    if (type == NULL)
        return mpi_error(call->comm, MPI_ERR_TYPE, "the datatype is not a valid handle");
    if (!type->is_committed)
        return mpi_error(call->comm, MPI_ERR_TYPE,
                         "the datatype was not committed; call MPI_Type_commit first");
    *type_p = type;
    return MPI_SUCCESS;
}

int coll_check_buffer(const coll_call_t *call, const void *buffer, int64_t count, MPI_Datatype type,
                      mpi_type_t **type_p)
{
    if (count < 0)
        return mpi_error(call->comm, MPI_ERR_COUNT, "the count is %lld; it must not be negative",
                         (long long)count);
    if (buffer == MPI_IN_PLACE)
        return mpi_error(call->comm, MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed for this buffer");
    return check_type(call, type, type_p);
}

int coll_check_sides(const coll_call_t *call, uint64_t *bytes_p)
{
    uint64_t room = (uint64_t)call->receive_count * call->receive_type->size;
    uint64_t sent = call->is_in_place ? room : (uint64_t)call->send_count * call->send_type->size;

    *bytes_p = room;
    if (sent <= room)
        return MPI_SUCCESS;
    return mpi_error(call->comm, MPI_ERR_TRUNCATE,
                     "%llu bytes are sent to each rank, and there is room for %llu from each",
                     (unsigned long long)sent, (unsigned long long)room);
}

int coll_check_counts(const coll_call_t *call, coll_vector_t counts, MPI_Datatype type,
                      mpi_type_t **type_p)
{
    for (int r = 0; r < call->comm->size; r++)
        if (coll_count_at(counts, r) < 0)
            return mpi_error(call->comm, MPI_ERR_COUNT,
                             "the count for rank %d is %lld; it must not be negative", r,
                             (long long)coll_count_at(counts, r));
    return type_p == NULL ? MPI_SUCCESS : check_type(call, type, type_p);
}

int coll_check_types(const coll_call_t *call, const MPI_Datatype types[])
{
    mpi_type_t *type;
    int error = MPI_SUCCESS;

    for (int r = 0; r < call->comm->size && error == MPI_SUCCESS; r++)
        error = check_type(call, types[r], &type);
    return error;
}

int coll_check_op(coll_call_t *call, MPI_Op handle)
{
    call->op = mpi_op_of(handle);
    if (call->op == NULL)
        return mpi_error(call->comm, MPI_ERR_OP, "the operation is not a valid handle");
    call->what = (uint8_t)(COLL_WHAT_OP + call->op->kind);
    if (!mpi_op_is_valid_for(call->op, call->receive_type))
        return mpi_error(call->comm, MPI_ERR_OP, "%s is not defined for %s", call->op->name,
                         mpi_type_name(call->receive_type));
    return MPI_SUCCESS;
}
