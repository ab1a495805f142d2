/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks on data handles: their accesses, and the order that follows from these. */
#include <limits.h>

#include "graph/graph_internal.h"

int32_t xy_graph_add_data(xy_graph_t *graph, const xy_data_t *data)
{
    graph_last_t none = {-1, -1};
    int32_t handle = (int32_t)graph->data.count;

    if (!graph_is_building(graph))
        return handle;
    if (graph->data.count == INT32_MAX || xy_vec_append(&graph->lasts, &none) != XY_OK ||
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

xy_op_id_t xy_graph_add_task(xy_graph_t *graph, const xy_op_t *op, const xy_access_t *accesses,
                             int n)
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

int32_t xy_graph_data_count(const xy_graph_t *graph)
{
    return (int32_t)graph->data.count;
}

const xy_data_t *xy_graph_data_at(const xy_graph_t *graph, int32_t data)
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
