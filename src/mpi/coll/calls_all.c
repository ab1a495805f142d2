/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgather(v), MPI_Alltoall(v, w) and their nonblocking forms. */
#include "mpi/bindings/alias.h"
#include "mpi/coll/check_arguments.h"

#define SITE __builtin_return_address(0)

static const coll_vector_t none;

static int allgather(const char *name, const void *site, const void *sendbuf, int64_t sendcount,
                     MPI_Datatype sendtype, void *recvbuf, int64_t recvcount, coll_vector_t counts,
                     coll_vector_t displs, MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request *request)
{
    mpi_rank_t *self = mpi_enter(name, site);
    coll_call_t call = {.kind = &coll_allgather,
                        .send = sendbuf,
                        .send_count = sendcount,
                        .receive = recvbuf,
                        .receive_count = recvcount,
                        .receive_counts = counts,
                        .receive_displacements = displs,
                        .is_in_place = sendbuf == MPI_IN_PLACE};
    int error = coll_check_comm(self, comm, &call);

    if (error == MPI_SUCCESS && !call.is_in_place)
        error = coll_check_buffer(&call, sendbuf, sendcount, sendtype, &call.send_type);
    if (error == MPI_SUCCESS && counts.data != NULL)
        error = coll_check_counts(&call, counts, recvtype, &call.receive_type);
    else if (error == MPI_SUCCESS)
        error = coll_check_buffer(&call, recvbuf, recvcount, recvtype, &call.receive_type);
    if (error == MPI_SUCCESS && counts.data == NULL)
        call.bytes = (uint64_t)recvcount * call.receive_type->size;
    return coll_go(self, error, &call, request);
}

static int allgather_blocks(const char *name, const void *site, const void *sendbuf,
                            int64_t sendcount, MPI_Datatype sendtype, void *recvbuf,
                            int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                            MPI_Request *request)
{
    return allgather(name, site, sendbuf, sendcount, sendtype, recvbuf, recvcount, none, none,
                     recvtype, comm, request);
}

int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return allgather_blocks("MPI_Allgather", SITE, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                            recvtype, comm, NULL);
}
XY_MPI_ALIAS(Allgather)

int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return allgather_blocks("MPI_Allgather_c", SITE, sendbuf, sendcount, sendtype, recvbuf,
                            recvcount, recvtype, comm, NULL);
}
XY_MPI_ALIAS(Allgather_c)

int PMPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return allgather_blocks("MPI_Iallgather", SITE, sendbuf, sendcount, sendtype, recvbuf,
                            recvcount, recvtype, comm, request);
}
XY_MPI_ALIAS(Iallgather)

int PMPI_Iallgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    return allgather_blocks("MPI_Iallgather_c", SITE, sendbuf, sendcount, sendtype, recvbuf,
                            recvcount, recvtype, comm, request);
}
XY_MPI_ALIAS(Iallgather_c)

static int allgather_vector(const char *name, const void *site, const void *sendbuf,
                            int64_t sendcount, MPI_Datatype sendtype, void *recvbuf,
                            coll_vector_t counts, coll_vector_t displs, MPI_Datatype recvtype,
                            MPI_Comm comm, MPI_Request *request)
{
    return allgather(name, site, sendbuf, sendcount, sendtype, recvbuf, 0, counts, displs, recvtype,
                     comm, request);
}

int PMPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                    MPI_Comm comm)
{
    return allgather_vector("MPI_Allgatherv", SITE, sendbuf, sendcount, sendtype, recvbuf,
                            (coll_vector_t){recvcounts, false}, (coll_vector_t){displs, false},
                            recvtype, comm, NULL);
}
XY_MPI_ALIAS(Allgatherv)

int PMPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                      MPI_Datatype recvtype, MPI_Comm comm)
{
    return allgather_vector("MPI_Allgatherv_c", SITE, sendbuf, sendcount, sendtype, recvbuf,
                            (coll_vector_t){recvcounts, true}, (coll_vector_t){displs, true},
                            recvtype, comm, NULL);
}
XY_MPI_ALIAS(Allgatherv_c)

int PMPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request *request)
{
    return allgather_vector("MPI_Iallgatherv", SITE, sendbuf, sendcount, sendtype, recvbuf,
                            (coll_vector_t){recvcounts, false}, (coll_vector_t){displs, false},
                            recvtype, comm, request);
}
XY_MPI_ALIAS(Iallgatherv)

int PMPI_Iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return allgather_vector("MPI_Iallgatherv_c", SITE, sendbuf, sendcount, sendtype, recvbuf,
                            (coll_vector_t){recvcounts, true}, (coll_vector_t){displs, true},
                            recvtype, comm, request);
}
XY_MPI_ALIAS(Iallgatherv_c)

static int alltoall(const char *name, const void *site, const void *sendbuf, int64_t sendcount,
                    MPI_Datatype sendtype, void *recvbuf, int64_t recvcount, MPI_Datatype recvtype,
                    MPI_Comm comm, MPI_Request *request)
{
    mpi_rank_t *self = mpi_enter(name, site);
    coll_call_t call = {.kind = &coll_alltoall,
                        .send = sendbuf,
                        .send_count = sendcount,
                        .receive = recvbuf,
                        .receive_count = recvcount,
                        .is_in_place = sendbuf == MPI_IN_PLACE};
    int error = coll_check_comm(self, comm, &call);

    if (error == MPI_SUCCESS && !call.is_in_place)
        error = coll_check_buffer(&call, sendbuf, sendcount, sendtype, &call.send_type);
    if (error == MPI_SUCCESS)
        error = coll_check_buffer(&call, recvbuf, recvcount, recvtype, &call.receive_type);
    if (error == MPI_SUCCESS)
        call.bytes = (uint64_t)recvcount * call.receive_type->size;
    return coll_go(self, error, &call, request);
}

int PMPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return alltoall("MPI_Alltoall", SITE, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                    recvtype, comm, NULL);
}
XY_MPI_ALIAS(Alltoall)

int PMPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return alltoall("MPI_Alltoall_c", SITE, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                    recvtype, comm, NULL);
}
XY_MPI_ALIAS(Alltoall_c)

int PMPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return alltoall("MPI_Ialltoall", SITE, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                    recvtype, comm, request);
}
XY_MPI_ALIAS(Ialltoall)

int PMPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request *request)
{
    return alltoall("MPI_Ialltoall_c", SITE, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                    recvtype, comm, request);
}
XY_MPI_ALIAS(Ialltoall_c)

static int alltoallv(const char *name, const void *site, const void *sendbuf,
                     coll_vector_t sendcounts, coll_vector_t sdispls, MPI_Datatype sendtype,
                     void *recvbuf, coll_vector_t recvcounts, coll_vector_t rdispls,
                     MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    mpi_rank_t *self = mpi_enter(name, site);
    coll_call_t call = {.kind = &coll_alltoall,
                        .send = sendbuf,
                        .send_counts = sendcounts,
                        .send_displacements = sdispls,
                        .receive = recvbuf,
                        .receive_counts = recvcounts,
                        .receive_displacements = rdispls,
                        .is_in_place = sendbuf == MPI_IN_PLACE};
    int error = coll_check_comm(self, comm, &call);

    if (error == MPI_SUCCESS && !call.is_in_place)
        error = coll_check_counts(&call, sendcounts, sendtype, &call.send_type);
    if (error == MPI_SUCCESS)
        error = coll_check_counts(&call, recvcounts, recvtype, &call.receive_type);
    return coll_go(self, error, &call, request);
}

int PMPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return alltoallv("MPI_Alltoallv", SITE, sendbuf, (coll_vector_t){sendcounts, false},
                     (coll_vector_t){sdispls, false}, sendtype, recvbuf,
                     (coll_vector_t){recvcounts, false}, (coll_vector_t){rdispls, false}, recvtype,
                     comm, NULL);
}
XY_MPI_ALIAS(Alltoallv)

int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return alltoallv("MPI_Alltoallv_c", SITE, sendbuf, (coll_vector_t){sendcounts, true},
                     (coll_vector_t){sdispls, true}, sendtype, recvbuf,
                     (coll_vector_t){recvcounts, true}, (coll_vector_t){rdispls, true}, recvtype,
                     comm, NULL);
}
XY_MPI_ALIAS(Alltoallv_c)

int PMPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return alltoallv("MPI_Ialltoallv", SITE, sendbuf, (coll_vector_t){sendcounts, false},
                     (coll_vector_t){sdispls, false}, sendtype, recvbuf,
                     (coll_vector_t){recvcounts, false}, (coll_vector_t){rdispls, false}, recvtype,
                     comm, request);
}
XY_MPI_ALIAS(Ialltoallv)

int PMPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    return alltoallv("MPI_Ialltoallv_c", SITE, sendbuf, (coll_vector_t){sendcounts, true},
                     (coll_vector_t){sdispls, true}, sendtype, recvbuf,
                     (coll_vector_t){recvcounts, true}, (coll_vector_t){rdispls, true}, recvtype,
                     comm, request);
}
XY_MPI_ALIAS(Ialltoallv_c)

static int alltoallw(const char *name, const void *site, const void *sendbuf,
                     coll_vector_t sendcounts, coll_vector_t sdispls,
                     const MPI_Datatype sendtypes[], void *recvbuf, coll_vector_t recvcounts,
                     coll_vector_t rdispls, const MPI_Datatype recvtypes[], MPI_Comm comm,
                     MPI_Request *request)
{
    mpi_rank_t *self = mpi_enter(name, site);
    coll_call_t call = {.kind = &coll_alltoall,
                        .send = sendbuf,
                        .send_counts = sendcounts,
                        .send_displacements = sdispls,
                        .send_types = sendtypes,
                        .receive = recvbuf,
                        .receive_counts = recvcounts,
                        .receive_displacements = rdispls,
                        .receive_types = recvtypes,
                        .is_in_place = sendbuf == MPI_IN_PLACE};
    int error = coll_check_comm(self, comm, &call);

    if (error == MPI_SUCCESS && !call.is_in_place)
        error = coll_check_counts(&call, sendcounts, MPI_DATATYPE_NULL, NULL);
    if (error == MPI_SUCCESS && !call.is_in_place)
        error = coll_check_types(&call, sendtypes);
    if (error == MPI_SUCCESS)
        error = coll_check_counts(&call, recvcounts, MPI_DATATYPE_NULL, NULL);
    if (error == MPI_SUCCESS)
        error = coll_check_types(&call, recvtypes);
    return coll_go(self, error, &call, request);
}

int PMPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                   const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return alltoallw("MPI_Alltoallw", SITE, sendbuf, (coll_vector_t){sendcounts, false},
                     (coll_vector_t){sdispls, false}, sendtypes, recvbuf,
                     (coll_vector_t){recvcounts, false}, (coll_vector_t){rdispls, false}, recvtypes,
                     comm, NULL);
}
XY_MPI_ALIAS(Alltoallw)

int PMPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return alltoallw("MPI_Alltoallw_c", SITE, sendbuf, (coll_vector_t){sendcounts, true},
                     (coll_vector_t){sdispls, true}, sendtypes, recvbuf,
                     (coll_vector_t){recvcounts, true}, (coll_vector_t){rdispls, true}, recvtypes,
                     comm, NULL);
}
XY_MPI_ALIAS(Alltoallw_c)

int PMPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                    MPI_Request *request)
{
    return alltoallw("MPI_Ialltoallw", SITE, sendbuf, (coll_vector_t){sendcounts, false},
                     (coll_vector_t){sdispls, false}, sendtypes, recvbuf,
                     (coll_vector_t){recvcounts, false}, (coll_vector_t){rdispls, false}, recvtypes,
                     comm, request);
}
XY_MPI_ALIAS(Ialltoallw)

int PMPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                      MPI_Request *request)
{
    return alltoallw("MPI_Ialltoallw_c", SITE, sendbuf, (coll_vector_t){sendcounts, true},
                     (coll_vector_t){sdispls, true}, sendtypes, recvbuf,
                     (coll_vector_t){recvcounts, true}, (coll_vector_t){rdispls, true}, recvtypes,
                     comm, request);
}
XY_MPI_ALIAS(Ialltoallw_c)
