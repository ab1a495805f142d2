/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributed graphs: each rank knows its own neighbours. MPI_Dist_graph_create lets any rank name
 * any edge; the leader of the call sorts them out in one pass over all edges.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"
#include "mpi/topo/calls.h"
#include "mpi/topo/reorder_comm.h"
#include "mpi/topo/topology.h"

/* Allocate a distributed graph with room for its neighbours and weights; NULL without memory. */
static mpi_topology_t *dist_new(int indegree, int outdegree, bool is_weighted)
{
    size_t in = (size_t)indegree, out = (size_t)outdegree;
    mpi_topology_t *graph = mpi_topology_new(MPI_DIST_GRAPH, (in + out) * (is_weighted ? 2 : 1));

    if (!graph)
        return NULL;
    graph->dist.indegree = indegree;
    graph->dist.outdegree = outdegree;
    graph->dist.is_weighted = is_weighted;
    graph->dist.sources = graph->storage;
    graph->dist.destinations = graph->storage + in;
    if (is_weighted) {
        graph->dist.source_weights = graph->storage + in + out;
        graph->dist.destination_weights = graph->storage + in + out + in;
    }
    return graph;
}

/* List the edges out of a node; a weight is an amount. */
static xy_status_t dist_own(const void *arg, int rank, xy_vec_t *entries)
{
    const mpi_topology_t *graph = arg;

    for (int k = 0; graph != NULL && k < graph->dist.outdegree; k++) {
        double amount = graph->dist.is_weighted ? graph->dist.destination_weights[k] : 1;
        xy_matrix_entry_t e = {(uint32_t)rank, (uint32_t)graph->dist.destinations[k], amount, 1};

        if (xy_vec_append(entries, &e) != XY_OK)
            return XY_ENOMEM;
    }
    return XY_OK;
}

/* From the topologies of all. */
static xy_status_t dist_pattern(void *const *args, int size, xy_vec_t *entries)
{
    xy_status_t st = XY_OK;

    for (int r = 0; r < size && st == XY_OK; r++)
        st = dist_own(args[r], r, entries);
    return st;
}

/* The arguments that all members must have in common; those without edges need not say whether
 * these have weights. */
typedef struct {
    bool may_reorder, is_weighted, has_edges;
} said_t;

/* Find two members that disagree about reordering or weights; false if all agree. */
static bool find_said(const mpi_topic_t *const *topics, int size, int *a_p, int *b_p)
{
    const said_t *first = NULL;

    *a_p = 0;
    for (*b_p = 1; *b_p < size; ++*b_p)
        if (((const said_t *)topics[*b_p]->data)->may_reorder !=
            ((const said_t *)topics[0]->data)->may_reorder)
            return true;
    for (*b_p = 0; *b_p < size; ++*b_p) {
        const said_t *said = topics[*b_p]->data;

        if (first && said->has_edges && said->is_weighted != first->is_weighted)
            return true;
        if (!first && said->has_edges) {
            first = said;
            *a_p = *b_p;
        }
    }
    return false;
}

static void describe_said(const mpi_topic_t *topic, const mpi_topic_t *other, char *text,
                          size_t room)
{
    const said_t *said = topic->data;

    if (said->may_reorder != ((const said_t *)other->data)->may_reorder)
        snprintf(text, room, " with reorder = %d", said->may_reorder);
    else
        snprintf(text, room, " with%s weights", said->is_weighted ? "" : "out");
}

static void tell_said(const mpi_topic_t *topic, char *text, size_t room)
{
    const said_t *said = topic->data;

    snprintf(text, room, " with reorder = %d%s", said->may_reorder,
             !said->has_edges     ? " and no edges"
             : !said->is_weighted ? " and without weights"
                                  : " and with weights");
}

/* `more`: reorder; whether edges have weights, or -1: it has none. */
static bool find_said_far(const mpi_topic_t *topic, const mpi_said_t *said, int size, int own,
                          int *a_p, int *b_p)
{
    (void)topic, (void)own;
    *b_p = 0;
    for (*a_p = 1; *a_p < size; ++*a_p)
        if (said[*a_p].more[0] != said[0].more[0])
            return true;
    *b_p = -1;
    for (*a_p = 0; *a_p < size; ++*a_p) {
        if (said[*a_p].more[1] < 0)
            continue;
        if (*b_p < 0)
            *b_p = *a_p;
        else if (said[*a_p].more[1] != said[*b_p].more[1])
            return true;
    }
    return false;
}

/* A communicator of the same members with this topology (NULL: memory ran out). All members come
 * here, also those that failed before. */
