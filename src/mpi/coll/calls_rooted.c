/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Barrier, MPI_Bcast, MPI_Gather(v), MPI_Scatter(v) and their nonblocking forms. */
#include "mpi/bindings/alias.h"
#include "mpi/coll/check_arguments.h"

#define SITE __builtin_return_address(0)

static int barrier(const char *name, const void *site, MPI_Comm comm, MPI_Request *request)
{
    mpi_rank_t *self = mpi_enter(name, site);
    coll_call_t call = {.kind = &coll_barrier};

    return coll_go(self, coll_check_comm(self, comm, &call), &call, request);
}

int PMPI_Barrier(MPI_Comm comm)
{
    return barrier("MPI_Barrier", SITE, comm, NULL);
}
XY_MPI_ALIAS(Barrier)

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return barrier("MPI_Ibarrier", SITE, comm, request);
}
XY_MPI_ALIAS(Ibarrier)

static int bcast(const char *name, const void *site, void *buffer, int64_t count, MPI_Datatype type,
                 int root, MPI_Comm comm, MPI_Request *request)
{
    mpi_rank_t *self = mpi_enter(name, site);
    coll_call_t call = {.kind = &coll_bcast, .root = root};
    int error = coll_check_comm(self, comm, &call);

    if (error == MPI_SUCCESS)
        error = coll_check_root(&call);
    if (error == MPI_SUCCESS)
        error = coll_check_buffer(&call, buffer, count, type, &call.receive_type);
    if (error == MPI_SUCCESS) {
        call.send_type = call.receive_type;
        call.send = call.receive = buffer;
        call.send_count = call.receive_count = count;
        call.bytes = (uint64_t)count * call.receive_type->size;
    }
    return coll_go(self, error, &call, request);
}

int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return bcast("MPI_Bcast", SITE, buffer, count, datatype, root, comm, NULL);
}
XY_MPI_ALIAS(Bcast)

int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return bcast("MPI_Bcast_c", SITE, buffer, count, datatype, root, comm, NULL);
}
XY_MPI_ALIAS(Bcast_c)

int PMPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                MPI_Request *request)
{
    return bcast("MPI_Ibcast", SITE, buffer, count, datatype, root, comm, request);
}
XY_MPI_ALIAS(Ibcast)

int PMPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    return bcast("MPI_Ibcast_c", SITE, buffer, count, datatype, root, comm, request);
}
XY_MPI_ALIAS(Ibcast_c)

/* What the root alone gives: its regular blocks (count) or its vector of them. */
static int check_root_side(const coll_call_t *call, const void *buffer, int64_t count,
                           coll_vector_t counts, MPI_Datatype type, mpi_type_t **type_p)
{
    if (call->comm->rank != call->root)
        return MPI_SUCCESS;
    if (counts.data != NULL)
        return coll_check_counts(call, counts, type, type_p);
    return coll_check_buffer(call, buffer, count, type, type_p);
}

/* In place of the count of a regular block: there is a vector of counts, known to the root. No
 * small number: where a count is not significant, programs pass -1. */
#define VECTOR INT64_MIN

static int gather(const char *name, const void *site, const void *sendbuf, int64_t sendcount,
                  MPI_Datatype sendtype, void *recvbuf, int64_t recvcount, coll_vector_t counts,
                  coll_vector_t displs, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    mpi_rank_t *self = mpi_enter(name, site);
    bool is_vector = recvcount == VECTOR;
    coll_call_t call = {.kind = &coll_gather,
                        .root = root,
                        .send = sendbuf,
                        .send_count = sendcount,
                        .receive = recvbuf,
                        .receive_count = recvcount,
                        .receive_counts = counts,
                        .receive_displacements = displs,
                        .is_in_place = sendbuf == MPI_IN_PLACE};
    int error = coll_check_comm(self, comm, &call);

    if (error == MPI_SUCCESS)
        error = coll_check_root(&call);
    if (error == MPI_SUCCESS)
        error = check_root_side(&call, recvbuf, recvcount, counts, recvtype, &call.receive_type);
    if (error == MPI_SUCCESS && !(call.is_in_place && call.comm->rank == root))
        error = coll_check_buffer(&call, sendbuf, sendcount, sendtype, &call.send_type);
    if (error == MPI_SUCCESS && !is_vector)
        call.bytes = call.comm->rank == root ? (uint64_t)recvcount * call.receive_type->size
                                             : (uint64_t)sendcount * call.send_type->size;
    return coll_go(self, error, &call, request);
}

