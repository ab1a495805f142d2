/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/order_internal.h"

const xy_order_t *const xy_order_all[] = {
    &sched_order_round_robin,       &sched_order_suspend,  &sched_order_semaphore,
    &sched_order_suspend_semaphore, &sched_order_priority, NULL,
};

xy_status_t xy_order_find(const char *name, const xy_order_t **order_p)
{
    const xy_order_t *found = xy_table_find(XY_TABLE(xy_order_all), name);

    if (found == NULL)
        return xy_table_fail(XY_TABLE(xy_order_all), "order of progress threads", name);
    *order_p = found;
    return XY_OK;
}

void xy_order_queue_init(xy_order_queue_t *queue, const xy_order_t *order,
                         xy_order_thread_t *threads)
{
    *queue = (xy_order_queue_t){.order = order, .threads = threads, .head = -1, .tail = -1};
}

void sched_order_insert(xy_order_queue_t *queue, int32_t thread, int32_t before)
{
    xy_order_thread_t *t = &queue->threads[thread];
    int32_t after = before >= 0 ? queue->threads[before].previous : queue->tail;

    t->next = before;
    t->previous = after;
    if (before >= 0)
        queue->threads[before].previous = thread;
    else
        queue->tail = thread;
    if (after >= 0)
        queue->threads[after].next = thread;
    else
        queue->head = thread;
    t->is_listed = true;
    queue->listed++;
}

void xy_order_remove(xy_order_queue_t *queue, int32_t thread)
{
    xy_order_thread_t *t = &queue->threads[thread];

    if (t->next >= 0)
        queue->threads[t->next].previous = t->previous;
    else
        queue->tail = t->previous;
    if (t->previous >= 0)
        queue->threads[t->previous].next = t->next;
    else
        queue->head = t->next;
    t->is_listed = false;
    queue->listed--;
}

/* In front of the first thread that is not more urgent: with all priorities equal, the head. */
static void list_new(xy_order_queue_t *queue, int32_t thread)
{
    int32_t before = queue->head;

    queue->threads[thread].current =
        (int8_t)(queue->order->has_priorities ? queue->threads[thread].base : 0);
    if (queue->order->is_fifo) {
        sched_order_insert(queue, thread, -1);
        return;
    }
    while (before >= 0 && queue->threads[before].current > queue->threads[thread].current)
        before = queue->threads[before].next;
    sched_order_insert(queue, thread, before);
}

void xy_order_update(xy_order_queue_t *queue, int32_t thread)
{
    bool admits = queue->order->admits(&queue->threads[thread]);

    if (admits && !queue->threads[thread].is_listed)
        list_new(queue, thread);
    else if (!admits && queue->threads[thread].is_listed)
        xy_order_remove(queue, thread);
    else if (admits && queue->order->changed != NULL)
        queue->order->changed(queue, thread);
}

int32_t xy_order_pick(xy_order_queue_t *queue)
{
    int32_t thread = queue->head;

    if (thread < 0)
        return -1;
    xy_order_remove(queue, thread);
    if (queue->order->requeue != NULL)
        queue->order->requeue(queue, thread);
    else
        sched_order_insert(queue, thread, -1);
    return thread;
}
