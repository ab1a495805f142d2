/* SPDX-License-Identifier: BSD-3-Clause */
/* The orders of threads that share a core, and their queues. */
#include "sched/thread_order.h"

/* ---- Queues ---- */

void xy_order_queue_init(xy_order_queue_t *queue, const xy_order_t *order,
                         xy_order_thread_t *threads)
{
    *queue = (xy_order_queue_t){.order = order, .threads = threads, .head = -1, .tail = -1};
}

/* Puts an unlisted thread in front of `before`; -1: at the end. */
static void insert(xy_order_queue_t *queue, int32_t thread, int32_t before)
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
        insert(queue, thread, -1);
        return;
    }
    while (before >= 0 && queue->threads[before].current > queue->threads[thread].current)
        before = queue->threads[before].next;
    insert(queue, thread, before);
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
        insert(queue, thread, -1);
    return thread;
}

/* ---- Orders ---- */

/*
 * Order, `round-robin`: all threads of the core in turn, also those with nothing to do.
 *
 * With n threads a chain of n messages costs about n rounds of n visits, nearly all in vain.
 */

static bool admit_all(const xy_order_thread_t *thread)
{
    (void)thread;
    return true;
}

static const xy_order_t order_round_robin = {
    .name = "round-robin",
    .describe = "all threads in turn, whether they have work or not",
    .is_cyclic = true,
    .admits = admit_all,
};

/*
 * Order, `suspend`: in turn, but threads that have no collective left are set aside until one is
 * posted. A supervisor thread of the core, in turn with the others, looks at those set aside.
 */

static bool admit_posted(const xy_order_thread_t *thread)
{
    return thread->has_collective || thread->is_supervisor;
}

static const xy_order_t order_suspend = {
    .name = "suspend",
    .describe = "round-robin; threads without a collective are skipped",
    .is_cyclic = true,
    .has_supervisor = true,
    .admits = admit_posted,
};

/*
 * Order, `semaphore`: a thread blocks until an operation before it is complete and posts its
 * semaphore, so that threads run exactly in the order of the data and no thread polls.
 */

static bool admit_ready(const xy_order_thread_t *thread)
{
    return thread->is_ready;
}

static const xy_order_t order_semaphore = {
    .name = "semaphore",
    .describe = "each thread is woken by the previous operation; no thread polls",
    .is_cyclic = true,
    .is_fifo = true,
    .admits = admit_ready,
};

/*
 * Order, `suspend-semaphore`: both at once. Slower than semaphores alone: the supervisor of the
 * suspended threads gets a turn after each of the few that still run, and has ever more of them to
 * look at.
 */

static bool admit_ready_or_supervisor(const xy_order_thread_t *thread)
{
    return thread->is_ready || thread->is_supervisor;
}

static const xy_order_t order_suspend_semaphore = {
    .name = "suspend-semaphore",
    .describe = "semaphore; threads without a collective are skipped",
    .is_cyclic = true,
    .is_fifo = true,
    .has_supervisor = true,
    .admits = admit_ready_or_supervisor,
};

/*
 * Order, `priority`: the most urgent first. A thread's current priority drops by one each time it
 * is picked and is reset to its base when it was 0; so a thread of base p gets p + 1 turns for one
 * of a thread of base 0. All zero is round-robin. Without a collective a thread counts as base 0.
 *
 *   bases A 2, B 0:   A A B A A A B A A A B ...
 */

/* Behind all that are at least as urgent. */
static void requeue(xy_order_queue_t *queue, int32_t thread)
{
    xy_order_thread_t *t = &queue->threads[thread];
    int32_t before = queue->head;

    t->current = t->current > 0 ? (int8_t)(t->current - 1) : (t->has_collective ? t->base : 0);
    while (before >= 0 && queue->threads[before].current >= t->current)
        before = queue->threads[before].next;
    insert(queue, thread, before);
}

static void changed(xy_order_queue_t *queue, int32_t thread)
{
    if (queue->threads[thread].has_collective || queue->threads[thread].current == 0)
        return;
    xy_order_remove(queue, thread);
    queue->threads[thread].current = 0;
    insert(queue, thread, -1);
}

static const xy_order_t order_priority = {
    .name = "priority",
    .describe = "the most urgent kind of thread first; urgency drops with each turn",
    .has_priorities = true,
    .admits = admit_all,
    .changed = changed,
    .requeue = requeue,
};

const xy_order_t *const xy_order_all[] = {
    &order_round_robin,       &order_suspend,  &order_semaphore,
    &order_suspend_semaphore, &order_priority, NULL,
};

const xy_order_t *xy_order_usual(void)
{
    return &order_semaphore;
}

xy_status_t xy_order_find(const char *name, const xy_order_t **order_p)
{
    const xy_order_t *found = xy_table_find(XY_TABLE(xy_order_all), name);

    if (found == NULL)
        return xy_table_fail(XY_TABLE(xy_order_all), "order of progress threads", name);
    *order_p = found;
    return XY_OK;
}
