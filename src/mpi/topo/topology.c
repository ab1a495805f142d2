/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/topo/topology.h"

#include <string.h>

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

/* The rank one step along dimension `d`, or MPI_PROC_NULL. */
static int cart_step(const mpi_topology_t *cart, int rank, int d, int step)
{
    int place = cart->cart.coords[d] + step, stride = 1;

    if (place < 0 || place >= cart->cart.dims[d]) {
        if (!cart->cart.periods[d])
            return MPI_PROC_NULL;
        place = (place + cart->cart.dims[d]) % cart->cart.dims[d];
    }
    for (int i = d + 1; i < cart->cart.ndims; i++)
        stride *= cart->cart.dims[i];
    return rank + (place - cart->cart.coords[d]) * stride;
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
            sources[i] = destinations[i] = cart_step(topology, comm->rank, i / 2, i % 2 ? 1 : -1);
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
