/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks/memory/memory.h"

#include <string.h>

xy_status_t xy_task_room_init(xy_task_room_t *room, int32_t data, uint64_t capacity, uint8_t state)
{
    size_t n = (size_t)data + 1;

    *room = (xy_task_room_t){.capacity = capacity};
    room->oldest = room->newest = room->final_head = room->final_tail = -1;
    room->copies = xy_calloc(n, sizeof(*room->copies));
    room->states = xy_calloc(n, 1);
    room->final_next = xy_calloc(n, sizeof(*room->final_next));
    if (room->copies == NULL || room->states == NULL || room->final_next == NULL)
        return XY_ENOMEM;
    memset(room->states, state, (size_t)data);
    return XY_OK;
}

void xy_task_room_cleanup(xy_task_room_t *room)
{
    xy_free(room->copies);
    xy_free(room->states);
    xy_free(room->final_next);
}

void xy_task_room_hold(xy_task_room_t *room, const xy_graph_t *graph, xy_op_id_t op)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(graph, op, &a);

    for (int32_t i = 0; i < n; i++) {
        room->copies[a[i].data].pins++;
        if (room->copies[a[i].data].is_evicting)
            xy_task_room_stay(room, a[i].data, xy_graph_datum(graph, a[i].data)->bytes);
    }
}

void xy_task_room_let_go(xy_task_room_t *room, const xy_graph_t *graph, xy_op_id_t op)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(graph, op, &a);

    for (int32_t i = 0; i < n; i++)
        room->copies[a[i].data].pins--;
}

void xy_task_room_push_final(xy_task_room_t *room, int32_t data)
{
    room->final_next[data] = -1;
    if (room->final_tail >= 0)
        room->final_next[room->final_tail] = data;
    else
        room->final_head = data;
    room->final_tail = data;
}

int32_t xy_task_room_pop_final(xy_task_room_t *room)
{
    int32_t data = room->final_head;

    if (data < 0)
        return -1;
    room->final_head = room->final_next[data];
    if (room->final_head < 0)
        room->final_tail = -1;
    return data;
}

xy_status_t xy_task_check_fits(const xy_graph_t *graph, xy_op_id_t op, uint64_t capacity)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(graph, op, &a);
    uint64_t bytes = 0;
    char need[32], have[32];

    for (int32_t i = 0; i < n; i++) {
        uint64_t one = xy_graph_datum(graph, a[i].data)->bytes;

        for (int32_t k = 0; k < i; k++)
            if (a[k].data == a[i].data)
                return xy_fail(XY_EINVAL,
                               "task %d names datum %d twice; name it once, with the mode "
                               "READ_WRITE",
                               op, a[i].data);
        if (one > capacity)
            return xy_fail(XY_EINVAL,
                           "datum %d of task %d has %s and a memory holds %s; cut it into smaller "
                           "blocks or give more memory",
                           a[i].data, op, xy_format_size(one, need),
                           xy_format_size(capacity, have));
        bytes += one;
    }
    if (bytes > capacity)
        return xy_fail(XY_EINVAL,
                       "the %d data of task %d have %s together and a memory holds %s; cut them "
                       "into smaller blocks or give more memory",
                       n, op, xy_format_size(bytes, need), xy_format_size(capacity, have));
    return XY_OK;
}
