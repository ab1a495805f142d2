/* SPDX-License-Identifier: BSD-3-Clause */
/* When data are used next, in the order of submission. */
#include "tasks/policy/task.h"

xy_status_t xy_task_uses_init(xy_task_uses_t *uses, const xy_graph_t *graph)
{
    int32_t ops = xy_graph_ops(graph), data = xy_graph_data_count(graph);
    xy_task_uses_t u = {0};
    const xy_access_t *a;

    u.start = xy_calloc((size_t)data + 2, sizeof(*u.start));
    u.cursor = xy_calloc((size_t)data + 1, sizeof(*u.cursor));
    for (int32_t i = 0; i < ops && u.start != NULL; i++)
        for (int32_t k = xy_graph_accesses(graph, i, &a) - 1; k >= 0; k--)
            u.start[a[k].data + 1]++;
    for (int32_t d = 0; d < data && u.start != NULL; d++)
        u.start[d + 1] += u.start[d];
    u.ops = u.start != NULL ? xy_malloc((u.start[data] + 1) * sizeof(*u.ops)) : NULL;
    if (u.cursor == NULL || u.ops == NULL) {
        xy_task_uses_cleanup(&u);
        return XY_ENOMEM;
    }
    for (int32_t d = 0; d < data; d++)
        u.cursor[d] = u.start[d];
    for (int32_t i = 0; i < ops; i++)
        for (int32_t k = xy_graph_accesses(graph, i, &a) - 1; k >= 0; k--)
            u.ops[u.cursor[a[k].data]++] = i;
    for (int32_t d = 0; d < data; d++)
        u.cursor[d] = u.start[d];
    *uses = u;
    return XY_OK;
}

void xy_task_uses_cleanup(xy_task_uses_t *uses)
{
    xy_free(uses->start);
    xy_free(uses->cursor);
    xy_free(uses->ops);
}
