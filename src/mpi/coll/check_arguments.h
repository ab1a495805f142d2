/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of arguments that the collective calls share. Each returns MPI_SUCCESS or what mpi_error
 * returned. */
#ifndef XY_MPI_COLL_CHECK_ARGUMENTS_H
#define XY_MPI_COLL_CHECK_ARGUMENTS_H

#include "mpi/coll/coll.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

/* The result of coll_check_comm for an intercommunicator, which is no error: calls_inter.c
 * continues.
 */
enum { COLL_IS_INTER = -1 };

/* The rest of coll_check_comm: no communicator, an intercommunicator, or one that is new. */
int coll_check_other_comm(MPI_Comm handle, coll_call_t *call);

/* The communicator, into call->comm. */
static inline int coll_check_comm(mpi_rank_t *self, MPI_Comm handle, coll_call_t *call)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    call->comm = comm;
    if (comm != NULL) {
        self->call.comm = comm;
        self->call.peer = MPI_UNDEFINED;
        if (__builtin_expect(comm->remote == NULL && comm->coll != NULL, 1))
            return MPI_SUCCESS;
    }
    return coll_check_other_comm(handle, call);
}

int coll_check_root(const coll_call_t *call);
int coll_refuse_in_place(const coll_call_t *call) __attribute__((cold));
/* A buffer of `count` elements of `type`, whose object goes to *type_p. */
int coll_check_buffer(const coll_call_t *call, const void *buffer, int64_t count, MPI_Datatype type,
                      mpi_type_t **type_p);
/* A block is as large on both sides, and on all members: that is what they agree on. */
int coll_check_sides(coll_call_t *call);
/* A member gives `bytes` to itself: as what it takes them? Warns otherwise. */
void coll_refuse_own_types(const coll_call_t *call, uint64_t bytes) __attribute__((cold));
static inline void coll_check_own_types(const coll_call_t *call, uint64_t bytes)
{
    if (__builtin_expect(call->send_type->signature != call->receive_type->signature, 0))
        coll_refuse_own_types(call, bytes);
}
/* MPI_IN_PLACE is only where it may be, no buffer with data is NULL, and the two are not the same.
 * The call has all its arguments. */
int coll_refuse_memory(coll_call_t *call) __attribute__((cold));
static inline int coll_check_memory(coll_call_t *call)
{
    if (__builtin_expect(call->send != NULL && !mpi_buffer_is_special(call->receive) &&
                             call->send != call->receive,
                         1))
        return MPI_SUCCESS;
    return coll_refuse_memory(call);
}
/* In place of the count of a regular block: there is a vector of counts. No small number: where a
 * count is not significant, programs pass -1. */
#define COLL_VECTOR INT64_MIN

/* `n` counts, one for each member, and where their blocks are; their type, when `type_p` is not
 * NULL. */
int coll_check_counts(coll_call_t *call, int n, coll_vector_t counts, coll_vector_t displacements,
                      MPI_Datatype type, mpi_type_t **type_p);
int coll_check_types(const coll_call_t *call, int n, coll_vector_t counts,
                     const MPI_Datatype types[]);
/* The operation, into call->op; call->receive_type is set. */
int coll_check_op(coll_call_t *call, MPI_Op handle);

/* More bytes than any memory has. */
int coll_refuse_size(const coll_call_t *call) __attribute__((cold));

/* Run it (request NULL), start it, or make a persistent request, unless the checks found an error.
 */
static inline int coll_go(mpi_rank_t *self, int error, coll_call_t *call, MPI_Request *request,
                          bool is_persistent)
{
    if (error != MPI_SUCCESS)
        return error;
    if (__builtin_expect(call->bytes >> COLL_BYTES_BITS != 0, 0))
        return coll_refuse_size(call);
    if (request != NULL)
        return is_persistent ? coll_init(self, call, request) : coll_start(self, call, request);
    if (__builtin_expect(mpi_dispatch.check.collective != NULL, 0))
        mpi_dispatch.check.collective(call);
    return coll_run(self, call);
}

/* ---- On intercommunicators (calls_inter.c) ---- */

/* One side of a call as the program gave it. */
typedef struct {
    const void *buffer;
    int64_t count;
    coll_vector_t counts, displacements;
    MPI_Datatype type;
    const MPI_Datatype *types;
} coll_given_t;

/* `call` has the communicator and the root of the program; check the rest and go. */
int coll_inter_move(mpi_rank_t *self, coll_call_t *call, const coll_ops_t *kind,
                    const coll_given_t *send, const coll_given_t *receive, MPI_Request *request,
                    bool is_persistent);
/* The same for reductions: `counts` of reduce_scatter, or `count`. */
int coll_inter_reduce_vectors(mpi_rank_t *self, coll_call_t *call, const coll_ops_t *kind,
                              const void *sendbuf, const coll_given_t *receive, MPI_Op op,
                              MPI_Request *request, bool is_persistent);
int coll_inter_meet(mpi_rank_t *self, coll_call_t *call, MPI_Request *request, bool is_persistent);

#endif
