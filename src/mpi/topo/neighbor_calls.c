/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of neighbourhood collectives: what they have in common is in neighbor.c. */
#include "mpi/bindings/alias.h"
#include "mpi/topo/neighbor.h"

#define SITE __builtin_return_address(0)

static int allgather(const char *name, const void *site, const void *sendbuf, int64_t sendcount,
                     MPI_Datatype sendtype, void *recvbuf, int64_t recvcount, MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request *request)
{
    mpi_blocks_t send = {.buffer = sendbuf, .count = sendcount, .type = sendtype, .is_one = true};
    mpi_blocks_t receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

    return mpi_neighbor_exchange(name, site, comm, &send, &receive, request);
}

static int allgatherv(const char *name, const void *site, const void *sendbuf, int64_t sendcount,
                      MPI_Datatype sendtype, void *recvbuf, coll_vector_t recvcounts,
                      coll_vector_t displs, MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    mpi_blocks_t send = {.buffer = sendbuf, .count = sendcount, .type = sendtype, .is_one = true};
    mpi_blocks_t receive = {
        .buffer = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype};

    return mpi_neighbor_exchange(name, site, comm, &send, &receive, request);
}

static int alltoall(const char *name, const void *site, const void *sendbuf, int64_t sendcount,
                    MPI_Datatype sendtype, void *recvbuf, int64_t recvcount, MPI_Datatype recvtype,
                    MPI_Comm comm, MPI_Request *request)
{
    mpi_blocks_t send = {.buffer = sendbuf, .count = sendcount, .type = sendtype};
    mpi_blocks_t receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype};

    return mpi_neighbor_exchange(name, site, comm, &send, &receive, request);
}

static int alltoallv(const char *name, const void *site, const void *sendbuf,
                     coll_vector_t sendcounts, coll_vector_t sdispls, MPI_Datatype sendtype,
                     void *recvbuf, coll_vector_t recvcounts, coll_vector_t rdispls,
                     MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    mpi_blocks_t send = {
        .buffer = sendbuf, .counts = sendcounts, .displacements = sdispls, .type = sendtype};
    mpi_blocks_t receive = {
        .buffer = recvbuf, .counts = recvcounts, .displacements = rdispls, .type = recvtype};

    return mpi_neighbor_exchange(name, site, comm, &send, &receive, request);
}

static int alltoallw(const char *name, const void *site, const void *sendbuf,
                     coll_vector_t sendcounts, const MPI_Aint *sdispls,
                     const MPI_Datatype *sendtypes, void *recvbuf, coll_vector_t recvcounts,
                     const MPI_Aint *rdispls, const MPI_Datatype *recvtypes, MPI_Comm comm,
                     MPI_Request *request)
{
    mpi_blocks_t send = {.buffer = sendbuf,
                         .counts = sendcounts,
                         .displacements = {sdispls, true},
                         .types = sendtypes};
    mpi_blocks_t receive = {.buffer = recvbuf,
                            .counts = recvcounts,
                            .displacements = {rdispls, true},
                            .types = recvtypes};

    return mpi_neighbor_exchange(name, site, comm, &send, &receive, request);
}

int PMPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                             void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request)
{
    return allgather("MPI_Ineighbor_allgather", SITE, sendbuf, sendcount, sendtype, recvbuf,
                     recvcount, recvtype, comm, request);
}
XY_MPI_ALIAS(Ineighbor_allgather)

int PMPI_Ineighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request *request)
{
    return allgather("MPI_Ineighbor_allgather_c", SITE, sendbuf, sendcount, sendtype, recvbuf,
                     recvcount, recvtype, comm, request);
}
XY_MPI_ALIAS(Ineighbor_allgather_c)

int PMPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                              void *recvbuf, const int recvcounts[], const int displs[],
                              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return allgatherv("MPI_Ineighbor_allgatherv", SITE, sendbuf, sendcount, sendtype, recvbuf,
                      (coll_vector_t){recvcounts, false}, (coll_vector_t){displs, false}, recvtype,
                      comm, request);
}
XY_MPI_ALIAS(Ineighbor_allgatherv)

int PMPI_Ineighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void *recvbuf, const MPI_Count recvcounts[],
                                const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Request *request)
{
    return allgatherv("MPI_Ineighbor_allgatherv_c", SITE, sendbuf, sendcount, sendtype, recvbuf,
                      (coll_vector_t){recvcounts, true}, (coll_vector_t){displs, true}, recvtype,
                      comm, request);
}
XY_MPI_ALIAS(Ineighbor_allgatherv_c)

int PMPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                            MPI_Request *request)
{
    return alltoall("MPI_Ineighbor_alltoall", SITE, sendbuf, sendcount, sendtype, recvbuf,
                    recvcount, recvtype, comm, request);
}
XY_MPI_ALIAS(Ineighbor_alltoall)

int PMPI_Ineighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm, MPI_Request *request)
{
    return alltoall("MPI_Ineighbor_alltoall_c", SITE, sendbuf, sendcount, sendtype, recvbuf,
                    recvcount, recvtype, comm, request);
}
XY_MPI_ALIAS(Ineighbor_alltoall_c)

int PMPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                             MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                             const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request)
{
    return alltoallv("MPI_Ineighbor_alltoallv", SITE, sendbuf, (coll_vector_t){sendcounts, false},
                     (coll_vector_t){sdispls, false}, sendtype, recvbuf,
                     (coll_vector_t){recvcounts, false}, (coll_vector_t){rdispls, false}, recvtype,
                     comm, request);
}
XY_MPI_ALIAS(Ineighbor_alltoallv)

int PMPI_Ineighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return alltoallv("MPI_Ineighbor_alltoallv_c", SITE, sendbuf, (coll_vector_t){sendcounts, true},
                     (coll_vector_t){sdispls, true}, sendtype, recvbuf,
                     (coll_vector_t){recvcounts, true}, (coll_vector_t){rdispls, true}, recvtype,
                     comm, request);
}
XY_MPI_ALIAS(Ineighbor_alltoallv_c)

int PMPI_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                             MPI_Comm comm, MPI_Request *request)
{
    return alltoallw("MPI_Ineighbor_alltoallw", SITE, sendbuf, (coll_vector_t){sendcounts, false},
                     sdispls, sendtypes, recvbuf, (coll_vector_t){recvcounts, false}, rdispls,
                     recvtypes, comm, request);
}
XY_MPI_ALIAS(Ineighbor_alltoallw)

int PMPI_Ineighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                               void *recvbuf, const MPI_Count recvcounts[],
                               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                               MPI_Comm comm, MPI_Request *request)
{
    return alltoallw("MPI_Ineighbor_alltoallw_c", SITE, sendbuf, (coll_vector_t){sendcounts, true},
                     sdispls, sendtypes, recvbuf, (coll_vector_t){recvcounts, true}, rdispls,
                     recvtypes, comm, request);
}
XY_MPI_ALIAS(Ineighbor_alltoallw_c)

int PMPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return allgather("MPI_Neighbor_allgather", SITE, sendbuf, sendcount, sendtype, recvbuf,
                     recvcount, recvtype, comm, NULL);
}
XY_MPI_ALIAS(Neighbor_allgather)

int PMPI_Neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm)
{
    return allgather("MPI_Neighbor_allgather_c", SITE, sendbuf, sendcount, sendtype, recvbuf,
                     recvcount, recvtype, comm, NULL);
}
XY_MPI_ALIAS(Neighbor_allgather_c)

int PMPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                             void *recvbuf, const int recvcounts[], const int displs[],
                             MPI_Datatype recvtype, MPI_Comm comm)
{
    return allgatherv("MPI_Neighbor_allgatherv", SITE, sendbuf, sendcount, sendtype, recvbuf,
                      (coll_vector_t){recvcounts, false}, (coll_vector_t){displs, false}, recvtype,
                      comm, NULL);
}
XY_MPI_ALIAS(Neighbor_allgatherv)

int PMPI_Neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                               MPI_Datatype recvtype, MPI_Comm comm)
{
    return allgatherv("MPI_Neighbor_allgatherv_c", SITE, sendbuf, sendcount, sendtype, recvbuf,
                      (coll_vector_t){recvcounts, true}, (coll_vector_t){displs, true}, recvtype,
                      comm, NULL);
}
XY_MPI_ALIAS(Neighbor_allgatherv_c)

int PMPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return alltoall("MPI_Neighbor_alltoall", SITE, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                    recvtype, comm, NULL);
}
XY_MPI_ALIAS(Neighbor_alltoall)

int PMPI_Neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             MPI_Comm comm)
{
    return alltoall("MPI_Neighbor_alltoall_c", SITE, sendbuf, sendcount, sendtype, recvbuf,
                    recvcount, recvtype, comm, NULL);
}
XY_MPI_ALIAS(Neighbor_alltoall_c)

int PMPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                            MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                            const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return alltoallv("MPI_Neighbor_alltoallv", SITE, sendbuf, (coll_vector_t){sendcounts, false},
                     (coll_vector_t){sdispls, false}, sendtype, recvbuf,
                     (coll_vector_t){recvcounts, false}, (coll_vector_t){rdispls, false}, recvtype,
                     comm, NULL);
}
XY_MPI_ALIAS(Neighbor_alltoallv)

int PMPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              MPI_Datatype recvtype, MPI_Comm comm)
{
    return alltoallv("MPI_Neighbor_alltoallv_c", SITE, sendbuf, (coll_vector_t){sendcounts, true},
                     (coll_vector_t){sdispls, true}, sendtype, recvbuf,
                     (coll_vector_t){recvcounts, true}, (coll_vector_t){rdispls, true}, recvtype,
                     comm, NULL);
}
XY_MPI_ALIAS(Neighbor_alltoallv_c)

int PMPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return alltoallw("MPI_Neighbor_alltoallw", SITE, sendbuf, (coll_vector_t){sendcounts, false},
                     sdispls, sendtypes, recvbuf, (coll_vector_t){recvcounts, false}, rdispls,
                     recvtypes, comm, NULL);
}
XY_MPI_ALIAS(Neighbor_alltoallw)

int PMPI_Neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                              void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return alltoallw("MPI_Neighbor_alltoallw_c", SITE, sendbuf, (coll_vector_t){sendcounts, true},
                     sdispls, sendtypes, recvbuf, (coll_vector_t){recvcounts, true}, rdispls,
                     recvtypes, comm, NULL);
}
XY_MPI_ALIAS(Neighbor_alltoallw_c)
