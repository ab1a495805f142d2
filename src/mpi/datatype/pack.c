/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Pack, MPI_Unpack, MPI_Pack_size: packed data is the data bytes in the order of the type map,
 * without headers, so that a packed buffer can be received with the types themselves.
 */
#include <limits.h>

#include "mpi/datatype/calls.h"
#include "mpi/datatype/datatype.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

/* The common arguments of the calls: `bytes` is the size of `count` of `type`. */
typedef struct {
    mpi_comm_t *comm;
    const mpi_type_t *type;
    size_t bytes;
} packing_t;

/* Check the arguments of a pack call and set communicator, type and bytes; returns an MPI error
 * code. */
static int check(packing_t *p, MPI_Comm comm, MPI_Count count, MPI_Datatype datatype)
{
    p->comm = mpi_comm_of_owner(comm);
    p->type = mpi_type_of(datatype);
    if (!p->comm)
        return mpi_error(NULL, MPI_ERR_COMM,
                         mpi_job ? "this is not a communicator"
                                 : "there is no communicator before MPI_Init");
    if (count < 0)
        return mpi_error(p->comm, MPI_ERR_COUNT, "the count is %lld; it must not be negative",
                         (long long)count);
    if (!p->type)
        return mpi_error(p->comm, MPI_ERR_TYPE, "this is not a datatype");
    if (!p->type->is_committed)
        return mpi_error(p->comm, MPI_ERR_TYPE, "%s has not been committed (MPI_Type_commit)",
                         mpi_type_name(p->type));
    if (__builtin_mul_overflow((size_t)count, p->type->size, &p->bytes))
        return mpi_error(p->comm, MPI_ERR_COUNT, "%lld elements of %zu bytes are too many",
                         (long long)count, p->type->size);
    return MPI_SUCCESS;
}

static int check_room(const packing_t *p, MPI_Count position, MPI_Count size, const char *verb)
{
    if (position < 0 || position > size || p->bytes > (size_t)(size - position))
        return mpi_error(p->comm, MPI_ERR_TRUNCATE,
                         "%zu bytes are to be %s at position %lld of a buffer of %lld bytes",
                         p->bytes, verb, (long long)position, (long long)size);
    return MPI_SUCCESS;
}

void mpi_type_note_local(const void *buffer, int64_t count, const mpi_type_t *type, bool is_result)
{
    if (mpi_dispatch.check.local != NULL)
        mpi_dispatch.check.local(buffer, count, type, is_result);
}

void mpi_type_note_packed(const void *packed, size_t bytes, bool is_result)
{
    mpi_type_note_local(packed, (int64_t)bytes, mpi_type_of(MPI_PACKED), is_result);
}

int impl_pack_c(const void *inbuf, MPI_Count count, MPI_Datatype datatype, void *outbuf,
                MPI_Count outsize, MPI_Count *position, MPI_Comm comm)
{
    packing_t p = {0};
    int error;

    error = check(&p, comm, count, datatype);
    if (error == MPI_SUCCESS)
        error = check_room(&p, *position, outsize, "written");
    if (error == MPI_SUCCESS) {
        mpi_type_note_local(inbuf, count, p.type, false);
        mpi_type_note_packed((char *)outbuf + *position, p.bytes, true);
        mpi_type_pack((char *)outbuf + *position, inbuf, count, p.type, 0, p.bytes);
        *position += (MPI_Count)p.bytes;
    }
    return error;
}

int impl_unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                  MPI_Count count, MPI_Datatype datatype, MPI_Comm comm)
{
    packing_t p = {0};
    int error;

    error = check(&p, comm, count, datatype);
    if (error == MPI_SUCCESS)
        error = check_room(&p, *position, insize, "read");
    if (error == MPI_SUCCESS) {
        mpi_type_note_packed((const char *)inbuf + *position, p.bytes, false);
        mpi_type_note_local(outbuf, count, p.type, true);
        mpi_type_unpack(outbuf, count, p.type, (const char *)inbuf + *position, 0, p.bytes);
        *position += (MPI_Count)p.bytes;
    }
    return error;
}

int impl_pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize,
              int *position, MPI_Comm comm)
{
    MPI_Count at = *position;
    int error = impl_pack_c(inbuf, incount, datatype, outbuf, outsize, &at, comm);

    *position = (int)at;
    return error;
}

int impl_unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount,
                MPI_Datatype datatype, MPI_Comm comm)
{
    MPI_Count at = *position;
    int error = impl_unpack_c(inbuf, insize, &at, outbuf, outcount, datatype, comm);

    *position = (int)at;
    return error;
}

int impl_pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size)
{
    packing_t p = {0};
    int error = check(&p, comm, incount, datatype);

    if (error == MPI_SUCCESS)
        *size = (MPI_Count)p.bytes;
    return error;
}

int impl_pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    MPI_Count bytes = 0;
    int error = impl_pack_size_c(incount, datatype, comm, &bytes);

    if (error == MPI_SUCCESS)
        *size = bytes > INT_MAX ? MPI_UNDEFINED : (int)bytes;
    return error;
}
