/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks/memory/copies.h"

#include <string.h>

xy_status_t xy_task_memory_init(xy_task_memory_t *memory, int32_t data, uint64_t capacity,
                                uint8_t state)
{
    size_t n = (size_t)data + 1;

    *memory = (xy_task_memory_t){.capacity = capacity};
    memory->oldest = memory->newest = -1;
    memory->final = XY_TASK_LIST_EMPTY;
    memory->copies = xy_calloc(n, sizeof(*memory->copies));
    memory->states = xy_calloc(n, 1);
    if (xy_task_links_init(&memory->final_links, data) != XY_OK || memory->copies == NULL ||
        memory->states == NULL)
        return XY_ENOMEM;
    memset(memory->states, state, (size_t)data);
    return XY_OK;
}

void xy_task_memory_cleanup(xy_task_memory_t *memory)
{
    xy_free(memory->copies);
    xy_free(memory->states);
    xy_task_links_cleanup(&memory->final_links);
}

void xy_task_memory_hold(xy_task_memory_t *memory, const xy_graph_t *graph, xy_op_id_t op)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(graph, op, &a);

    for (int32_t i = 0; i < n; i++) {
        memory->copies[a[i].data].pins++;
        if (memory->copies[a[i].data].is_evicting)
            xy_task_memory_stay(memory, a[i].data, xy_graph_data_at(graph, a[i].data)->bytes);
    }
}

void xy_task_memory_let_go(xy_task_memory_t *memory, const xy_graph_t *graph, xy_op_id_t op)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(graph, op, &a);

    for (int32_t i = 0; i < n; i++)
        memory->copies[a[i].data].pins--;
}

xy_status_t xy_task_check_fits(const xy_graph_t *graph, xy_op_id_t op, uint64_t capacity)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(graph, op, &a);
    uint64_t bytes = 0;
    char need[32], have[32];

    for (int32_t i = 0; i < n; i++) {
        uint64_t one = xy_graph_data_at(graph, a[i].data)->bytes;

        for (int32_t k = 0; k < i; k++)
            if (a[k].data == a[i].data)
                return xy_fail(XY_EINVAL,
                               "task %d names datum %d twice; name it once, with the mode "
                               "READ_WRITE",
                               op, a[i].data);
        if (one > capacity)
            return xy_fail(XY_EINVAL,
                           "datum %d of task %d takes %s, and a memory holds %s; cut it into "
                           "smaller blocks or give more memory",
                           a[i].data, op, xy_format_size(one, need),
                           xy_format_size(capacity, have));
        bytes += one;
    }
    if (bytes > capacity)
        return xy_fail(XY_EINVAL,
                       "the %d data of task %d take %s together, and a memory holds %s; cut them "
                       "into smaller blocks or give more memory",
                       n, op, xy_format_size(bytes, need), xy_format_size(capacity, have));
    return XY_OK;
}
