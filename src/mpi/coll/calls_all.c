/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgather(v), MPI_Alltoall(v, w) and their nonblocking and persistent forms. */
#include "mpi/coll/calls.h"
#include "mpi/coll/check_arguments.h"
#include "mpi/runtime/runtime.h"

static const coll_vector_t none;

/* The blocks of an allgatherv differ in size; if there is data at all, its type is the same. */
static void agree_on_vector(coll_call_t *call)
{
    int r = 0;

    while (r < call->comm->size && coll_count_at(call->receive_counts, r) == 0)
        r++;
    coll_agree_on_type(call, r < call->comm->size ? call->receive_type : NULL);
    if (!call->is_in_place)
        coll_check_own_types(call, (uint64_t)call->send_count * call->send_type->size);
}

/* Check the arguments of all forms of allgather and start it; returns an MPI error code. */
static int allgather(mpi_rank_t *self, const void *sendbuf, int64_t sendcount,
                     MPI_Datatype sendtype, void *recvbuf, int64_t recvcount, coll_vector_t counts,
                     coll_vector_t displs, MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request *request, bool is_persistent)
{
    bool is_vector = recvcount == COLL_VECTOR;
    coll_call_t call = {.kind = is_vector ? &coll_allgatherv : &coll_allgather,
                        .send = sendbuf,
                        .send_count = sendcount,
                        .receive = recvbuf,
                        .receive_count = is_vector ? 0 : recvcount,
                        .receive_counts = counts,
                        .receive_displacements = displs,
                        .is_in_place = sendbuf == MPI_IN_PLACE};
    int error = coll_check_comm(self, comm, &call);

    if (error == COLL_IS_INTER) {
        coll_given_t send = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
        coll_given_t receive = {recvbuf, recvcount, counts, displs, recvtype, NULL};

        return coll_inter_move(self, &call,
                               is_vector ? &coll_inter_allgatherv : &coll_inter_allgather, &send,
                               &receive, request, is_persistent);
    }
    if (error == MPI_SUCCESS && !call.is_in_place)
        error = coll_check_buffer(&call, sendbuf, sendcount, sendtype, &call.send_type);
    if (error == MPI_SUCCESS && is_vector)
        error =
            coll_check_counts(&call, call.comm->size, counts, displs, recvtype, &call.receive_type);
    else if (error == MPI_SUCCESS)
        error = coll_check_buffer(&call, recvbuf, recvcount, recvtype, &call.receive_type);
    if (error == MPI_SUCCESS && !is_vector)
        error = coll_check_sides(&call);
    else if (error == MPI_SUCCESS)
        agree_on_vector(&call);
    if (error == MPI_SUCCESS)
        error = coll_check_memory(&call);
    return coll_go(self, error, &call, request, is_persistent);
}

int impl_allgather(mpi_rank_t *self, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                   void *recvbuf, int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                   MPI_Request *request, bool is_persistent)
{
    return allgather(self, sendbuf, sendcount, sendtype, recvbuf, recvcount, none, none, recvtype,
                     comm, request, is_persistent);
}

int impl_allgatherv(mpi_rank_t *self, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                    void *recvbuf, coll_vector_t counts, coll_vector_t displs,
                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request, bool is_persistent)
{
    return allgather(self, sendbuf, sendcount, sendtype, recvbuf, COLL_VECTOR, counts, displs,
                     recvtype, comm, request, is_persistent);
}

int impl_alltoall(mpi_rank_t *self, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                  void *recvbuf, int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                  MPI_Request *request, bool is_persistent)
{
    coll_call_t call = {.kind = &coll_alltoall,
                        .send = sendbuf,
                        .send_count = sendcount,
                        .receive = recvbuf,
                        .receive_count = recvcount,
                        .is_in_place = sendbuf == MPI_IN_PLACE,
                        .what = sendbuf == MPI_IN_PLACE ? COLL_WHAT_IN_PLACE : COLL_WHAT_NONE};
    int error = coll_check_comm(self, comm, &call);

    if (error == COLL_IS_INTER) {
        coll_given_t send = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
        coll_given_t receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

        return coll_inter_move(self, &call, &coll_inter_alltoall, &send, &receive, request,
                               is_persistent);
    }
    if (error == MPI_SUCCESS && !call.is_in_place)
        error = coll_check_buffer(&call, sendbuf, sendcount, sendtype, &call.send_type);
    if (error == MPI_SUCCESS)
        error = coll_check_buffer(&call, recvbuf, recvcount, recvtype, &call.receive_type);
    if (error == MPI_SUCCESS)
        error = coll_check_sides(&call);
    if (error == MPI_SUCCESS)
        error = coll_check_memory(&call);
    return coll_go(self, error, &call, request, is_persistent);
}

