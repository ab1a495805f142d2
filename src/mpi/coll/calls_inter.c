/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arguments of collectives on intercommunicators. Which of them mean something depends on the
 * member: all of one group name a root of the other; in the root's group, the root says MPI_ROOT
 * and the others MPI_PROC_NULL. Nothing can be in place. The call then goes to the communicator of
 * both groups, with the root as that one numbers it.
 */
#include "mpi/coll/check_arguments.h"

#include "mpi/object/object.h"

/* The program's root, in the numbers of both groups. */
static int find_root(coll_call_t *call)
{
    const mpi_comm_t *comm = call->comm;
    int root = call->root;

    if (!call->kind->is_rooted) {
        call->root = 0;
    } else if (root == MPI_ROOT) {
        call->root = comm->merged->rank;
    } else if (root == MPI_PROC_NULL) {
        call->root = comm->is_high ? COLL_ROOT_HIGH : COLL_ROOT_LOW;
    } else if (root >= 0 && root < comm->remote->size) {
        call->root = comm->is_high ? root : comm->size + root;
    } else {
        return mpi_error(
            call->comm, MPI_ERR_ROOT,
            "the root is %d; the other group of %s has ranks 0 to %d, and members of the "
            "root's group say MPI_ROOT or MPI_PROC_NULL",
            mpi_number_passed(root), mpi_comm_name(comm), comm->remote->size - 1);
    }
    return MPI_SUCCESS;
}

/* The collective is one of both groups; errors have been found on the program's communicator. */
static int go(mpi_rank_t *self, coll_call_t *call, MPI_Request *request, bool is_persistent)
{
    call->comm = call->comm->merged;
    return coll_go(self, MPI_SUCCESS, call, request, is_persistent);
}

int coll_inter_meet(mpi_rank_t *self, coll_call_t *call, MPI_Request *request, bool is_persistent)
{
    return go(self, call, request, is_persistent);
}

/* A side with vectors, or with one count for all blocks. */
static int check_side(coll_call_t *call, const coll_given_t *given, mpi_type_t **type_p)
{
    int n = call->comm->remote->size;
    int error = MPI_SUCCESS;

    if (given->count != COLL_VECTOR)
        return coll_check_buffer(call, given->buffer, given->count, given->type, type_p);
    if (given->buffer == MPI_IN_PLACE)
        return mpi_error(call->comm, MPI_ERR_BUFFER,
                         "MPI_IN_PLACE is not allowed on an intercommunicator");
    error = coll_check_counts(call, n, given->counts, given->displacements, given->type,
                              given->types != NULL ? NULL : type_p);
    return error == MPI_SUCCESS && given->types != NULL
               ? coll_check_types(call, n, given->counts, given->types)
               : error;
}

static int64_t regular_count(const coll_given_t *given)
{
    return given->count == COLL_VECTOR ? 0 : given->count;
}

static int take_send(coll_call_t *call, const coll_given_t *given)
{
    call->send = given->buffer;
    call->send_count = regular_count(given);
    call->send_counts = given->counts;
    call->send_displacements = given->displacements;
    call->send_types = given->types;
    return check_side(call, given, &call->send_type);
}

static int take_receive(coll_call_t *call, const coll_given_t *given)
{
    call->receive = (void *)(uintptr_t)given->buffer;
    call->receive_count = regular_count(given);
    call->receive_counts = given->counts;
    call->receive_displacements = given->displacements;
    call->receive_types = given->types;
    return check_side(call, given, &call->receive_type);
}

/* On a block, where all who know the root give the same. */
static void agree_on_block(coll_call_t *call)
{
    xy_collective_t c = call->kind->collective;

    if (c != XY_COLL_BCAST && c != XY_COLL_GATHER && c != XY_COLL_SCATTER)
        return;
    if (call->send_type != NULL)
        coll_agree_on(call, (uint64_t)call->send_count * call->send_type->size, call->send_type);
    else if (call->receive_type != NULL)
        coll_agree_on(call, (uint64_t)call->receive_count * call->receive_type->size,
                      call->receive_type);
}

/* A call has neither side before it is known which ones it has. */
static void begin(coll_call_t *call, const coll_ops_t *kind)
{
    *call = (coll_call_t){.kind = kind, .comm = call->comm, .root = call->root};
}

int coll_inter_move(mpi_rank_t *self, coll_call_t *call, const coll_ops_t *kind,
                    const coll_given_t *send, const coll_given_t *receive, MPI_Request *request,
                    bool is_persistent)
{
    int error;

    begin(call, kind);
    error = find_root(call);
    call->rank = call->comm->merged->rank;
    if (error == MPI_SUCCESS && coll_inter_gives(call))
        error = take_send(call, send);
    if (error == MPI_SUCCESS && coll_inter_gets(call))
        error = take_receive(call, receive);
    if (error != MPI_SUCCESS)
        return error;
    agree_on_block(call);
    return go(self, call, request, is_persistent);
}

/* ---- Reductions ---- */

/* Check the vectors and the operation of a reduction between two groups; returns an MPI error code.
 * */
static int check_vectors(coll_call_t *call, const coll_given_t *receive, MPI_Op op)
{
    int own = call->comm->size, error;

    if (call->send == MPI_IN_PLACE)
        return mpi_error(call->comm, MPI_ERR_BUFFER,
                         "MPI_IN_PLACE is not allowed on an intercommunicator");
    error = coll_check_buffer(call, receive->buffer, receive->count, receive->type,
                              &call->receive_type);
    if (error == MPI_SUCCESS && receive->counts.data != NULL)
        error = coll_check_counts(call, own, receive->counts, receive->counts, receive->type,
                                  &call->receive_type);
    return error == MPI_SUCCESS ? coll_check_op(call, op) : error;
}

/* The length of both vectors is the same; what becomes of them is not. */
static uint64_t vector_bytes(const coll_call_t *call)
{
    uint64_t n = (uint64_t)call->receive_count;

    if (call->kind->collective == XY_COLL_REDUCE_SCATTER_BLOCK)
        n *= (uint64_t)call->comm->size;
    for (int r = 0; call->receive_counts.data != NULL && r < call->comm->size; r++)
        n += (uint64_t)coll_count_at(call->receive_counts, r);
    return n * call->receive_type->size;
}

int coll_inter_reduce_vectors(mpi_rank_t *self, coll_call_t *call, const coll_ops_t *kind,
                              const void *sendbuf, const coll_given_t *receive, MPI_Op op,
                              MPI_Request *request, bool is_persistent)
{
    int error;

    if (kind == NULL)
        return mpi_error(call->comm, MPI_ERR_COMM,
                         "%s is an intercommunicator, for which %s is not defined",
                         mpi_comm_name(call->comm), self->call.name);
    begin(call, kind);
    error = find_root(call);
    call->rank = call->comm->merged->rank;
    if (error == MPI_SUCCESS && (coll_inter_gives(call) || coll_inter_gets(call))) {
        call->send = coll_inter_gives(call) ? sendbuf : NULL;
        call->receive = (void *)(uintptr_t)receive->buffer;
        call->receive_count = receive->count;
        call->receive_counts = receive->counts;
        error = check_vectors(call, receive, op);
        if (error == MPI_SUCCESS)
            coll_agree_on(call, vector_bytes(call), call->receive_type);
        if (kind->stays) /* some do not know the operation */
            call->what = COLL_WHAT_NONE;
    }
    return error == MPI_SUCCESS ? go(self, call, request, is_persistent) : error;
}
