/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graph topologies, where every rank knows the whole graph, and distributed ones, where each rank
 * knows its own neighbours.
 */
#include <stdio.h>
#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"
#include "mpi/topo/calls.h"
#include "mpi/topo/reorder_comm.h"
#include "mpi/topo/topology.h"

/* Hang the topology on the new communicator and give its handle. */
static int give(mpi_comm_t *parent, mpi_comm_t *made, mpi_topology_t *topology, MPI_Comm *newcomm)
{
    if (!made) {
        *newcomm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    made->topology = topology;
    if (!topology) {
        mpi_comm_release(made);
        return mpi_error_memory(parent, "a graph topology");
    }
    *newcomm = mpi_comm_handle(made);
    return MPI_SUCCESS;
}

/* Check the nodes and edges of a graph; returns an MPI error code. */
static int check_graph(mpi_comm_t *comm, int nnodes, const int *index, const int *edges)
{
    if (comm->remote)
        return mpi_error(comm, MPI_ERR_COMM, "%s is an intercommunicator", mpi_comm_name(comm));
    if (nnodes < 0 || nnodes > comm->size)
        return mpi_error(comm, MPI_ERR_ARG, "the graph has %d nodes, %s %d ranks", nnodes,
                         mpi_comm_name(comm), comm->size);
    if (nnodes > 0 && (!index || (index[nnodes - 1] > 0 && !edges)))
        return mpi_error_null(comm, index ? "edges" : "index");
    for (int i = 0; i < nnodes; i++)
        if (index[i] < (i > 0 ? index[i - 1] : 0))
            return mpi_error(comm, MPI_ERR_ARG, "index[%d] is %d, less than the one before", i,
                             index[i]);
    for (int i = 0; nnodes > 0 && i < index[nnodes - 1]; i++)
        if (edges[i] < 0 || edges[i] >= nnodes)
            return mpi_error(comm, MPI_ERR_ARG, "edges[%d] is %d; the graph has %d nodes", i,
                             edges[i], nnodes);
    return MPI_SUCCESS;
}

/* Copy a graph; NULL without memory. */
static mpi_topology_t *graph_new(int nnodes, const int *index, const int *edges)
{
    size_t count = (size_t)index[nnodes - 1];
    mpi_topology_t *graph = mpi_topology_new(MPI_GRAPH, (size_t)nnodes + count);

    if (!graph)
        return NULL;
    graph->graph.nnodes = nnodes;
    graph->graph.index = graph->storage;
    graph->graph.edges = graph->storage + nnodes;
    memcpy(graph->graph.index, index, (size_t)nnodes * sizeof(int));
    if (count > 0)
        memcpy(graph->graph.edges, edges, count * sizeof(int));
    return graph;
}

typedef struct {
    int nnodes;
    const int *index, *edges;
    bool may_reorder;
} graph_t;

static int count_edges(const graph_t *graph)
{
    return graph->nnodes > 0 ? graph->index[graph->nnodes - 1] : 0;
}

/* The first place where two lists differ; -1: none. */
static int find_difference(const int *a, const int *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i] != b[i])
            return i;
    return -1;
}

/* " with 4 nodes", " with index[1] = 3", " with edges[2] = 0", " with reorder = 1". */
static void describe_graph(const mpi_topic_t *topic, const mpi_topic_t *other, char *text,
                           size_t room)
{
    const graph_t *a = topic->data, *b = other->data;
    int place;

    if (a->nnodes != b->nnodes)
        snprintf(text, room, " with %d nodes", a->nnodes);
    else if ((place = find_difference(a->index, b->index, a->nnodes)) >= 0)
        snprintf(text, room, " with index[%d] = %d", place, a->index[place]);
    else if ((place = find_difference(a->edges, b->edges, count_edges(a))) >= 0)
        snprintf(text, room, " with edges[%d] = %d", place, a->edges[place]);
    else
        snprintf(text, room, " with reorder = %d", a->may_reorder);
}

static void tell_graph(const mpi_topic_t *topic, char *text, size_t room)
{
    const graph_t *graph = topic->data;

    snprintf(text, room, " with reorder = %d", graph->may_reorder);
    mpi_topic_tell_list(text, room, "index", graph->index, graph->nnodes);
    mpi_topic_tell_list(text, room, "edges", graph->edges, count_edges(graph));
}

static mpi_topic_t topic_of(const graph_t *graph)
{
    uint64_t value = mpi_topic_add(graph->may_reorder, graph->nnodes);

    value = mpi_topic_add_list(value, graph->index, graph->nnodes);
    value = mpi_topic_add_list(value, graph->edges, count_edges(graph));
    return (mpi_topic_t){
        .value = value, .data = graph, .describe = describe_graph, .tell = tell_graph};
}