static int give(mpi_comm_t *comm, mpi_topology_t *topology, const said_t *said, MPI_Comm *newcomm)
{
    mpi_topic_t topic = {.value = said->may_reorder,
                         .data = said,
                         .find = find_said,
                         .describe = describe_said,
                         .tell = tell_said,
                         .find_far = find_said_far,
                         .more = {said->may_reorder, said->has_edges ? said->is_weighted : -1}};
    mpi_comm_t *made;
    int code;

    comm->owner->topic = &topic;
    code = said->may_reorder ? mpi_comm_reorder(comm, comm->size,
                                                &(mpi_pattern_t){dist_pattern, dist_own, topology},
                                                &topology, &made)
                             : mpi_comm_duplicate(comm, &made);
    comm->owner->topic = NULL;
    if (code != MPI_SUCCESS) {
        mpi_topology_release(topology);
        return code;
    }
    made->topology = topology;
    if (!topology) {
        mpi_comm_release(made);
        return mpi_error_memory(comm, "a distributed graph");
    }
    *newcomm = mpi_comm_handle(made);
    return MPI_SUCCESS;
}

/* `list` of `count` ranks of comm, with weights when the graph has them. */
static int check_list(mpi_comm_t *comm, const char *what, int count, const int *list,
                      const int *weights)
{
    if (count < 0)
        return mpi_error(comm, MPI_ERR_ARG, "the number of %s is %d", what, count);
    if (count > 0 && (!list || !weights || weights == MPI_WEIGHTS_EMPTY))
        return mpi_error(comm, MPI_ERR_ARG, "there are %d %s, but the list or the weights are NULL",
                         count, what);
    for (int i = 0; i < count; i++)
        if (list[i] < 0 || list[i] >= comm->size)
            return mpi_error(comm, MPI_ERR_RANK, "number %d of the %s is %d; %s has %d ranks", i,
                             what, list[i], mpi_comm_name(comm), comm->size);
    for (int i = 0; weights != MPI_UNWEIGHTED && i < count; i++)
        if (weights[i] < 0)
            return mpi_error(comm, MPI_ERR_ARG, "weight %d of the %s is %d", i, what, weights[i]);
    return MPI_SUCCESS;
}

static void copy(int *to, const int *from, int count)
{
    if (count > 0)
        memcpy(to, from, (size_t)count * sizeof *to);
}

/* Check the arguments of MPI_Dist_graph_create_adjacent and make the communicator; returns an MPI
 * error code. */
static int create_adjacent(MPI_Comm handle, int indegree, const int *sources,
                           const int *sourceweights, int outdegree, const int *destinations,
                           const int *destweights, bool may_reorder, MPI_Comm *newcomm)
{
    mpi_comm_t *comm = mpi_comm_of(handle);
    said_t said = {may_reorder, sourceweights != MPI_UNWEIGHTED, indegree + outdegree > 0};
    mpi_topology_t *graph;
    int code;

    if (!comm)
        return mpi_comm_refuse(handle);
    if (comm->remote)
        return mpi_error(comm, MPI_ERR_COMM, "%s is an intercommunicator", mpi_comm_name(comm));
    code = check_list(comm, "sources", indegree, sources, sourceweights);
    if (code == MPI_SUCCESS)
        code = check_list(comm, "destinations", outdegree, destinations, destweights);
    if (code != MPI_SUCCESS)
        return code;
    if ((sourceweights == MPI_UNWEIGHTED) != (destweights == MPI_UNWEIGHTED))
        return mpi_error(comm, MPI_ERR_ARG, "only one side of the graph is MPI_UNWEIGHTED");
    graph = dist_new(indegree, outdegree, sourceweights != MPI_UNWEIGHTED);
    if (graph) {
        copy(graph->dist.sources, sources, indegree);
        copy(graph->dist.destinations, destinations, outdegree);
    }
    if (graph && graph->dist.is_weighted) {
        copy(graph->dist.source_weights, sourceweights, indegree);
        copy(graph->dist.destination_weights, destweights, outdegree);
    }
    return give(comm, graph, &said, newcomm);
}

/* The edges that one rank has given. */
typedef struct {
    int n;
    const int *sources, *degrees, *destinations, *weights;
} edges_t;

typedef void (*edge_fn)(mpi_topology_t **graphs, int *degrees, int from, int to, int weight);

/* Call `fn` for every edge that a rank gave, in the order of ranks. */
static void each_edge(void *const *inputs, int size, mpi_topology_t **graphs, int *degrees,
                      edge_fn fn)
{
    for (int i = 0; i < size; i++) {
        const edges_t *edges = inputs[i];
        bool is_weighted = edges->weights != MPI_UNWEIGHTED;

        for (int s = 0, e = 0; s < edges->n; s++)
            for (int k = 0; k < edges->degrees[s]; k++, e++)
                fn(graphs, degrees, edges->sources[s], edges->destinations[e],
                   is_weighted ? edges->weights[e] : 1);
    }
}

