/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks/policy/policy_internal.h"

xy_status_t sched_links_init(sched_links_t *links, int32_t ops)
{
    links->next = xy_malloc(((size_t)ops + 1) * sizeof(*links->next));
    links->prev = xy_malloc(((size_t)ops + 1) * sizeof(*links->prev));
    if (links->next != NULL && links->prev != NULL)
        return XY_OK;
    sched_links_cleanup(links);
    return XY_ENOMEM;
}

void sched_links_cleanup(sched_links_t *links)
{
    xy_free(links->next);
    xy_free(links->prev);
    *links = (sched_links_t){0};
}

void sched_queue_push(sched_queue_t *queue, sched_links_t *links, xy_op_id_t op)
{
    links->next[op] = -1;
    links->prev[op] = queue->tail;
    if (queue->tail >= 0)
        links->next[queue->tail] = op;
    else
        queue->head = op;
    queue->tail = op;
    queue->count++;
}

void sched_queue_remove(sched_queue_t *queue, sched_links_t *links, xy_op_id_t op)
{
    if (links->prev[op] >= 0)
        links->next[links->prev[op]] = links->next[op];
    else
        queue->head = links->next[op];
    if (links->next[op] >= 0)
        links->prev[links->next[op]] = links->prev[op];
    else
        queue->tail = links->prev[op];
    queue->count--;
}

xy_op_id_t sched_queue_pop(sched_queue_t *queue, sched_links_t *links)
{
    xy_op_id_t op = queue->head;

    if (op >= 0)
        sched_queue_remove(queue, links, op);
    return op;
}

xy_op_id_t sched_queue_nearest(const sched_queue_t *queue, const sched_links_t *links,
                               const xy_task_view_t *view, int32_t memory, int32_t limit)
{
    xy_op_id_t best = -1;
    uint64_t fewest = UINT64_MAX;

    for (xy_op_id_t op = queue->head; op >= 0 && limit > 0; op = links->next[op], limit--) {
        uint64_t missing = xy_task_missing(view, op, memory);

        if (missing >= fewest)
            continue;
        best = op;
        fewest = missing;
        if (missing == 0)
            break;
    }
    return best;
}
