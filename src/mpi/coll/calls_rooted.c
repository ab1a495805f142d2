/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Barrier, MPI_Bcast, MPI_Gather(v), MPI_Scatter(v) and their nonblocking and persistent forms.
 */
#include "mpi/coll/calls.h"
#include "mpi/coll/check_arguments.h"
#include "mpi/runtime/runtime.h"

int impl_barrier(mpi_rank_t *self, MPI_Comm comm, MPI_Request *request, bool is_persistent)
{
    coll_call_t call;
    int error;

    coll_call_init(&call, &coll_barrier);
    error = coll_check_comm(self, comm, &call);
    if (error != MPI_SUCCESS)
        return error == COLL_IS_INTER ? coll_inter_meet(self, &call, request, is_persistent)
                                      : error;
    return coll_go(self, error, &call, request, is_persistent);
}

int impl_bcast(mpi_rank_t *self, void *buffer, int64_t count, MPI_Datatype type, int root,
               MPI_Comm comm, MPI_Request *request, bool is_persistent)
{
    coll_call_t call;
    int error;

    coll_call_init(&call, &coll_bcast);
    call.root = root;
    error = coll_check_comm(self, comm, &call);
    if (error == COLL_IS_INTER) {
        coll_given_t given = {.buffer = buffer, .count = count, .type = type};

        return coll_inter_move(self, &call, &coll_inter_bcast, &given, &given, request,
                               is_persistent);
    }
    if (error == MPI_SUCCESS)
        error = coll_check_root(&call);
    if (error == MPI_SUCCESS)
        error = coll_check_buffer(&call, buffer, count, type, &call.receive_type);
    if (error == MPI_SUCCESS) {
        call.send_type = call.receive_type;
        call.send = call.receive = buffer;
        call.send_count = call.receive_count = count;
        coll_agree_on(&call, (uint64_t)count * call.receive_type->size, call.receive_type);
        if (buffer == NULL)
            error = coll_refuse_memory(&call);
    }
    return coll_go(self, error, &call, request, is_persistent);
}

/* Check the arguments that only the root gives: its regular blocks (count) or its vector of them.
 */
static int check_root_side(coll_call_t *call, const void *buffer, int64_t count,
                           coll_vector_t counts, coll_vector_t displacements, MPI_Datatype type,
                           mpi_type_t **type_p)
{
    if (call->comm->rank != call->root)
        return MPI_SUCCESS;
    if (count == COLL_VECTOR && buffer == MPI_IN_PLACE)
        return coll_refuse_in_place(call);
    if (count == COLL_VECTOR)
        return coll_check_counts(call, call->comm->size, counts, displacements, type, type_p);
    return coll_check_buffer(call, buffer, count, type, type_p);
}

/* Compare the block of a member, or all blocks at the root, with the others. Without elements its
 * type is not compared. `other`: the root's own block on the other side. */
static void agree(coll_call_t *call, int64_t count, const mpi_type_t *type, int64_t other_count,
                  const mpi_type_t *other)
{
    bool is_vector = call->kind == &coll_gatherv || call->kind == &coll_scatterv;

    if (is_vector)
        coll_agree_on_type(call, count != 0 ? type : NULL);
    else
        coll_agree_on(call, (uint64_t)count * type->size, type);
    if (other != NULL)
        coll_check_own_types(call, (uint64_t)other_count * other->size);
}

/* Check the arguments of all forms of gather and start it; returns an MPI error code. */
static int gather(mpi_rank_t *self, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                  void *recvbuf, int64_t recvcount, coll_vector_t counts, coll_vector_t displs,
                  MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request,
                  bool is_persistent)
{
    bool is_vector = recvcount == COLL_VECTOR;
    coll_call_t call = {.kind = is_vector ? &coll_gatherv : &coll_gather,
                        .root = root,
                        .send = sendbuf,
                        .send_count = sendcount,
                        .receive = recvbuf,
                        .receive_count = recvcount,
                        .receive_counts = counts,
                        .receive_displacements = displs,
                        .is_in_place = sendbuf == MPI_IN_PLACE};
    int error = coll_check_comm(self, comm, &call);

    if (error == COLL_IS_INTER) {
        coll_given_t send = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
        coll_given_t receive = {recvbuf, recvcount, counts, displs, recvtype, NULL};

        return coll_inter_move(self, &call, is_vector ? &coll_inter_gatherv : &coll_inter_gather,
                               &send, &receive, request, is_persistent);
    }
    if (error == MPI_SUCCESS)
        error = coll_check_root(&call);
    if (error == MPI_SUCCESS)
        error = check_root_side(&call, recvbuf, recvcount, counts, displs, recvtype,
                                &call.receive_type);
    if (error == MPI_SUCCESS && !(call.is_in_place && call.comm->rank == root))
        error = coll_check_buffer(&call, sendbuf, sendcount, sendtype, &call.send_type);
    if (error == MPI_SUCCESS && call.comm->rank == root)
        agree(&call, recvcount, call.receive_type, sendcount, call.send_type);
    else if (error == MPI_SUCCESS)
        agree(&call, sendcount, call.send_type, 0, NULL);
    if (error == MPI_SUCCESS)
        error = coll_check_memory(&call);
    return coll_go(self, error, &call, request, is_persistent);
}