static const coll_vector_t none;

static int gather_blocks(const char *name, const void *site, const void *sendbuf, int64_t sendcount,
                         MPI_Datatype sendtype, void *recvbuf, int64_t recvcount,
                         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return gather(name, site, sendbuf, sendcount, sendtype, recvbuf, recvcount, none, none,
                  recvtype, root, comm, request);
}

int PMPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return gather_blocks("MPI_Gather", SITE, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                         recvtype, root, comm, NULL);
}
XY_MPI_ALIAS(Gather)

int PMPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return gather_blocks("MPI_Gather_c", SITE, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                         recvtype, root, comm, NULL);
}
XY_MPI_ALIAS(Gather_c)

int PMPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                 MPI_Request *request)
{
    return gather_blocks("MPI_Igather", SITE, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                         recvtype, root, comm, request);
}
XY_MPI_ALIAS(Igather)

int PMPI_Igather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   MPI_Request *request)
{
    return gather_blocks("MPI_Igather_c", SITE, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                         recvtype, root, comm, request);
}
XY_MPI_ALIAS(Igather_c)

static int gather_vector(const char *name, const void *site, const void *sendbuf, int64_t sendcount,
                         MPI_Datatype sendtype, void *recvbuf, coll_vector_t counts,
                         coll_vector_t displs, MPI_Datatype recvtype, int root, MPI_Comm comm,
                         MPI_Request *request)
{
    return gather(name, site, sendbuf, sendcount, sendtype, recvbuf, VECTOR, counts, displs,
                  recvtype, root, comm, request);
}

int PMPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                 MPI_Comm comm)
{
    return gather_vector("MPI_Gatherv", SITE, sendbuf, sendcount, sendtype, recvbuf,
                         (coll_vector_t){recvcounts, false}, (coll_vector_t){displs, false},
                         recvtype, root, comm, NULL);
}
XY_MPI_ALIAS(Gatherv)

int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                   int root, MPI_Comm comm)
{
    return gather_vector("MPI_Gatherv_c", SITE, sendbuf, sendcount, sendtype, recvbuf,
                         (coll_vector_t){recvcounts, true}, (coll_vector_t){displs, true}, recvtype,
                         root, comm, NULL);
}
XY_MPI_ALIAS(Gatherv_c)

int PMPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                  MPI_Comm comm, MPI_Request *request)
{
    return gather_vector("MPI_Igatherv", SITE, sendbuf, sendcount, sendtype, recvbuf,
                         (coll_vector_t){recvcounts, false}, (coll_vector_t){displs, false},
                         recvtype, root, comm, request);
}
XY_MPI_ALIAS(Igatherv)

int PMPI_Igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm, MPI_Request *request)
{
    return gather_vector("MPI_Igatherv_c", SITE, sendbuf, sendcount, sendtype, recvbuf,
                         (coll_vector_t){recvcounts, true}, (coll_vector_t){displs, true}, recvtype,
                         root, comm, request);
}
XY_MPI_ALIAS(Igatherv_c)

