/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order, `priority`: the most urgent first. A thread's current priority drops by one each time it
 * is picked and is reset to its base when it was 0; so a thread of base p gets p + 1 turns for one
 * of a thread of base 0. All zero is round-robin. Without a collective a thread counts as base 0.
 *
 *   bases A 2, B 0:   A A B A A A B A A A B ...
 */
#include "sched/order_internal.h"

static bool admits(const xy_order_thread_t *thread)
{
    (void)thread;
    return true;
}

/* Behind all that are at least as urgent. */
static void requeue(xy_order_queue_t *queue, int32_t thread)
{
    xy_order_thread_t *t = &queue->threads[thread];
    int32_t before = queue->head;

    t->current = t->current > 0 ? (int8_t)(t->current - 1) : (t->has_collective ? t->base : 0);
    while (before >= 0 && queue->threads[before].current >= t->current)
        before = queue->threads[before].next;
    sched_order_insert(queue, thread, before);
}

static void changed(xy_order_queue_t *queue, int32_t thread)
{
    if (queue->threads[thread].has_collective || queue->threads[thread].current == 0)
        return;
    xy_order_remove(queue, thread);
    queue->threads[thread].current = 0;
    sched_order_insert(queue, thread, -1);
}

const xy_order_t sched_order_priority = {
    .name = "priority",
    .describe = "the most urgent kind of thread first; urgency drops with each turn",
    .has_priorities = true,
    .admits = admits,
    .changed = changed,
    .requeue = requeue,
};
