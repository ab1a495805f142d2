/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls, blocking and not: expanded into what this rank sends. */
#include "monitor.h"

double monitor_bytes_of(int count, MPI_Datatype type)
{
    int size = 0;

    PMPI_Type_size(type, &size);
    return (double)size * count;
}

/* Between two groups the roles are others; what is counted is then left to the groups' own calls.
 */
static int is_intra(MPI_Comm comm)
{
    int is_inter = 0;

    PMPI_Comm_test_inter(comm, &is_inter);
    return !is_inter;
}

/* One message to every other rank: linear and pairwise algorithms. */
static void to_all(MPI_Comm comm, const int *counts, MPI_Datatype type)
{
    int rank, size;

    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    for (int i = 1; i < size; i++) {
        int to = (rank + i) % size;

        monitor_bytes(comm, to, monitor_bytes_of(counts[to], type), MONITOR_COLLECTIVE);
    }
}

static void pairwise(MPI_Comm comm, double bytes)
{
    int rank, size;

    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    for (int i = 1; i < size; i++)
        monitor_bytes(comm, (rank + i) % size, bytes, MONITOR_COLLECTIVE);
}

static void to_root(MPI_Comm comm, int root, double bytes)
{
    int rank;

    PMPI_Comm_rank(comm, &rank);
    if (rank != root)
        monitor_bytes(comm, root, bytes, MONITOR_COLLECTIVE);
}

static void from_root(MPI_Comm comm, int root, const int *counts, MPI_Datatype type)
{
    int rank;

    PMPI_Comm_rank(comm, &rank);
    if (rank == root)
        to_all(comm, counts, type);
}

/* Blocks of all ranks but the next are passed to the next. */
static void ring_of(MPI_Comm comm, const int *counts, MPI_Datatype type)
{
    int rank, size;

    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    for (int i = 0; i + 1 < size; i++)
        monitor_bytes(comm, (rank + 1) % size,
                      monitor_bytes_of(counts[(rank - i + size) % size], type), MONITOR_COLLECTIVE);
}

static int rank_in(MPI_Comm comm)
{
    int rank;

    PMPI_Comm_rank(comm, &rank);
    return rank;
}

static double sum_of(MPI_Comm comm, const int *counts, MPI_Datatype type)
{
    double sum = 0;
    int size;

    PMPI_Comm_size(comm, &size);
    for (int i = 0; i < size; i++)
        sum += monitor_bytes_of(counts[i], type);
    return sum;
}