static const coll_vector_t none;

int impl_gather(mpi_rank_t *self, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                void *recvbuf, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                MPI_Request *request, bool is_persistent)
{
    return gather(self, sendbuf, sendcount, sendtype, recvbuf, recvcount, none, none, recvtype,
                  root, comm, request, is_persistent);
}

int impl_gatherv(mpi_rank_t *self, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                 void *recvbuf, coll_vector_t counts, coll_vector_t displs, MPI_Datatype recvtype,
                 int root, MPI_Comm comm, MPI_Request *request, bool is_persistent)
{
    return gather(self, sendbuf, sendcount, sendtype, recvbuf, COLL_VECTOR, counts, displs,
                  recvtype, root, comm, request, is_persistent);
}

/* Check the arguments of all forms of scatter and start it; returns an MPI error code. */
static int scatter(mpi_rank_t *self, const void *sendbuf, int64_t sendcount, coll_vector_t counts,
                   coll_vector_t displs, MPI_Datatype sendtype, void *recvbuf, int64_t recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request,
                   bool is_persistent)
{
    bool is_vector = sendcount == COLL_VECTOR;
    coll_call_t call = {.kind = is_vector ? &coll_scatterv : &coll_scatter,
                        .root = root,
                        .send = sendbuf,
                        .send_count = sendcount,
                        .send_counts = counts,
                        .send_displacements = displs,
                        .receive = recvbuf,
                        .receive_count = recvcount,
                        .is_in_place = recvbuf == MPI_IN_PLACE};
    int error = coll_check_comm(self, comm, &call);

    if (error == COLL_IS_INTER) {
        coll_given_t send = {sendbuf, sendcount, counts, displs, sendtype, NULL};
        coll_given_t receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

        return coll_inter_move(self, &call, is_vector ? &coll_inter_scatterv : &coll_inter_scatter,
                               &send, &receive, request, is_persistent);
    }
    if (error == MPI_SUCCESS)
        error = coll_check_root(&call);
    if (error == MPI_SUCCESS)
        error =
            check_root_side(&call, sendbuf, sendcount, counts, displs, sendtype, &call.send_type);
    if (error == MPI_SUCCESS && !(call.is_in_place && call.comm->rank == root))
        error = coll_check_buffer(&call, recvbuf, recvcount, recvtype, &call.receive_type);
    if (error == MPI_SUCCESS && call.comm->rank == root)
        agree(&call, sendcount, call.send_type, recvcount, call.receive_type);
    else if (error == MPI_SUCCESS)
        agree(&call, recvcount, call.receive_type, 0, NULL);
    if (error == MPI_SUCCESS)
        error = coll_check_memory(&call);
    return coll_go(self, error, &call, request, is_persistent);
}

int impl_scatter(mpi_rank_t *self, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                 void *recvbuf, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                 MPI_Request *request, bool is_persistent)
{
    return scatter(self, sendbuf, sendcount, none, none, sendtype, recvbuf, recvcount, recvtype,
                   root, comm, request, is_persistent);
}

int impl_scatterv(mpi_rank_t *self, const void *sendbuf, coll_vector_t counts, coll_vector_t displs,
                  MPI_Datatype sendtype, void *recvbuf, int64_t recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm, MPI_Request *request, bool is_persistent)
{
    return scatter(self, sendbuf, COLL_VECTOR, counts, displs, sendtype, recvbuf, recvcount,
                   recvtype, root, comm, request, is_persistent);
}
