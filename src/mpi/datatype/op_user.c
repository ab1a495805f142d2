/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of the program, and MPI_Reduce_local.
 */
#include "base/base.h"
#include "mpi/datatype/calls.h"
#include "mpi/datatype/op.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

/* Create an operation of the program; the program owns the handle. */
int part_op_create(MPI_User_function *fn, MPI_User_function_c *fn_c, int commute, MPI_Op *handle)
{
    mpi_op_t *op;

    if ((!fn && !fn_c) || !handle)
        return mpi_error(NULL, MPI_ERR_ARG, "%s is NULL",
                         handle ? "the function" : "the address for the operation");
    op = xy_calloc(1, sizeof *op);
    if (!op)
        return mpi_error(NULL, MPI_ERR_NO_MEM, "memory ran out while making an operation");
    op->kind = XMPI_OP_KIND_USER;
    op->is_commutative = commute != 0;
    op->name = "a user-defined operation";
    op->fn = fn;
    op->fn_c = fn_c;
    atomic_init(&op->references, 1);
    mpi_life_begin(&op->life, XMPI_LIFE_OP);
    *handle = (MPI_Op)(void *)op;
    return MPI_SUCCESS;
}

void mpi_op_set_through(MPI_Op handle, mpi_op_through_fn *through)
{
    mpi_op_of(handle)->through = through;
}

void mpi_op_destroy(mpi_op_t *op)
{
    mpi_life_bury(op);
}

int impl_op_free(MPI_Op *op)
{
    mpi_op_t *object = op ? mpi_op_of(*op) : NULL;

    if (!object)
        return mpi_error(NULL, MPI_ERR_OP, "this is not an operation");
    if (object->is_predefined)
        return mpi_error(NULL, MPI_ERR_OP, "%s is predefined and cannot be freed", object->name);
    *op = MPI_OP_NULL;
    mpi_life_end(&object->life);
    mpi_op_release(object);
    return MPI_SUCCESS;
}

int impl_op_commutative(MPI_Op op, int *commute)
{
    const mpi_op_t *object = mpi_op_of(op);

    if (!object)
        return mpi_error(NULL, MPI_ERR_OP, "this is not an operation");
    *commute = object->is_commutative;
    return MPI_SUCCESS;
}

int impl_reduce_local(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op)
{
    const mpi_type_t *type = mpi_type_of(datatype);
    const mpi_op_t *object = mpi_op_of(op);

    if (count < 0)
        return mpi_error(NULL, MPI_ERR_COUNT, "the count is %lld; it must not be negative",
                         (long long)count);
    if (!type)
        return mpi_error(NULL, MPI_ERR_TYPE, "this is not a datatype");
    if (!object)
        return mpi_error(NULL, MPI_ERR_OP, "this is not an operation");
    if (mpi_op_is_one_sided(object))
        return mpi_error(NULL, MPI_ERR_OP, XMPI_OP_ONE_SIDED, object->name);
    if (!mpi_op_is_valid_for(object, type))
        return mpi_op_error(object, type);
    if (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE)
        return mpi_error(NULL, MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed for a buffer");
    if (count > 0 && type->size > 0 && inbuf == inoutbuf)
        return mpi_error(NULL, MPI_ERR_BUFFER, "both buffers are at the same address");
    if (count > 0 && type->size > 0 && mpi_type_is_contiguous(type) && (!inbuf || !inoutbuf))
        return mpi_error(NULL, MPI_ERR_BUFFER, "the argument %s is NULL and there is data for it",
                         inbuf ? "inoutbuf" : "inbuf");
    mpi_type_note_local(inbuf, count, type, false);
    mpi_type_note_local(inoutbuf, count, type, true);
    mpi_op_apply(object, inbuf, inoutbuf, count, type);
    return MPI_SUCCESS;
}