int impl_alltoallv(mpi_rank_t *self, const void *sendbuf, coll_vector_t sendcounts,
                   coll_vector_t sdispls, MPI_Datatype sendtype, void *recvbuf,
                   coll_vector_t recvcounts, coll_vector_t rdispls, MPI_Datatype recvtype,
                   MPI_Comm comm, MPI_Request *request, bool is_persistent)
{
    coll_call_t call = {.kind = &coll_alltoallv,
                        .send = sendbuf,
                        .send_counts = sendcounts,
                        .send_displacements = sdispls,
                        .receive = recvbuf,
                        .receive_counts = recvcounts,
                        .receive_displacements = rdispls,
                        .is_in_place = sendbuf == MPI_IN_PLACE,
                        .what = sendbuf == MPI_IN_PLACE ? COLL_WHAT_IN_PLACE : COLL_WHAT_NONE};
    int error = coll_check_comm(self, comm, &call);

    if (error == COLL_IS_INTER) {
        coll_given_t send = {sendbuf, COLL_VECTOR, sendcounts, sdispls, sendtype, NULL};
        coll_given_t receive = {recvbuf, COLL_VECTOR, recvcounts, rdispls, recvtype, NULL};

        return coll_inter_move(self, &call, &coll_inter_alltoallv, &send, &receive, request,
                               is_persistent);
    }
    if (error == MPI_SUCCESS && !call.is_in_place)
        error = coll_check_counts(&call, call.comm->size, sendcounts, sdispls, sendtype,
                                  &call.send_type);
    if (error == MPI_SUCCESS)
        error = coll_check_counts(&call, call.comm->size, recvcounts, rdispls, recvtype,
                                  &call.receive_type);
    if (error == MPI_SUCCESS)
        error = coll_check_memory(&call);
    return coll_go(self, error, &call, request, is_persistent);
}

int impl_alltoallw(mpi_rank_t *self, const void *sendbuf, coll_vector_t sendcounts,
                   coll_vector_t sdispls, const MPI_Datatype sendtypes[], void *recvbuf,
                   coll_vector_t recvcounts, coll_vector_t rdispls, const MPI_Datatype recvtypes[],
                   MPI_Comm comm, MPI_Request *request, bool is_persistent)
{
    coll_call_t call = {.kind = &coll_alltoallw,
                        .send = sendbuf,
                        .send_counts = sendcounts,
                        .send_displacements = sdispls,
                        .send_types = sendtypes,
                        .receive = recvbuf,
                        .receive_counts = recvcounts,
                        .receive_displacements = rdispls,
                        .receive_types = recvtypes,
                        .is_in_place = sendbuf == MPI_IN_PLACE,
                        .what = sendbuf == MPI_IN_PLACE ? COLL_WHAT_IN_PLACE : COLL_WHAT_NONE};
    int error = coll_check_comm(self, comm, &call);

    if (error == COLL_IS_INTER) {
        coll_given_t send = {sendbuf, COLL_VECTOR,       sendcounts,
                             sdispls, MPI_DATATYPE_NULL, sendtypes};
        coll_given_t receive = {recvbuf, COLL_VECTOR,       recvcounts,
                                rdispls, MPI_DATATYPE_NULL, recvtypes};

        return coll_inter_move(self, &call, &coll_inter_alltoallw, &send, &receive, request,
                               is_persistent);
    }
    if (error == MPI_SUCCESS && !call.is_in_place)
        error =
            coll_check_counts(&call, call.comm->size, sendcounts, sdispls, MPI_DATATYPE_NULL, NULL);
    if (error == MPI_SUCCESS && !call.is_in_place)
        error = coll_check_types(&call, call.comm->size, sendcounts, sendtypes);
    if (error == MPI_SUCCESS)
        error =
            coll_check_counts(&call, call.comm->size, recvcounts, rdispls, MPI_DATATYPE_NULL, NULL);
    if (error == MPI_SUCCESS)
        error = coll_check_types(&call, call.comm->size, recvcounts, recvtypes);
    if (error == MPI_SUCCESS)
        error = coll_check_memory(&call);
    return coll_go(self, error, &call, request, is_persistent);
}
