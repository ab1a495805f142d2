/* SPDX-License-Identifier: BSD-3-Clause */
/* Building a graph, and reading it. */
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

void graph_tracks_cleanup(xy_graph_t *graph)
{
    for (size_t i = 0; i < graph->tracks.count; i++)
        xy_vec_cleanup(&XY_VEC_AT(&graph->tracks, xy_vec_t, i));
    xy_vec_cleanup(&graph->tracks);
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

void xy_graph_order(xy_graph_t *graph, xy_op_id_t before, xy_op_id_t after)
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

int graph_op_places(const xy_op_t *op, xy_spot_t places[3])
{
    int n = 0;

    if (op->kind < XY_OP_MOVE)
        return 0;
    places[n++] = op->from;
    if (op->kind == XY_OP_COMBINE)
        places[n++] = op->other;
    places[n++] = op->to;
    return n;
}

/* ---- Sequential consistency ---- */

static void order_after(xy_graph_t *graph, xy_op_id_t before, xy_op_id_t op)
{
    if (before >= 0 && before != op)
        xy_graph_order(graph, before, op);
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

int32_t xy_graph_data(xy_graph_t *graph, const xy_data_t *data)
{
    graph_last_t nobody = {-1, -1};
    int32_t handle = (int32_t)graph->data.count;

    if (!graph_is_building(graph))
        return handle;
    if (graph->data.count == INT32_MAX || xy_vec_append(&graph->lasts, &nobody) != XY_OK ||
        xy_vec_append(&graph->data, data) != XY_OK)
        graph->is_out_of_memory = true;
    return handle;
}

/* Operations before the first task, and those added without accesses between tasks, have none. */
static bool start_accesses(xy_graph_t *graph, xy_op_id_t id)
{
    while (graph->access_start.count <= (size_t)id)
        if (xy_vec_append(&graph->access_start, &graph->accesses.count) != XY_OK)
            return false;
    return true;
}

xy_op_id_t xy_graph_task(xy_graph_t *graph, const xy_op_t *op, const xy_access_t *accesses, int n)
{
    xy_op_id_t id = xy_graph_add(graph, op);

    if (!graph_is_building(graph))
        return id;
    if (!start_accesses(graph, id)) {
        graph->is_out_of_memory = true;
        return id;
    }
    for (int i = 0; i < n && graph_is_building(graph); i++) {
        graph_last_t *last;

        if (accesses[i].data < 0 || (size_t)accesses[i].data >= graph->data.count) {
            graph->wrong = "a task accesses data that does not exist";
            return id;
        }
        last = &XY_VEC_AT(&graph->lasts, graph_last_t, accesses[i].data);
        if ((accesses[i].mode & XY_ACCESS_WRITE) != 0)
            graph_last_write(graph, last, id);
        else if (last->writer != id)
            graph_last_read(graph, last, id);
        if (xy_vec_append(&graph->accesses, &accesses[i]) != XY_OK)
            graph->is_out_of_memory = true;
    }
    return id;
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

int32_t xy_graph_data_count(const xy_graph_t *graph)
{
    return (int32_t)graph->data.count;
}

const xy_data_t *xy_graph_datum(const xy_graph_t *graph, int32_t data)
{
    return &XY_VEC_AT(&graph->data, xy_data_t, data);
}

int32_t xy_graph_accesses(const xy_graph_t *graph, xy_op_id_t id, const xy_access_t **list_p)
{
    size_t starts = graph->access_start.count, begin, end;

    if ((size_t)id >= starts) {
        *list_p = NULL;
        return 0;
    }
    begin = XY_VEC_AT(&graph->access_start, size_t, id);
    end = (size_t)id + 1 < starts ? XY_VEC_AT(&graph->access_start, size_t, id + 1)
                                  : graph->accesses.count;
    *list_p = begin < end ? &XY_VEC_AT(&graph->accesses, xy_access_t, begin) : NULL;
    return (int32_t)(end - begin);
}

int32_t xy_graph_ranks(const xy_graph_t *graph)
{
    return graph->ranks;
}

int32_t xy_graph_buffers(const xy_graph_t *graph)
{
    return graph->buffers;
}

uint64_t xy_graph_buffer_bytes(const xy_graph_t *graph, int32_t rank, int32_t buffer)
{
    if (rank < 0 || rank >= graph->ranks || buffer < 0 || buffer >= graph->buffers)
        return 0;
    return graph->buffer_bytes[(size_t)rank * (size_t)graph->buffers + (size_t)buffer];
}

const xy_op_id_t *xy_graph_topological(const xy_graph_t *graph)
{
    return graph->topological;
}

double xy_graph_longest_path(const xy_graph_t *graph,
                             double (*seconds_of)(const xy_op_t *op, void *arg), void *arg)
{
    size_t ops = graph->ops.count;
    double *ready = xy_calloc(ops > 0 ? ops : 1, sizeof(*ready)); /* when each may begin */
    double longest = 0.0;

    if (ready == NULL)
        return -1.0;
    for (size_t i = 0; i < ops; i++) {
        xy_op_id_t id = graph->topological[i];
        double end = ready[id] + seconds_of(graph_op(graph, id), arg);

        if (end > longest)
            longest = end;
        for (size_t s = graph->successor_start[id]; s < graph->successor_start[id + 1]; s++)
            if (end > ready[graph->successors[s]])
                ready[graph->successors[s]] = end;
    }
    xy_free(ready);
    return longest;
}
