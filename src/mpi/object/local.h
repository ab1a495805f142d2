/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors of calls that touch nothing but the memory of the calling rank (datatypes, operations,
 * packing). They never park, so they are not tracked while they run; the call is noted when there
 * is something to say about it.
 *
 *   if (count < 0)
 *       return XMPI_LOCAL_ERROR("MPI_Type_contiguous", MPI_ERR_COUNT, "the count is %d", count);
 */
#ifndef XY_MPI_OBJECT_LOCAL_H
#define XY_MPI_OBJECT_LOCAL_H

#include "mpi/object/error.h"

static inline void mpi_local_begin(const char *call, const void *site)
{
    if (mpi_self)
        mpi_call_begin(mpi_self, call, site);
}

static inline int mpi_local_end(int error)
{
    if (mpi_self)
        mpi_call_end(mpi_self);
    return error;
}

/* mpi_error() on behalf of `call`, without a communicator. Its value is the error code. */
#define XMPI_LOCAL_ERROR(call, error_class, ...)                                                   \
    mpi_local_end((mpi_local_begin(call, __builtin_return_address(0)),                             \
                   mpi_error(NULL, error_class, __VA_ARGS__)))

#endif
