/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of neighbourhood collectives: what they have in common is in neighbor.c. */
#include "mpi/runtime/runtime.h"
#include "mpi/topo/calls.h"
#include "mpi/topo/neighbor.h"

int impl_neighbor_allgather(mpi_rank_t *self, const void *sendbuf, int64_t sendcount,
                            MPI_Datatype sendtype, void *recvbuf, int64_t recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request,
                            bool is_persistent)
{
    mpi_blocks_t send = {.buffer = sendbuf, .count = sendcount, .type = sendtype, .is_one = true};
    mpi_blocks_t receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

    return mpi_neighbor_exchange(self, comm, &send, &receive, request, is_persistent);
}

int impl_neighbor_allgatherv(mpi_rank_t *self, const void *sendbuf, int64_t sendcount,
                             MPI_Datatype sendtype, void *recvbuf, coll_vector_t recvcounts,
                             coll_vector_t displs, MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request, bool is_persistent)
{
    mpi_blocks_t send = {.buffer = sendbuf, .count = sendcount, .type = sendtype, .is_one = true};
    mpi_blocks_t receive = {.buffer = recvbuf,
                            .counts = recvcounts,
                            .displacements = displs,
                            .type = recvtype,
                            .is_vector = true};

    return mpi_neighbor_exchange(self, comm, &send, &receive, request, is_persistent);
}

int impl_neighbor_alltoall(mpi_rank_t *self, const void *sendbuf, int64_t sendcount,
                           MPI_Datatype sendtype, void *recvbuf, int64_t recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request,
                           bool is_persistent)
{
    mpi_blocks_t send = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    mpi_blocks_t receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

    return mpi_neighbor_exchange(self, comm, &send, &receive, request, is_persistent);
}

int impl_neighbor_alltoallv(mpi_rank_t *self, const void *sendbuf, coll_vector_t sendcounts,
                            coll_vector_t sdispls, MPI_Datatype sendtype, void *recvbuf,
                            coll_vector_t recvcounts, coll_vector_t rdispls, MPI_Datatype recvtype,
                            MPI_Comm comm, MPI_Request *request, bool is_persistent)
{
    mpi_blocks_t send = {.buffer = sendbuf,
                         .counts = sendcounts,
                         .displacements = sdispls,
                         .type = sendtype,
                         .is_vector = true};
    mpi_blocks_t receive = {.buffer = recvbuf,
                            .counts = recvcounts,
                            .displacements = rdispls,
                            .type = recvtype,
                            .is_vector = true};

    return mpi_neighbor_exchange(self, comm, &send, &receive, request, is_persistent);
}

int impl_neighbor_alltoallw(mpi_rank_t *self, const void *sendbuf, coll_vector_t sendcounts,
                            const MPI_Aint *sdispls, const MPI_Datatype *sendtypes, void *recvbuf,
                            coll_vector_t recvcounts, const MPI_Aint *rdispls,
                            const MPI_Datatype *recvtypes, MPI_Comm comm, MPI_Request *request,
                            bool is_persistent)
{
    mpi_blocks_t send = {.buffer = sendbuf,
                         .counts = sendcounts,
                         .displacements = {sdispls, true},
                         .types = sendtypes,
                         .is_vector = true};
    mpi_blocks_t receive = {.buffer = recvbuf,
                            .counts = recvcounts,
                            .displacements = {rdispls, true},
                            .types = recvtypes,
                            .is_vector = true};

    return mpi_neighbor_exchange(self, comm, &send, &receive, request, is_persistent);
}