/* Append an entry for each edge of the graph, which all ranks know. */
static xy_status_t graph_pattern(void *const *args, int size, xy_vec_t *entries)
{
    const graph_t *graph = args[0];

    (void)size;
    for (int r = 0, e = 0; r < graph->nnodes; r++)
        for (; e < graph->index[r]; e++) {
            xy_matrix_entry_t entry = {(uint32_t)r, (uint32_t)graph->edges[e], 1, 1};

            if (xy_vec_append(entries, &entry) != XY_OK)
                return XY_ENOMEM;
        }
    return XY_OK;
}

/* Check the arguments of MPI_Graph_create and make the communicator; returns an MPI error code. */
static int graph_create(MPI_Comm handle, int nnodes, const int *index, const int *edges,
                        bool may_reorder, MPI_Comm *newcomm)
{
    mpi_comm_t *comm = mpi_comm_of(handle), *made = NULL;
    graph_t graph = {nnodes, index, edges, may_reorder};
    mpi_topic_t topic;
    int code;

    if (!comm)
        return mpi_comm_refuse(handle);
    code = check_graph(comm, nnodes, index, edges);
    if (code != MPI_SUCCESS)
        return code;
    topic = topic_of(&graph);
    comm->owner->topic = &topic;
    if (may_reorder && nnodes > 0)
        code = mpi_comm_reorder(comm, nnodes, &(mpi_pattern_t){.all = graph_pattern, .arg = &graph},
                                NULL, &made);
    else
        code = mpi_comm_split(comm, comm->rank < nnodes ? 0 : MPI_UNDEFINED, comm->rank, &made);
    comm->owner->topic = NULL;
    if (code != MPI_SUCCESS)
        return code;
    return give(comm, made, made ? graph_new(nnodes, index, edges) : NULL, newcomm);
}

int impl_graphdims_get(MPI_Comm handle, int *nnodes, int *nedges)
{
    int code = MPI_SUCCESS;
    mpi_comm_t *comm = mpi_topology_comm(handle, MPI_GRAPH, &code);

    if (!comm)
        return code;
    *nnodes = comm->topology->graph.nnodes;
    *nedges = comm->topology->graph.index[*nnodes - 1];
    return MPI_SUCCESS;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

int impl_graph_get(MPI_Comm handle, int maxindex, int maxedges, int *index, int *edges)
{
    int code = MPI_SUCCESS, nnodes;
    mpi_comm_t *comm = mpi_topology_comm(handle, MPI_GRAPH, &code);
    const mpi_topology_t *graph;

    if (!comm)
        return code;
    if (maxindex < 0 || maxedges < 0 || !index || (maxedges > 0 && !edges))
        return mpi_error(comm, MPI_ERR_ARG, "there is no room for the index or the edges");
    graph = comm->topology;
    nnodes = graph->graph.nnodes;
    memcpy(index, graph->graph.index, (size_t)least(maxindex, nnodes) * sizeof(int));
    if (maxedges > 0)
        memcpy(edges, graph->graph.edges,
               (size_t)least(maxedges, graph->graph.index[nnodes - 1]) * sizeof(int));
    return MPI_SUCCESS;
}

/* The neighbours of any rank: at most `most` are copied, their number is in *count_p. */
int part_graph_neighbors(MPI_Comm handle, int rank, int most, int *neighbors, int *count_p)
{
    int code = MPI_SUCCESS, first, count;
    mpi_comm_t *comm = mpi_topology_comm(handle, MPI_GRAPH, &code);
    const mpi_topology_t *graph;

    if (!comm)
        return code;
    if (rank < 0 || rank >= comm->size)
        return mpi_error(comm, MPI_ERR_RANK, "rank %d does not exist in %s, which has %d ranks",
                         mpi_number_passed(rank), mpi_comm_name(comm), comm->size);
    graph = comm->topology;
    first = rank > 0 ? graph->graph.index[rank - 1] : 0;
    count = graph->graph.index[rank] - first;
    if (most > 0 && !neighbors)
        return mpi_error_null(comm, "neighbors");
    if (most > 0 && count > 0)
        memcpy(neighbors, graph->graph.edges + first, (size_t)least(most, count) * sizeof(int));
    if (count_p)
        *count_p = count;
    return MPI_SUCCESS;
}

int impl_graph_map(MPI_Comm handle, int nnodes, const int *index, const int *edges, int *newrank)
{
    mpi_comm_t *comm = mpi_comm_of(handle);
    int code;

    if (!comm)
        return mpi_comm_refuse(handle);
    code = check_graph(comm, nnodes, index, edges);
    if (code == MPI_SUCCESS)
        code = mpi_reorder_map(comm, nnodes, graph_pattern, &(graph_t){nnodes, index, edges, true},
                               newrank);
    return code;
}

int impl_graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[],
                      int reorder, MPI_Comm *comm_graph)
{
    return graph_create(comm_old, nnodes, index, edges, reorder != 0, comm_graph);
}
