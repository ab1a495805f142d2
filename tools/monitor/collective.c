/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls, blocking and not: expanded into what this rank sends. */
#include "monitor.h"

double monitor_bytes_of(int count, MPI_Datatype type)
{
    int size = 0;

    PMPI_Type_size(type, &size);
    return (double)size * count;
}

/* The root knows what it gives, the others what they get. */
static void scatter(MPI_Comm comm, int root, int count, MPI_Datatype type, int out_count,
                    MPI_Datatype out_type)
{
    int rank;

    PMPI_Comm_rank(comm, &rank);
    monitor_collective(comm, XY_COLL_SCATTER, root, rank == root ? count : out_count,
                       rank == root ? type : out_type);
}

int MPI_Barrier(MPI_Comm comm)
{
    monitor_collective(comm, XY_COLL_BARRIER, 0, 0, MPI_BYTE);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER, PMPI_Barrier(comm));
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    monitor_collective(comm, XY_COLL_BARRIER, 0, 0, MPI_BYTE);
    return MONITOR_CALL(PMPI_Ibarrier(comm, request));
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    monitor_collective(comm, XY_COLL_BCAST, root, count, type);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER, PMPI_Bcast(data, count, type, root, comm));
}

int MPI_Ibcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request *request)
{
    monitor_collective(comm, XY_COLL_BCAST, root, count, type);
    return MONITOR_CALL(PMPI_Ibcast(data, count, type, root, comm, request));
}

int MPI_Reduce(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
    monitor_collective(comm, XY_COLL_REDUCE, root, count, type);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER,
                           PMPI_Reduce(data, out, count, type, op, root, comm));
}

int MPI_Ireduce(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm, MPI_Request *request)
{
    monitor_collective(comm, XY_COLL_REDUCE, root, count, type);
    return MONITOR_CALL(PMPI_Ireduce(data, out, count, type, op, root, comm, request));
}

int MPI_Allreduce(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    monitor_collective(comm, XY_COLL_ALLREDUCE, 0, count, type);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER, PMPI_Allreduce(data, out, count, type, op, comm));
}

int MPI_Iallreduce(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    monitor_collective(comm, XY_COLL_ALLREDUCE, 0, count, type);
    return MONITOR_CALL(PMPI_Iallreduce(data, out, count, type, op, comm, request));
}

int MPI_Gather(const void *data, int count, MPI_Datatype type, void *out, int out_count,
               MPI_Datatype out_type, int root, MPI_Comm comm)
{
    monitor_collective(comm, XY_COLL_GATHER, root, count, type);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER,
                           PMPI_Gather(data, count, type, out, out_count, out_type, root, comm));
}

int MPI_Igather(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request *request)
{
    monitor_collective(comm, XY_COLL_GATHER, root, count, type);
    return MONITOR_CALL(
        PMPI_Igather(data, count, type, out, out_count, out_type, root, comm, request));
}

int MPI_Gatherv(const void *data, int count, MPI_Datatype type, void *out, const int *counts,
                const int *offsets, MPI_Datatype out_type, int root, MPI_Comm comm)
{
    monitor_collective(comm, XY_COLL_GATHERV, root, count, type);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER, PMPI_Gatherv(data, count, type, out, counts,
                                                             offsets, out_type, root, comm));
}

int MPI_Igatherv(const void *data, int count, MPI_Datatype type, void *out, const int *counts,
                 const int *offsets, MPI_Datatype out_type, int root, MPI_Comm comm,
                 MPI_Request *request)
{
    monitor_collective(comm, XY_COLL_GATHERV, root, count, type);
    return MONITOR_CALL(
        PMPI_Igatherv(data, count, type, out, counts, offsets, out_type, root, comm, request));
}

int MPI_Scatter(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                MPI_Datatype out_type, int root, MPI_Comm comm)
{
    scatter(comm, root, count, type, out_count, out_type);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER,
                           PMPI_Scatter(data, count, type, out, out_count, out_type, root, comm));
}

int MPI_Iscatter(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                 MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request *request)
{
    scatter(comm, root, count, type, out_count, out_type);
    return MONITOR_CALL(
        PMPI_Iscatter(data, count, type, out, out_count, out_type, root, comm, request));
}

int MPI_Scatterv(const void *data, const int *counts, const int *offsets, MPI_Datatype type,
                 void *out, int out_count, MPI_Datatype out_type, int root, MPI_Comm comm)
{
    monitor_collective_v(comm, XY_COLL_SCATTERV, root, counts, type);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER, PMPI_Scatterv(data, counts, offsets, type, out,
                                                              out_count, out_type, root, comm));
}

int MPI_Iscatterv(const void *data, const int *counts, const int *offsets, MPI_Datatype type,
                  void *out, int out_count, MPI_Datatype out_type, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    monitor_collective_v(comm, XY_COLL_SCATTERV, root, counts, type);
    return MONITOR_CALL(
        PMPI_Iscatterv(data, counts, offsets, type, out, out_count, out_type, root, comm, request));
}

