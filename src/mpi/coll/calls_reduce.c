/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce, MPI_Allreduce, MPI_Reduce_scatter(_block), MPI_Scan, MPI_Exscan and their
 * nonblocking and persistent forms. */
#include "mpi/coll/calls.h"
#include "mpi/coll/check_arguments.h"
#include "mpi/runtime/runtime.h"

/* The arguments that all of them have: `count` elements in, `count` (or the own share) out. */
static int fill_in(mpi_rank_t *self, coll_call_t *call, const void *sendbuf, void *recvbuf,
                   int64_t count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int error = coll_check_comm(self, comm, call);

    call->is_in_place = sendbuf == MPI_IN_PLACE;
    call->send = sendbuf;
    call->receive = recvbuf;
    call->receive_count = count;
    if (error == MPI_SUCCESS)
        error = coll_check_buffer(call, recvbuf, count, type, &call->receive_type);
    if (error == MPI_SUCCESS)
        error = coll_check_op(call, op);
    if (error == MPI_SUCCESS)
        coll_agree_on(call, (uint64_t)count * call->receive_type->size, call->receive_type);
    return error;
}

int impl_reduce(mpi_rank_t *self, const void *sendbuf, void *recvbuf, int64_t count,
                MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, MPI_Request *request,
                bool is_persistent)
{
    coll_call_t call;
    int error;

    coll_call_init(&call, &coll_reduce);
    call.root = root;
    error = fill_in(self, &call, sendbuf, recvbuf, count, type, op, comm);
    if (error == COLL_IS_INTER) {
        coll_given_t receive = {.buffer = recvbuf, .count = count, .type = type};

        return coll_inter_reduce_vectors(self, &call, &coll_inter_reduce, sendbuf, &receive, op,
                                         request, is_persistent);
    }
    if (error == MPI_SUCCESS)
        error = coll_check_root(&call);
    if (error == MPI_SUCCESS && call.is_in_place && call.comm->rank != root)
        error = coll_refuse_in_place(&call);
    if (error == MPI_SUCCESS)
        error = coll_check_memory(&call);
    return coll_go(self, error, &call, request, is_persistent);
}

/* `inter`: what it is on an intercommunicator; NULL: not defined there. */
static int whole_vector(mpi_rank_t *self, const coll_ops_t *kind, const coll_ops_t *inter,
                        const void *sendbuf, void *recvbuf, int64_t count, MPI_Datatype type,
                        MPI_Op op, MPI_Comm comm, MPI_Request *request, bool is_persistent)
{
    coll_call_t call;
    int error;

    coll_call_init(&call, kind);
    error = fill_in(self, &call, sendbuf, recvbuf, count, type, op, comm);
    if (error == COLL_IS_INTER) {
        coll_given_t receive = {.buffer = recvbuf, .count = count, .type = type};

        return coll_inter_reduce_vectors(self, &call, inter, sendbuf, &receive, op, request,
                                         is_persistent);
    }
    if (error == MPI_SUCCESS)
        error = coll_check_memory(&call);
    return coll_go(self, error, &call, request, is_persistent);
}

int impl_allreduce(mpi_rank_t *self, const void *sendbuf, void *recvbuf, int64_t count,
                   MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request,
                   bool is_persistent)
{
    return whole_vector(self, &coll_allreduce, &coll_inter_allreduce, sendbuf, recvbuf, count, type,
                        op, comm, request, is_persistent);
}

int impl_scan(mpi_rank_t *self, const void *sendbuf, void *recvbuf, int64_t count,
              MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request, bool is_persistent)
{
    return whole_vector(self, &coll_scan, NULL, sendbuf, recvbuf, count, type, op, comm, request,
                        is_persistent);
}

int impl_exscan(mpi_rank_t *self, const void *sendbuf, void *recvbuf, int64_t count,
                MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request,
                bool is_persistent)
{
    return whole_vector(self, &coll_exscan, NULL, sendbuf, recvbuf, count, type, op, comm, request,
                        is_persistent);
}

int impl_reduce_scatter_block(mpi_rank_t *self, const void *sendbuf, void *recvbuf,
                              int64_t recvcount, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                              MPI_Request *request, bool is_persistent)
{
    return whole_vector(self, &coll_reduce_scatter_block, &coll_inter_reduce_scatter_block, sendbuf,
                        recvbuf, recvcount, type, op, comm, request, is_persistent);
}

/* All members give the same counts, and so they can agree about the largest. */
static int64_t largest(coll_vector_t counts, int size)
{
    int64_t most = 0;

    for (int r = 0; r < size; r++)
        most = coll_count_at(counts, r) > most ? coll_count_at(counts, r) : most;
    return most;
}

int impl_reduce_scatter(mpi_rank_t *self, const void *sendbuf, void *recvbuf, coll_vector_t counts,
                        MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request,
                        bool is_persistent)
{
    coll_call_t call = {.kind = &coll_reduce_scatter, .receive_counts = counts};
    int error = fill_in(self, &call, sendbuf, recvbuf, 0, type, op, comm);

    if (error == COLL_IS_INTER) {
        coll_given_t receive = {.buffer = recvbuf, .counts = counts, .type = type};

        return coll_inter_reduce_vectors(self, &call, &coll_inter_reduce_scatter, sendbuf, &receive,
                                         op, request, is_persistent);
    }
    if (error == MPI_SUCCESS)
        error = coll_check_counts(&call, call.comm->size, counts, counts, type, &call.receive_type);
    if (error == MPI_SUCCESS)
        coll_agree_on(&call, (uint64_t)largest(counts, call.comm->size) * call.receive_type->size,
                      call.receive_type);
    if (error == MPI_SUCCESS) {
        call.root = coll_split_of(counts, call.comm->size);
        error = coll_check_memory(&call);
    }
    if (error == MPI_SUCCESS && request == NULL)
        coll_show_shares(&call);
    error = coll_go(self, error, &call, request, is_persistent);
    if (error == MPI_SUCCESS && request == NULL)
        call.comm->shares = NULL;
    return error;
}