/* degrees[2 * r] counts the edges into r, degrees[2 * r + 1] those out of it. */
static void count_edge(mpi_topology_t **graphs, int *degrees, int from, int to, int weight)
{
    (void)graphs;
    (void)weight;
    degrees[2 * from + 1]++;
    degrees[2 * to]++;
}

/* Add an edge to the lists of both its ends; `degrees` counts what is filled. */
static void put_edge(mpi_topology_t **graphs, int *degrees, int from, int to, int weight)
{
    int out = degrees[2 * from + 1]++, in = degrees[2 * to]++;

    if (graphs[from]) {
        graphs[from]->dist.destinations[out] = to;
        if (graphs[from]->dist.is_weighted)
            graphs[from]->dist.destination_weights[out] = weight;
    }
    if (graphs[to]) {
        graphs[to]->dist.sources[in] = from;
        if (graphs[to]->dist.is_weighted)
            graphs[to]->dist.source_weights[in] = weight;
    }
}

/* Each output is a topology that its member owns; NULL: memory ran out. */
static void edges_leader(void *const *inputs, int size, void *const *outputs)
{
    int *degrees = xy_calloc(2 * (size_t)size, sizeof *degrees);
    mpi_topology_t **graphs = xy_calloc((size_t)size, sizeof(mpi_topology_t *));
    bool is_weighted = ((const edges_t *)inputs[0])->weights != MPI_UNWEIGHTED;

    if (degrees && graphs) {
        each_edge(inputs, size, graphs, degrees, count_edge);
        for (int r = 0; r < size; r++)
            graphs[r] = dist_new(degrees[2 * r], degrees[2 * r + 1], is_weighted);
        memset(degrees, 0, 2 * (size_t)size * sizeof *degrees);
        each_edge(inputs, size, graphs, degrees, put_edge);
    }
    for (int r = 0; r < size; r++)
        *(mpi_topology_t **)outputs[r] = degrees && graphs ? graphs[r] : NULL;
    xy_free(degrees);
    xy_free(graphs);
}

/* ---- Between processes: the edges of all members travel as numbers ---- */

/* n, whether weights follow, the number of edges; sources, degrees, destinations, weights. */
enum { HEAD = 3, MOST_EDGES = (INT_MAX - HEAD) / 2 /* and sources: their number is an int */ };

/* Write the edges that a rank names as numbers for other processes; the caller owns them, NULL
 * without memory. */
static int *edges_write(const edges_t *e, int total, int length)
{
    int *words = xy_calloc((size_t)length, sizeof *words), *at = words + HEAD;

    if (!words)
        return NULL;
    words[0] = e->n;
    words[1] = e->weights != MPI_UNWEIGHTED;
    words[2] = total;
    for (int i = 0; i < e->n; i++)
        *at++ = e->sources[i];
    for (int i = 0; i < e->n; i++)
        *at++ = e->degrees[i];
    for (int i = 0; i < total; i++)
        *at++ = e->destinations[i];
    for (int i = 0; words[1] && total > 0 && e->weights != MPI_WEIGHTS_EMPTY && i < total; i++)
        *at++ = e->weights[i];
    return words;
}

static edges_t edges_read(const int *words)
{
    const int *lists = words + HEAD;
    int n = words[0];

    return (edges_t){n, lists, lists + n, lists + 2 * n,
                     words[1] ? lists + 2 * n + words[2] : MPI_UNWEIGHTED};
}

/* Every member finds its own edges among all; NULL: memory ran out. */
static mpi_topology_t *find_own(const int *all, int longest, int size, int rank)
{
    edges_t *edges = xy_malloc((size_t)size * sizeof *edges);
    void **inputs = xy_calloc(2 * (size_t)size, sizeof *inputs), **outputs = inputs + size;
    mpi_topology_t **graphs = xy_calloc((size_t)size, sizeof(mpi_topology_t *)), *own = NULL;

    if (edges && inputs && graphs) {
        for (int r = 0; r < size; r++) {
            edges[r] = edges_read(all + (size_t)r * (size_t)longest);
            inputs[r] = &edges[r];
            outputs[r] = &graphs[r];
        }
        edges_leader(inputs, size, outputs);
        own = graphs[rank];
        for (int r = 0; r < size; r++)
            if (r != rank)
                mpi_topology_release(graphs[r]);
    }
    xy_free(edges);
    xy_free(inputs);
    xy_free(graphs);
    return own;
}

/* Exchange the edges of all members and return this rank's graph; NULL without memory. */
static mpi_topology_t *exchange_edges(mpi_comm_t *comm, const edges_t *edges, int total)
{
    int length = HEAD + 2 * edges->n + 2 * total, *words = edges_write(edges, total, length);
    mpi_topology_t *graph;
    size_t stride;
    char *all;

    if (!words) { /* the others wait for this one */
        xy_fail_memory("making a graph of ranks");
        mpi_job->abort(1);
    }
    all = mpi_spread_exchange(comm, words, (size_t)length * sizeof *words, &stride);
    graph = find_own((const int *)(const void *)all, (int)(stride / sizeof(int)), comm->size,
                     comm->rank);
    xy_free(words);
    xy_free(all);
    return graph;
}