int MPI_Allgather(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm)
{
    monitor_collective(comm, XY_COLL_ALLGATHER, 0, out_count, out_type);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER,
                           PMPI_Allgather(data, count, type, out, out_count, out_type, comm));
}

int MPI_Iallgather(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                   MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request)
{
    monitor_collective(comm, XY_COLL_ALLGATHER, 0, out_count, out_type);
    return MONITOR_CALL(
        PMPI_Iallgather(data, count, type, out, out_count, out_type, comm, request));
}

int MPI_Allgatherv(const void *data, int count, MPI_Datatype type, void *out, const int *counts,
                   const int *offsets, MPI_Datatype out_type, MPI_Comm comm)
{
    monitor_ring_v(comm, counts, out_type);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER, PMPI_Allgatherv(data, count, type, out, counts,
                                                                offsets, out_type, comm));
}

int MPI_Iallgatherv(const void *data, int count, MPI_Datatype type, void *out, const int *counts,
                    const int *offsets, MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request)
{
    monitor_ring_v(comm, counts, out_type);
    return MONITOR_CALL(
        PMPI_Iallgatherv(data, count, type, out, counts, offsets, out_type, comm, request));
}

int MPI_Alltoall(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                 MPI_Datatype out_type, MPI_Comm comm)
{
    monitor_collective(comm, XY_COLL_ALLTOALL, 0, out_count, out_type);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER,
                           PMPI_Alltoall(data, count, type, out, out_count, out_type, comm));
}

int MPI_Ialltoall(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request)
{
    monitor_collective(comm, XY_COLL_ALLTOALL, 0, out_count, out_type);
    return MONITOR_CALL(PMPI_Ialltoall(data, count, type, out, out_count, out_type, comm, request));
}

int MPI_Alltoallv(const void *data, const int *counts, const int *offsets, MPI_Datatype type,
                  void *out, const int *out_counts, const int *out_offsets, MPI_Datatype out_type,
                  MPI_Comm comm)
{
    monitor_collective_v(comm, XY_COLL_ALLTOALLV, 0, data == MPI_IN_PLACE ? out_counts : counts,
                         data == MPI_IN_PLACE ? out_type : type);
    return MONITOR_CALL_AS(
        MONITOR_LATE_MEMBER,
        PMPI_Alltoallv(data, counts, offsets, type, out, out_counts, out_offsets, out_type, comm));
}

int MPI_Ialltoallv(const void *data, const int *counts, const int *offsets, MPI_Datatype type,
                   void *out, const int *out_counts, const int *out_offsets, MPI_Datatype out_type,
                   MPI_Comm comm, MPI_Request *request)
{
    monitor_collective_v(comm, XY_COLL_ALLTOALLV, 0, data == MPI_IN_PLACE ? out_counts : counts,
                         data == MPI_IN_PLACE ? out_type : type);
    return MONITOR_CALL(PMPI_Ialltoallv(data, counts, offsets, type, out, out_counts, out_offsets,
                                        out_type, comm, request));
}

int MPI_Scan(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    monitor_collective(comm, XY_COLL_SCAN, 0, count, type);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER, PMPI_Scan(data, out, count, type, op, comm));
}

int MPI_Iscan(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
              MPI_Request *request)
{
    monitor_collective(comm, XY_COLL_SCAN, 0, count, type);
    return MONITOR_CALL(PMPI_Iscan(data, out, count, type, op, comm, request));
}

int MPI_Exscan(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    monitor_collective(comm, XY_COLL_EXSCAN, 0, count, type);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER, PMPI_Exscan(data, out, count, type, op, comm));
}

int MPI_Iexscan(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request *request)
{
    monitor_collective(comm, XY_COLL_EXSCAN, 0, count, type);
    return MONITOR_CALL(PMPI_Iexscan(data, out, count, type, op, comm, request));
}

int MPI_Reduce_scatter(const void *data, void *out, const int *counts, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm)
{
    monitor_collective_v(comm, XY_COLL_REDUCE_SCATTER, 0, counts, type);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER,
                           PMPI_Reduce_scatter(data, out, counts, type, op, comm));
}

int MPI_Ireduce_scatter(const void *data, void *out, const int *counts, MPI_Datatype type,
                        MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    monitor_collective_v(comm, XY_COLL_REDUCE_SCATTER, 0, counts, type);
    return MONITOR_CALL(PMPI_Ireduce_scatter(data, out, counts, type, op, comm, request));
}

int MPI_Reduce_scatter_block(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm)
{
    monitor_collective(comm, XY_COLL_REDUCE_SCATTER_BLOCK, 0, count, type);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER,
                           PMPI_Reduce_scatter_block(data, out, count, type, op, comm));
}

int MPI_Ireduce_scatter_block(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm, MPI_Request *request)
{
    monitor_collective(comm, XY_COLL_REDUCE_SCATTER_BLOCK, 0, count, type);
    return MONITOR_CALL(PMPI_Ireduce_scatter_block(data, out, count, type, op, comm, request));
}
