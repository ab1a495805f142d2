/* SPDX-License-Identifier: BSD-3-Clause */
/* Building a graph, and reading it: what both kinds of graphs share. */
#include "graph/graph_internal.h"

#include <limits.h>
#include <string.h>

xy_status_t xy_graph_create(xy_graph_t **graph_p)
{
    xy_graph_t *graph = xy_calloc(1, sizeof(*graph));

    if (graph == NULL)
        return xy_fail_memory("creating a graph");
    graph->ops = XY_VEC_INIT(xy_op_t);
    graph->data = XY_VEC_INIT(xy_data_t);
    graph->accesses = XY_VEC_INIT(xy_access_t);
    graph->access_start = XY_VEC_INIT(size_t);
    graph->edges = XY_VEC_INIT(graph_edge_t);
    graph->lasts = XY_VEC_INIT(graph_last_t);
    graph->readers = XY_VEC_INIT(graph_reader_t);
    graph->tracks = XY_VEC_INIT(xy_vec_t);
    *graph_p = graph;
    return XY_OK;
}

void xy_graph_destroy(xy_graph_t *graph)
{
    if (graph == NULL)
        return;
    xy_vec_cleanup(&graph->ops);
    xy_vec_cleanup(&graph->data);
    xy_vec_cleanup(&graph->accesses);
    xy_vec_cleanup(&graph->access_start);
    xy_vec_cleanup(&graph->edges);
    xy_vec_cleanup(&graph->lasts);
    xy_vec_cleanup(&graph->readers);
    graph_tracks_cleanup(graph);
    xy_free(graph->successor_start);
    xy_free(graph->successors);
    xy_free(graph->predecessors);
    xy_free(graph->topological);
    xy_free(graph->buffer_bytes);
    xy_free(graph);
}

/* ---- Operations and their order ---- */

xy_op_id_t xy_graph_add(xy_graph_t *graph, const xy_op_t *op)
{
    xy_op_id_t id = (xy_op_id_t)graph->ops.count;

    if (!graph_is_building(graph))
        return id;
    if (graph->ops.count == INT32_MAX || xy_vec_append(&graph->ops, op) != XY_OK)
        graph->is_out_of_memory = true;
    return id;
}

void xy_graph_add_edge(xy_graph_t *graph, xy_op_id_t before, xy_op_id_t after)
{
    graph_edge_t edge = {before, after};
    int64_t ops = (int64_t)graph->ops.count;

    if (!graph_is_building(graph))
        return;
    if (before < 0 || after < 0 || before >= ops || after >= ops)
        graph->wrong = "an order names an operation that does not exist";
    else if (xy_vec_append(&graph->edges, &edge) != XY_OK)
        graph->is_out_of_memory = true;
}

/* ---- Sequential consistency ---- */

static void order_after(xy_graph_t *graph, xy_op_id_t before, xy_op_id_t op)
{
    if (before >= 0 && before != op)
        xy_graph_add_edge(graph, before, op);
}

void graph_last_read(xy_graph_t *graph, graph_last_t *last, xy_op_id_t op)
{
    graph_reader_t reader = {op, last->readers};

    order_after(graph, last->writer, op);
    if (graph->readers.count == INT32_MAX || xy_vec_append(&graph->readers, &reader) != XY_OK)
        graph->is_out_of_memory = true;
    else
        last->readers = (int32_t)graph->readers.count - 1;
}

void graph_last_write(xy_graph_t *graph, graph_last_t *last, xy_op_id_t op)
{
    /* Readers came after the writer themselves. */
    if (last->readers < 0)
        order_after(graph, last->writer, op);
    for (int32_t r = last->readers; r >= 0; r = XY_VEC_AT(&graph->readers, graph_reader_t, r).next)
        order_after(graph, XY_VEC_AT(&graph->readers, graph_reader_t, r).op, op);
    *last = (graph_last_t){op, -1};
}

/* ---- Reading ---- */

int32_t xy_graph_ops(const xy_graph_t *graph)
{
    return (int32_t)graph->ops.count;
}

const xy_op_t *xy_graph_op(const xy_graph_t *graph, xy_op_id_t id)
{
    return graph_op(graph, id);
}

int32_t xy_graph_successors(const xy_graph_t *graph, xy_op_id_t id, const xy_op_id_t **list_p)
{
    *list_p = graph->successors + graph->successor_start[id];
    return (int32_t)(graph->successor_start[id + 1] - graph->successor_start[id]);
}

int32_t xy_graph_predecessors(const xy_graph_t *graph, xy_op_id_t id)
{
    return graph->predecessors[id];
}

const xy_op_id_t *xy_graph_topological(const xy_graph_t *graph)
{
    return graph->topological;
}