/* Check the arguments of MPI_Dist_graph_create and make the communicator; returns an MPI error
 * code. */
static int create(MPI_Comm handle, const edges_t *edges, bool may_reorder, MPI_Comm *newcomm)
{
    mpi_comm_t *comm = mpi_comm_of(handle);
    said_t said = {may_reorder, edges->weights != MPI_UNWEIGHTED, false};
    mpi_topology_t *graph;
    int code, total = 0;

    if (!comm)
        return mpi_comm_refuse(handle);
    if (comm->remote)
        return mpi_error(comm, MPI_ERR_COMM, "%s is an intercommunicator", mpi_comm_name(comm));
    code = check_list(comm, "sources", edges->n, edges->sources, MPI_UNWEIGHTED);
    if (code == MPI_SUCCESS && edges->n > 0 && !edges->degrees)
        code = mpi_error_null(comm, "degrees");
    for (int i = 0; i < edges->n && code == MPI_SUCCESS; i++) {
        if (edges->degrees[i] < 0)
            code = mpi_error(comm, MPI_ERR_ARG, "degrees[%d] is %d", i, edges->degrees[i]);
        else if (edges->degrees[i] > MOST_EDGES - edges->n - total)
            code =
                mpi_error(comm, MPI_ERR_ARG, "there are more than %d edges", MOST_EDGES - edges->n);
        else
            total += edges->degrees[i];
    }
    if (code == MPI_SUCCESS)
        code = check_list(comm, "destinations", total, edges->destinations, edges->weights);
    if (code == MPI_SUCCESS && mpi_comm_is_spread(comm))
        graph = exchange_edges(comm, edges, total);
    else if (code == MPI_SUCCESS)
        code = mpi_coll_agree(comm, edges, &graph, edges_leader);
    said.has_edges = total > 0;
    return code == MPI_SUCCESS ? give(comm, graph, &said, newcomm) : code;
}

int impl_dist_graph_neighbors_count(MPI_Comm handle, int *indegree, int *outdegree, int *weighted)
{
    int code = MPI_SUCCESS;
    mpi_comm_t *comm = mpi_topology_comm(handle, MPI_DIST_GRAPH, &code);

    if (!comm)
        return code;
    *indegree = comm->topology->dist.indegree;
    *outdegree = comm->topology->dist.outdegree;
    *weighted = comm->topology->dist.is_weighted;
    return MPI_SUCCESS;
}

int impl_dist_graph_neighbors(MPI_Comm handle, int maxin, int *sources, int *sourceweights,
                              int maxout, int *destinations, int *destweights)
{
    int code = MPI_SUCCESS;
    mpi_comm_t *comm = mpi_topology_comm(handle, MPI_DIST_GRAPH, &code);
    const mpi_topology_t *graph;

    if (!comm)
        return code;
    graph = comm->topology;
    if (maxin < 0 || maxout < 0)
        return mpi_error(comm, MPI_ERR_ARG, "there is room for %d sources and %d destinations",
                         maxin, maxout);
    if (maxin > graph->dist.indegree)
        maxin = graph->dist.indegree;
    if (maxout > graph->dist.outdegree)
        maxout = graph->dist.outdegree;
    if (graph->dist.is_weighted && ((maxin > 0 && !sourceweights) || (maxout > 0 && !destweights)))
        return mpi_error_null(comm, maxin > 0 && !sourceweights ? "sourceweights" : "destweights");
    copy(sources, graph->dist.sources, maxin);
    copy(destinations, graph->dist.destinations, maxout);
    if (graph->dist.is_weighted && sourceweights != MPI_UNWEIGHTED)
        copy(sourceweights, graph->dist.source_weights, maxin);
    if (graph->dist.is_weighted && destweights != MPI_UNWEIGHTED)
        copy(destweights, graph->dist.destination_weights, maxout);
    return MPI_SUCCESS;
}

int impl_dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                    const int *sourceweights, int outdegree,
                                    const int destinations[], const int *destweights, MPI_Info info,
                                    int reorder, MPI_Comm *comm_dist_graph)
{
    (void)info;
    return create_adjacent(comm_old, indegree, sources, sourceweights, outdegree, destinations,
                           destweights, reorder != 0, comm_dist_graph);
}

int impl_dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                           const int destinations[], const int *weights, MPI_Info info, int reorder,
                           MPI_Comm *comm_dist_graph)
{
    edges_t edges = {n, sources, degrees, destinations, weights};

    (void)info;
    return create(comm_old, &edges, reorder != 0, comm_dist_graph);
}
