/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives with a message for each block: neighbourhoods, and MPI_Alltoallw. */
#include <stdlib.h>

#include "monitor.h"

/* Neighbour i gets counts[i] (NULL: `count`) elements of types[i] (NULL: `type`). */
typedef struct {
    int count;
    const int *counts;
    MPI_Datatype type;
    const MPI_Datatype *types;
} blocks_t;

static void count_block(MPI_Comm comm, int i, int to, const blocks_t *b)
{
    if (to != MPI_PROC_NULL)
        monitor_bytes(
            comm, to,
            monitor_bytes_of(b->counts ? b->counts[i] : b->count, b->types ? b->types[i] : b->type),
            1, MONITOR_COLLECTIVE);
}

static void to_grid(MPI_Comm comm, const blocks_t *b)
{
    int dims = 0, below, above;

    PMPI_Cartdim_get(comm, &dims);
    for (int d = 0; d < dims; d++) {
        PMPI_Cart_shift(comm, d, 1, &below, &above);
        count_block(comm, 2 * d, below, b);
        count_block(comm, 2 * d + 1, above, b);
    }
}

static void to_list(MPI_Comm comm, const int *neighbors, int count, const blocks_t *b)
{
    for (int i = 0; i < count; i++)
        count_block(comm, i, neighbors[i], b);
}

static void to_graph(MPI_Comm comm, const blocks_t *b)
{
    int rank, count = 0, *neighbors;

    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &count);
    neighbors = malloc(((size_t)count + 1) * sizeof(int));
    if (neighbors == NULL)
        return;
    PMPI_Graph_neighbors(comm, rank, count, neighbors);
    to_list(comm, neighbors, count, b);
    free(neighbors);
}

static void to_edges(MPI_Comm comm, const blocks_t *b)
{
    int in = 0, out = 0, is_weighted, *all;

    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &is_weighted);
    all = malloc(2 * ((size_t)in + (size_t)out + 1) * sizeof(int));
    if (all == NULL)
        return;
    PMPI_Dist_graph_neighbors(comm, in, all, all + in, out, all + 2 * in, all + 2 * in + out);
    to_list(comm, all + 2 * in, out, b);
    free(all);
}

static void to_neighbors(MPI_Comm comm, blocks_t b)
{
    int kind = MPI_UNDEFINED;

    PMPI_Topo_test(comm, &kind);
    if (kind == MPI_CART)
        to_grid(comm, &b);
    else if (kind == MPI_GRAPH)
        to_graph(comm, &b);
    else if (kind == MPI_DIST_GRAPH)
        to_edges(comm, &b);
}

static void regular(MPI_Comm comm, int count, MPI_Datatype type)
{
    to_neighbors(comm, (blocks_t){count, NULL, type, NULL});
}

int MPI_Neighbor_allgather(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                           MPI_Datatype out_type, MPI_Comm comm)
{
    regular(comm, count, type);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER, PMPI_Neighbor_allgather(data, count, type, out,
                                                                        out_count, out_type, comm));
}

int MPI_Ineighbor_allgather(const void *data, int count, MPI_Datatype type, void *out,
                            int out_count, MPI_Datatype out_type, MPI_Comm comm,
                            MPI_Request *request)
{
    regular(comm, count, type);
    return MONITOR_CALL(
        PMPI_Ineighbor_allgather(data, count, type, out, out_count, out_type, comm, request));
}

int MPI_Neighbor_allgatherv(const void *data, int count, MPI_Datatype type, void *out,
                            const int *counts, const int *offsets, MPI_Datatype out_type,
                            MPI_Comm comm)
{
    regular(comm, count, type);
    return MONITOR_CALL_AS(
        MONITOR_LATE_MEMBER,
        PMPI_Neighbor_allgatherv(data, count, type, out, counts, offsets, out_type, comm));
}

int MPI_Ineighbor_allgatherv(const void *data, int count, MPI_Datatype type, void *out,
                             const int *counts, const int *offsets, MPI_Datatype out_type,
                             MPI_Comm comm, MPI_Request *request)
{
    regular(comm, count, type);
    return MONITOR_CALL(PMPI_Ineighbor_allgatherv(data, count, type, out, counts, offsets, out_type,
                                                  comm, request));
}

