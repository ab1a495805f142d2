/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of arguments that the collective calls share. Each returns MPI_SUCCESS or what mpi_error
 * returned. */
#ifndef XY_MPI_COLL_CHECK_ARGUMENTS_H
#define XY_MPI_COLL_CHECK_ARGUMENTS_H

#include "mpi/coll/coll.h"
#include "mpi/runtime/runtime.h"

/* The communicator, into call->comm; intracommunicators only. */
int coll_check_comm(mpi_rank_t *self, MPI_Comm handle, coll_call_t *call);
int coll_check_root(const coll_call_t *call);
/* A buffer of `count` elements of `type`, whose object goes to *type_p. */
int coll_check_buffer(const coll_call_t *call, const void *buffer, int64_t count, MPI_Datatype type,
                      mpi_type_t **type_p);
/* A block is as large on both sides, all of which have the same: not larger where it is sent. Its
 * bytes. */
int coll_check_sides(const coll_call_t *call, uint64_t *bytes_p);
/* No buffer with data is NULL, and the two are not the same. The call has all its arguments. */
int coll_refuse_memory(const coll_call_t *call) __attribute__((cold));
static inline int coll_check_memory(const coll_call_t *call)
{
    if (__builtin_expect(call->send != NULL && call->receive != NULL && call->send != call->receive,
                         1))
        return MPI_SUCCESS;
    return coll_refuse_memory(call);
}
/* One count for each member; its type, when `type_p` is not NULL. */
int coll_check_counts(const coll_call_t *call, coll_vector_t counts, MPI_Datatype type,
                      mpi_type_t **type_p);
int coll_check_types(const coll_call_t *call, const MPI_Datatype types[]);
/* The operation, into call->op; call->receive_type is set. */
int coll_check_op(coll_call_t *call, MPI_Op handle);

/* Run it (request NULL) or start it, unless the checks found an error. */
static inline int coll_go(mpi_rank_t *self, int error, coll_call_t *call, MPI_Request *request)
{
    if (error != MPI_SUCCESS)
        return error;
    if (request != NULL)
        return coll_start(self, call, request);
    coll_run(self, call);
    return MPI_SUCCESS;
}

#endif