static int scatter(const char *name, const void *site, const void *sendbuf, int64_t sendcount,
                   coll_vector_t counts, coll_vector_t displs, MPI_Datatype sendtype, void *recvbuf,
                   int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   MPI_Request *request)
{
    mpi_rank_t *self = mpi_enter(name, site);
    bool is_vector = sendcount == VECTOR;
    coll_call_t call = {.kind = &coll_scatter,
                        .root = root,
                        .send = sendbuf,
                        .send_count = sendcount,
                        .send_counts = counts,
                        .send_displacements = displs,
                        .receive = recvbuf,
                        .receive_count = recvcount,
                        .is_in_place = recvbuf == MPI_IN_PLACE};
    int error = coll_check_comm(self, comm, &call);

    if (error == MPI_SUCCESS)
        error = coll_check_root(&call);
    if (error == MPI_SUCCESS)
        error = check_root_side(&call, sendbuf, sendcount, counts, sendtype, &call.send_type);
    if (error == MPI_SUCCESS && !(call.is_in_place && call.comm->rank == root))
        error = coll_check_buffer(&call, recvbuf, recvcount, recvtype, &call.receive_type);
    if (error == MPI_SUCCESS && !is_vector)
        call.bytes = call.comm->rank == root ? (uint64_t)sendcount * call.send_type->size
                                             : (uint64_t)recvcount * call.receive_type->size;
    return coll_go(self, error, &call, request);
}

static int scatter_blocks(const char *name, const void *site, const void *sendbuf,
                          int64_t sendcount, MPI_Datatype sendtype, void *recvbuf,
                          int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                          MPI_Request *request)
{
    return scatter(name, site, sendbuf, sendcount, none, none, sendtype, recvbuf, recvcount,
                   recvtype, root, comm, request);
}

int PMPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return scatter_blocks("MPI_Scatter", SITE, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                          recvtype, root, comm, NULL);
}
XY_MPI_ALIAS(Scatter)

int PMPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return scatter_blocks("MPI_Scatter_c", SITE, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                          recvtype, root, comm, NULL);
}
XY_MPI_ALIAS(Scatter_c)

int PMPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    return scatter_blocks("MPI_Iscatter", SITE, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                          recvtype, root, comm, request);
}
XY_MPI_ALIAS(Iscatter)

int PMPI_Iscatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request *request)
{
    return scatter_blocks("MPI_Iscatter_c", SITE, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                          recvtype, root, comm, request);
}
XY_MPI_ALIAS(Iscatter_c)

static int scatter_vector(const char *name, const void *site, const void *sendbuf,
                          coll_vector_t counts, coll_vector_t displs, MPI_Datatype sendtype,
                          void *recvbuf, int64_t recvcount, MPI_Datatype recvtype, int root,
                          MPI_Comm comm, MPI_Request *request)
{
    return scatter(name, site, sendbuf, VECTOR, counts, displs, sendtype, recvbuf, recvcount,
                   recvtype, root, comm, request);
}

int PMPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                  MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm)
{
    return scatter_vector("MPI_Scatterv", SITE, sendbuf, (coll_vector_t){sendcounts, false},
                          (coll_vector_t){displs, false}, sendtype, recvbuf, recvcount, recvtype,
                          root, comm, NULL);
}
XY_MPI_ALIAS(Scatterv)

int PMPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return scatter_vector("MPI_Scatterv_c", SITE, sendbuf, (coll_vector_t){sendcounts, true},
                          (coll_vector_t){displs, true}, sendtype, recvbuf, recvcount, recvtype,
                          root, comm, NULL);
}
XY_MPI_ALIAS(Scatterv_c)

int PMPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                   MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm, MPI_Request *request)
{
    return scatter_vector("MPI_Iscatterv", SITE, sendbuf, (coll_vector_t){sendcounts, false},
                          (coll_vector_t){displs, false}, sendtype, recvbuf, recvcount, recvtype,
                          root, comm, request);
}
XY_MPI_ALIAS(Iscatterv)

int PMPI_Iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return scatter_vector("MPI_Iscatterv_c", SITE, sendbuf, (coll_vector_t){sendcounts, true},
                          (coll_vector_t){displs, true}, sendtype, recvbuf, recvcount, recvtype,
                          root, comm, request);
}
XY_MPI_ALIAS(Iscatterv_c)