int MPI_Neighbor_alltoall(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                          MPI_Datatype out_type, MPI_Comm comm)
{
    regular(comm, count, type);
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER, PMPI_Neighbor_alltoall(data, count, type, out,
                                                                       out_count, out_type, comm));
}

int MPI_Ineighbor_alltoall(const void *data, int count, MPI_Datatype type, void *out, int out_count,
                           MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request)
{
    regular(comm, count, type);
    return MONITOR_CALL(
        PMPI_Ineighbor_alltoall(data, count, type, out, out_count, out_type, comm, request));
}

int MPI_Neighbor_alltoallv(const void *data, const int *counts, const int *offsets,
                           MPI_Datatype type, void *out, const int *out_counts,
                           const int *out_offsets, MPI_Datatype out_type, MPI_Comm comm)
{
    to_neighbors(comm, (blocks_t){0, counts, type, NULL});
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER,
                           PMPI_Neighbor_alltoallv(data, counts, offsets, type, out, out_counts,
                                                   out_offsets, out_type, comm));
}

int MPI_Ineighbor_alltoallv(const void *data, const int *counts, const int *offsets,
                            MPI_Datatype type, void *out, const int *out_counts,
                            const int *out_offsets, MPI_Datatype out_type, MPI_Comm comm,
                            MPI_Request *request)
{
    to_neighbors(comm, (blocks_t){0, counts, type, NULL});
    return MONITOR_CALL(PMPI_Ineighbor_alltoallv(data, counts, offsets, type, out, out_counts,
                                                 out_offsets, out_type, comm, request));
}

int MPI_Neighbor_alltoallw(const void *data, const int *counts, const MPI_Aint *offsets,
                           const MPI_Datatype *types, void *out, const int *out_counts,
                           const MPI_Aint *out_offsets, const MPI_Datatype *out_types,
                           MPI_Comm comm)
{
    to_neighbors(comm, (blocks_t){0, counts, MPI_BYTE, types});
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER,
                           PMPI_Neighbor_alltoallw(data, counts, offsets, types, out, out_counts,
                                                   out_offsets, out_types, comm));
}

int MPI_Ineighbor_alltoallw(const void *data, const int *counts, const MPI_Aint *offsets,
                            const MPI_Datatype *types, void *out, const int *out_counts,
                            const MPI_Aint *out_offsets, const MPI_Datatype *out_types,
                            MPI_Comm comm, MPI_Request *request)
{
    to_neighbors(comm, (blocks_t){0, counts, MPI_BYTE, types});
    return MONITOR_CALL(PMPI_Ineighbor_alltoallw(data, counts, offsets, types, out, out_counts,
                                                 out_offsets, out_types, comm, request));
}

/* Pairwise, as MPI_Alltoallv; between two groups nothing is counted, as with the others. */
static void to_all(MPI_Comm comm, const void *data, const blocks_t *send, const blocks_t *receive)
{
    const blocks_t *b = data == MPI_IN_PLACE ? receive : send;
    int rank, size, is_inter = 0;

    PMPI_Comm_test_inter(comm, &is_inter);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    for (int i = 1; i < size && !is_inter; i++)
        count_block(comm, (rank + i) % size, (rank + i) % size, b);
}

int MPI_Alltoallw(const void *data, const int *counts, const int *offsets,
                  const MPI_Datatype *types, void *out, const int *out_counts,
                  const int *out_offsets, const MPI_Datatype *out_types, MPI_Comm comm)
{
    to_all(comm, data, &(blocks_t){0, counts, MPI_BYTE, types},
           &(blocks_t){0, out_counts, MPI_BYTE, out_types});
    return MONITOR_CALL_AS(MONITOR_LATE_MEMBER,
                           PMPI_Alltoallw(data, counts, offsets, types, out, out_counts,
                                          out_offsets, out_types, comm));
}

int MPI_Ialltoallw(const void *data, const int *counts, const int *offsets,
                   const MPI_Datatype *types, void *out, const int *out_counts,
                   const int *out_offsets, const MPI_Datatype *out_types, MPI_Comm comm,
                   MPI_Request *request)
{
    to_all(comm, data, &(blocks_t){0, counts, MPI_BYTE, types},
           &(blocks_t){0, out_counts, MPI_BYTE, out_types});
    return MONITOR_CALL(PMPI_Ialltoallw(data, counts, offsets, types, out, out_counts, out_offsets,
                                        out_types, comm, request));
}