int MPI_Barrier(MPI_Comm comm)
{
    if (is_intra(comm))
        monitor_dissemination(comm);
    return PMPI_Barrier(comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    if (is_intra(comm))
        monitor_dissemination(comm);
    return PMPI_Ibarrier(comm, request);
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    if (is_intra(comm))
        monitor_tree_down(comm, root, monitor_bytes_of(count, type));
    return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Ibcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request *request)
{
    if (is_intra(comm))
        monitor_tree_down(comm, root, monitor_bytes_of(count, type));
    return PMPI_Ibcast(data, count, type, root, comm, request);
}

int MPI_Reduce(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
    if (is_intra(comm))
        monitor_tree_up(comm, root, monitor_bytes_of(count, type));
    return PMPI_Reduce(data, out, count, type, op, root, comm);
}

int MPI_Ireduce(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm, MPI_Request *request)
{
    if (is_intra(comm))
        monitor_tree_up(comm, root, monitor_bytes_of(count, type));
    return PMPI_Ireduce(data, out, count, type, op, root, comm, request);
}

int MPI_Allreduce(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    if (is_intra(comm))
        monitor_doubling(comm, monitor_bytes_of(count, type));
    return PMPI_Allreduce(data, out, count, type, op, comm);
}

int MPI_Iallreduce(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    if (is_intra(comm))
        monitor_doubling(comm, monitor_bytes_of(count, type));
    return PMPI_Iallreduce(data, out, count, type, op, comm, request);
}

int MPI_Gather(const void *data, int count, MPI_Datatype type, void *out, int out_count,
               MPI_Datatype out_type, int root, MPI_Comm comm)
{
    if (is_intra(comm))
        monitor_tree_gather(comm, root,
                            data == MPI_IN_PLACE ? monitor_bytes_of(out_count, out_type)
                                                 : monitor_bytes_of(count, type));
    return PMPI_Gather(data, count, type, out, out_count, out_type, root, comm);
}

int MPI_Igather(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request *request)
{
    if (is_intra(comm))
        monitor_tree_gather(comm, root,
                            data == MPI_IN_PLACE ? monitor_bytes_of(out_count, out_type)
                                                 : monitor_bytes_of(count, type));
    return PMPI_Igather(data, count, type, out, out_count, out_type, root, comm, request);
}

int MPI_Gatherv(const void *data, int count, MPI_Datatype type, void *out, const int *counts,
                const int *offsets, MPI_Datatype out_type, int root, MPI_Comm comm)
{
    if (is_intra(comm))
        to_root(comm, root, data == MPI_IN_PLACE ? 0 : monitor_bytes_of(count, type));
    return PMPI_Gatherv(data, count, type, out, counts, offsets, out_type, root, comm);
}

int MPI_Igatherv(const void *data, int count, MPI_Datatype type, void *out, const int *counts,
                 const int *offsets, MPI_Datatype out_type, int root, MPI_Comm comm,
                 MPI_Request *request)
{
    if (is_intra(comm))
        to_root(comm, root, data == MPI_IN_PLACE ? 0 : monitor_bytes_of(count, type));
    return PMPI_Igatherv(data, count, type, out, counts, offsets, out_type, root, comm, request);
}

int MPI_Scatter(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                MPI_Datatype out_type, int root, MPI_Comm comm)
{
    if (is_intra(comm))
        monitor_tree_scatter(comm, root,
                             rank_in(comm) == root ? monitor_bytes_of(count, type)
                                                   : monitor_bytes_of(out_count, out_type));
    return PMPI_Scatter(data, count, type, out, out_count, out_type, root, comm);
}

int MPI_Iscatter(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                 MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request *request)
{
    if (is_intra(comm))
        monitor_tree_scatter(comm, root,
                             rank_in(comm) == root ? monitor_bytes_of(count, type)
                                                   : monitor_bytes_of(out_count, out_type));
    return PMPI_Iscatter(data, count, type, out, out_count, out_type, root, comm, request);
}

int MPI_Scatterv(const void *data, const int *counts, const int *offsets, MPI_Datatype type,
                 void *out, int out_count, MPI_Datatype out_type, int root, MPI_Comm comm)
{
    if (is_intra(comm))
        from_root(comm, root, counts, type);
    return PMPI_Scatterv(data, counts, offsets, type, out, out_count, out_type, root, comm);
}

int MPI_Iscatterv(const void *data, const int *counts, const int *offsets, MPI_Datatype type,
                  void *out, int out_count, MPI_Datatype out_type, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    if (is_intra(comm))
        from_root(comm, root, counts, type);
    return PMPI_Iscatterv(data, counts, offsets, type, out, out_count, out_type, root, comm,
                          request);
}

int MPI_Allgather(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm)
{
    if (is_intra(comm))
        monitor_ring(comm, monitor_bytes_of(out_count, out_type));
    return PMPI_Allgather(data, count, type, out, out_count, out_type, comm);
}

int MPI_Iallgather(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                   MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request)
{
    if (is_intra(comm))
        monitor_ring(comm, monitor_bytes_of(out_count, out_type));
    return PMPI_Iallgather(data, count, type, out, out_count, out_type, comm, request);
}

int MPI_Allgatherv(const void *data, int count, MPI_Datatype type, void *out, const int *counts,
                   const int *offsets, MPI_Datatype out_type, MPI_Comm comm)
{
    if (is_intra(comm))
        ring_of(comm, counts, out_type);
    return PMPI_Allgatherv(data, count, type, out, counts, offsets, out_type, comm);
}

int MPI_Iallgatherv(const void *data, int count, MPI_Datatype type, void *out, const int *counts,
                    const int *offsets, MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request)
{
    if (is_intra(comm))
        ring_of(comm, counts, out_type);
    return PMPI_Iallgatherv(data, count, type, out, counts, offsets, out_type, comm, request);
}

int MPI_Alltoall(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                 MPI_Datatype out_type, MPI_Comm comm)
{
    if (is_intra(comm))
        pairwise(comm, monitor_bytes_of(out_count, out_type));
    return PMPI_Alltoall(data, count, type, out, out_count, out_type, comm);
}

int MPI_Ialltoall(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request)
{
    if (is_intra(comm))
        pairwise(comm, monitor_bytes_of(out_count, out_type));
    return PMPI_Ialltoall(data, count, type, out, out_count, out_type, comm, request);
}

int MPI_Alltoallv(const void *data, const int *counts, const int *offsets, MPI_Datatype type,
                  void *out, const int *out_counts, const int *out_offsets, MPI_Datatype out_type,
                  MPI_Comm comm)
{
    if (is_intra(comm))
        to_all(comm, data == MPI_IN_PLACE ? out_counts : counts,
               data == MPI_IN_PLACE ? out_type : type);
    return PMPI_Alltoallv(data, counts, offsets, type, out, out_counts, out_offsets, out_type,
                          comm);
}

int MPI_Ialltoallv(const void *data, const int *counts, const int *offsets, MPI_Datatype type,
                   void *out, const int *out_counts, const int *out_offsets, MPI_Datatype out_type,
                   MPI_Comm comm, MPI_Request *request)
{
    if (is_intra(comm))
        to_all(comm, data == MPI_IN_PLACE ? out_counts : counts,
               data == MPI_IN_PLACE ? out_type : type);
    return PMPI_Ialltoallv(data, counts, offsets, type, out, out_counts, out_offsets, out_type,
                           comm, request);
}

int MPI_Scan(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    if (is_intra(comm))
        monitor_chain(comm, monitor_bytes_of(count, type));
    return PMPI_Scan(data, out, count, type, op, comm);
}

int MPI_Iscan(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
              MPI_Request *request)
{
    if (is_intra(comm))
        monitor_chain(comm, monitor_bytes_of(count, type));
    return PMPI_Iscan(data, out, count, type, op, comm, request);
}

int MPI_Exscan(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    if (is_intra(comm))
        monitor_chain(comm, monitor_bytes_of(count, type));
    return PMPI_Exscan(data, out, count, type, op, comm);
}

int MPI_Iexscan(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request *request)
{
    if (is_intra(comm))
        monitor_chain(comm, monitor_bytes_of(count, type));
    return PMPI_Iexscan(data, out, count, type, op, comm, request);
}

int MPI_Reduce_scatter(const void *data, void *out, const int *counts, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm)
{
    if (is_intra(comm))
        monitor_halving(comm, sum_of(comm, counts, type));
    return PMPI_Reduce_scatter(data, out, counts, type, op, comm);
}

int MPI_Ireduce_scatter(const void *data, void *out, const int *counts, MPI_Datatype type,
                        MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    if (is_intra(comm))
        monitor_halving(comm, sum_of(comm, counts, type));
    return PMPI_Ireduce_scatter(data, out, counts, type, op, comm, request);
}

int MPI_Reduce_scatter_block(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm)
{
    if (is_intra(comm))
        pairwise(comm, monitor_bytes_of(count, type));
    return PMPI_Reduce_scatter_block(data, out, count, type, op, comm);
}

int MPI_Ireduce_scatter_block(const void *data, void *out, int count, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm, MPI_Request *request)
{
    if (is_intra(comm))
        pairwise(comm, monitor_bytes_of(count, type));
    return PMPI_Ireduce_scatter_block(data, out, count, type, op, comm, request);
}
