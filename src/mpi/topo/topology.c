/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/topo/topology.h"

#include <string.h>

#include "arith/arith.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"
#include "mpi/topo/calls.h"

mpi_topology_t *mpi_topology_new(int kind, size_t ints)
{
    mpi_topology_t *topology = xy_calloc(1, sizeof *topology + ints * sizeof(int));

    if (topology) {
        topology->references = 1;
        topology->kind = kind;
    }
    return topology;
}

void mpi_topology_release(mpi_topology_t *topology)
{
    if (topology && --topology->references == 0)
        xy_free(topology);
}

/* ---- Copies ---- */

/* Numbers that a topology keeps; lists are read at `storage`. */
static size_t count_ints(const mpi_topology_t *t, const int *storage)
{
    if (t->kind == MPI_CART)
        return 3 * (size_t)t->cart.ndims;
    if (t->kind == MPI_GRAPH)
        return (size_t)t->graph.nnodes + (size_t)storage[t->graph.nnodes - 1];
    return ((size_t)t->dist.indegree + (size_t)t->dist.outdegree) * (t->dist.is_weighted ? 2 : 1);
}

size_t mpi_topology_bytes(const mpi_topology_t *topology)
{
    return sizeof *topology + count_ints(topology, topology->storage) * sizeof(int);
}

/* Let a list of the original, which was at `was_at`, be the same list of the copy. */
static void move_list(mpi_topology_t *copy, uintptr_t was_at, int **list)
{
    if (*list)
        *list = (int *)(void *)((char *)copy + ((uintptr_t)*list - was_at));
}

mpi_topology_t *mpi_topology_copy(const void *bytes, uintptr_t was_at)
{
    mpi_topology_t head, *copy;
    size_t size;

    memcpy(&head, bytes, sizeof head);
    size = sizeof head +
           count_ints(&head, (const int *)(const void *)((const char *)bytes + sizeof head)) *
               sizeof(int);
    copy = xy_malloc(size);
    if (!copy)
        return NULL;
    memcpy(copy, bytes, size);
    copy->references = 1;
    if (copy->kind == MPI_CART) {
        move_list(copy, was_at, &copy->cart.dims);
        move_list(copy, was_at, &copy->cart.periods);
        move_list(copy, was_at, &copy->cart.coords);
    } else if (copy->kind == MPI_GRAPH) {
        move_list(copy, was_at, &copy->graph.index);
        move_list(copy, was_at, &copy->graph.edges);
    } else {
        move_list(copy, was_at, &copy->dist.sources);
        move_list(copy, was_at, &copy->dist.destinations);
        move_list(copy, was_at, &copy->dist.source_weights);
        move_list(copy, was_at, &copy->dist.destination_weights);
    }
    return copy;
}

mpi_comm_t *mpi_topology_comm(MPI_Comm handle, int kind, int *code_p)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    if (!comm) {
        *code_p = mpi_comm_refuse(handle);
        return NULL;
    }
    if (!comm->topology || comm->topology->kind != kind) {
        *code_p = mpi_error(comm, MPI_ERR_TOPOLOGY, "%s has no %s topology", mpi_comm_name(comm),
                            kind == MPI_CART    ? "Cartesian"
                            : kind == MPI_GRAPH ? "graph"
                                                : "distributed graph");
        return NULL;
    }
    return comm;
}

/* The neighbours of a node in the graph: where its edges begin, and how many there are. */
static int graph_edges(const mpi_topology_t *graph, int node, const int **edges_p)
{
    int first = node > 0 ? graph->graph.index[node - 1] : 0;

    *edges_p = graph->graph.edges + first;
    return graph->graph.index[node] - first;
}

void mpi_topology_degrees(const mpi_comm_t *comm, int *in_p, int *out_p)
{
    const mpi_topology_t *topology = comm->topology;
    const int *edges;

    if (topology->kind == MPI_DIST_GRAPH) {
        *in_p = topology->dist.indegree;
        *out_p = topology->dist.outdegree;
    } else if (topology->kind == MPI_CART) {
        *in_p = *out_p = 2 * topology->cart.ndims;
    } else {
        *in_p = *out_p = graph_edges(topology, comm->rank, &edges);
    }
}

int mpi_topology_shift(const mpi_comm_t *comm, int direction, long steps)
{
    const mpi_topology_t *cart = comm->topology;

    return xy_grid_shift(comm->rank, cart->cart.ndims, cart->cart.dims, cart->cart.periods,
                         direction, steps);
}

void mpi_topology_neighbors(const mpi_comm_t *comm, int *sources, int *destinations)
{
    const mpi_topology_t *topology = comm->topology;
    const int *edges;

    if (topology->kind == MPI_DIST_GRAPH) {
        memcpy(sources, topology->dist.sources, (size_t)topology->dist.indegree * sizeof(int));
        memcpy(destinations, topology->dist.destinations,
               (size_t)topology->dist.outdegree * sizeof(int));
    } else if (topology->kind == MPI_CART) {
        for (int i = 0; i < 2 * topology->cart.ndims; i++)
            sources[i] = destinations[i] = mpi_topology_shift(comm, i / 2, i % 2 ? 1 : -1);
    } else {
        int count = graph_edges(topology, comm->rank, &edges);
        memcpy(sources, edges, (size_t)count * sizeof(int));
        memcpy(destinations, edges, (size_t)count * sizeof(int));
    }
}

int impl_topo_test(MPI_Comm handle, int *status)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    if (!comm)
        return mpi_comm_refuse(handle);
    *status = comm->topology ? comm->topology->kind : MPI_UNDEFINED;
    return MPI_SUCCESS;
}
