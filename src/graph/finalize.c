/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of building: from a list of edges to arrays that are quick to walk, in time linear in
 * both operations and edges. */
#include <string.h>

#include "graph/graph_internal.h"

/* Allocate the arrays of a finished graph; on failure the graph still owns those allocated. */
static xy_status_t allocate(xy_graph_t *graph)
{
    size_t ops = graph->ops.count;
    size_t edges = graph->edges.count;

    graph->successor_start = xy_calloc(ops + 1, sizeof(*graph->successor_start));
    graph->successors = xy_malloc((edges + 1) * sizeof(*graph->successors));
    graph->predecessors = xy_calloc(ops + 1, sizeof(*graph->predecessors));
    graph->topological = xy_malloc((ops + 1) * sizeof(*graph->topological));
    if (graph->successor_start == NULL || graph->successors == NULL ||
        graph->predecessors == NULL || graph->topological == NULL)
        return xy_fail_memory("finalizing a graph");
    return XY_OK;
}

/* Sort the pairs by their first operation (counting), which leaves start[i] at the end of i. */
static void place_edges(xy_graph_t *graph)
{
    size_t *start = graph->successor_start;
    const graph_edge_t *edges = graph->edges.data;
    size_t sum = 0;

    for (size_t e = 0; e < graph->edges.count; e++)
        start[edges[e].before]++;
    for (size_t i = 0; i < graph->ops.count; i++) {
        size_t n = start[i];

        start[i] = sum;
        sum += n;
    }
    for (size_t e = 0; e < graph->edges.count; e++)
        graph->successors[start[edges[e].before]++] = edges[e].after;
}

/* Close up the lists, each order once, and count what comes before each operation. `seen` holds
 * for each operation the last one that named it, plus one. */
static void drop_repeated(xy_graph_t *graph, int32_t *seen)
{
    size_t *start = graph->successor_start;
    size_t ops = graph->ops.count;
    size_t from = 0, kept = 0;

    for (size_t i = 0; i < ops; i++) {
        size_t end = start[i];

        start[i] = kept;
        for (; from < end; from++) {
            xy_op_id_t after = graph->successors[from];

            if (seen[after] == (int32_t)i + 1)
                continue;
            seen[after] = (int32_t)i + 1;
            graph->successors[kept++] = after;
            graph->predecessors[after]++;
        }
    }
    start[ops] = kept;
}

/* Fills topological[] in some valid order and depth[]; returns how many could be placed. */
static size_t walk(xy_graph_t *graph, int32_t *waits, int32_t *depth)
{
    size_t ops = graph->ops.count;
    size_t head = 0, tail = 0;

    for (size_t i = 0; i < ops; i++) {
        waits[i] = graph->predecessors[i];
        depth[i] = 0;
        if (waits[i] == 0)
            graph->topological[tail++] = (xy_op_id_t)i;
    }
    while (head < tail) {
        xy_op_id_t id = graph->topological[head++];

        for (size_t s = graph->successor_start[id]; s < graph->successor_start[id + 1]; s++) {
            xy_op_id_t after = graph->successors[s];

            if (depth[after] < depth[id] + 1)
                depth[after] = depth[id] + 1;
            if (--waits[after] == 0)
                graph->topological[tail++] = after;
        }
    }
    return tail;
}

static xy_status_t fail_cycle(const xy_graph_t *graph, const int32_t *waits, size_t placed)
{
    size_t first = 0;

    while (waits[first] == 0)
        first++;
    return xy_fail(XY_EINVAL,
                   "the order of a graph has a cycle: %zu of its %zu operations wait for each "
                   "other, operation %zu among them",
                   graph->ops.count - placed, graph->ops.count, first);
}

/* By depth, then id. `count` is scratch of ops + 1 entries. */
static void sort_by_depth(xy_graph_t *graph, const int32_t *depth, int32_t *count)
{
    size_t ops = graph->ops.count;
    int32_t sum = 0;

    memset(count, 0, (ops + 1) * sizeof(*count));
    for (size_t i = 0; i < ops; i++)
        count[depth[i]]++;
    for (size_t d = 0; d < ops; d++) {
        int32_t n = count[d];

        count[d] = sum;
        sum += n;
    }
    for (size_t i = 0; i < ops; i++)
        graph->topological[count[depth[i]]++] = (xy_op_id_t)i;
}

/* Fill the arrays of successors, predecessors and topological order; a cycle is reported as an
 * error. */
static xy_status_t arrange(xy_graph_t *graph)
{
    size_t ops = graph->ops.count;
    int32_t *scratch = xy_calloc(2 * (ops + 1), sizeof(*scratch));
    xy_status_t st = XY_OK;
    size_t placed;

    if (scratch == NULL)
        return xy_fail_memory("finalizing a graph");
    place_edges(graph);
    drop_repeated(graph, scratch);
    placed = walk(graph, scratch, scratch + ops + 1);
    if (placed < ops)
        st = fail_cycle(graph, scratch, placed);
    else
        sort_by_depth(graph, scratch + ops + 1, scratch);
    xy_free(scratch);
    return st;
}

xy_status_t xy_graph_finalize(xy_graph_t *graph)
{
    xy_status_t st;

    if (graph->is_out_of_memory)
        return xy_fail_memory("building a graph");
    if (graph->wrong != NULL)
        return xy_fail(XY_EINVAL, "a graph was built wrongly: %s", graph->wrong);
    st = graph_buffers_measure(graph);
    if (st == XY_OK)
        st = allocate(graph);
    if (st == XY_OK)
        st = arrange(graph);
    if (st != XY_OK)
        return st;
    xy_vec_cleanup(&graph->edges);
    xy_vec_cleanup(&graph->lasts);
    xy_vec_cleanup(&graph->readers);
    graph_tracks_cleanup(graph);
    graph->is_final = true;
    return XY_OK;
}
