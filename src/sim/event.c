/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/event.h"

enum { SWEEP_MIN = 4096, FORESEEN = 2 };

static bool is_planned(const xy_heap_item_t *item)
{
    return ((const xy_event_t *)item->value)->when == item->key;
}

/* At least as many were set since the last time as are kept, so each pays for one. */
static void sweep(xy_vclock_t *clock)
{
    xy_heap_filter(&clock->queue, is_planned);
    clock->sweep_at = 2 * clock->queue.count;
    if (clock->sweep_at < SWEEP_MIN)
        clock->sweep_at = SWEEP_MIN;
}

void xy_vclock_set(xy_vclock_t *clock, xy_event_t *event, double when)
{
    event->when = when;
    if (!(when < INFINITY))
        return;
    if (clock->queue.count >= clock->sweep_at)
        sweep(clock);
    if (xy_heap_push(&clock->queue, when, event) != XY_OK)
        clock->is_out_of_memory = true;
}

/* The next event, out of the queue; NULL: nothing is planned. */
static xy_event_t *next(xy_vclock_t *clock)
{
    xy_event_t *event;
    double when;

    do
        event = xy_heap_pop(&clock->queue, &when);
    while (event != NULL && event->when != when);
    return event;
}

/* Is nothing more planned for now? */
static bool is_moment_over(xy_vclock_t *clock)
{
    const xy_heap_item_t *first;

    while ((first = xy_heap_peek(&clock->queue)) != NULL && !is_planned(first))
        xy_heap_pop(&clock->queue, NULL);
    return first == NULL || first->key > clock->now;
}

void xy_vclock_set_last(xy_vclock_t *clock, xy_event_t *event)
{
    if (event->when < INFINITY)
        return;
    event->when = clock->now;
    event->next = NULL;
    if (clock->last == NULL)
        clock->last_end = &clock->last;
    *clock->last_end = event;
    clock->last_end = &event->next;
}

/* What comes last in a moment, unless it plans more for now. */
static void end_moment(xy_vclock_t *clock)
{
    while (clock->last != NULL && is_moment_over(clock)) {
        xy_event_t *event = clock->last;

        clock->last = event->next;
        event->when = INFINITY;
        event->due(event);
    }
    if (clock->settle != NULL && !clock->is_out_of_memory && is_moment_over(clock))
        clock->settle(clock->owner);
}

/* A large model does not fit into the cache: while one event is handled, memory of the next ones
 * comes. Behind the first item of the heap comes one of its children, or one that is not set yet.
 */
static inline void foresee(const xy_vclock_t *clock)
{
    const xy_heap_t *queue = &clock->queue;

    if (queue->count <= FORESEEN)
        return;
    for (int i = 1; i <= FORESEEN; i++)
        __builtin_prefetch(queue->items[i].value);
    clock->foresee(queue->items[0].value);
}

xy_status_t xy_vclock_run(xy_vclock_t *clock)
{
    xy_event_t *event;

    while (!clock->is_stopped && !clock->is_out_of_memory && (event = next(clock)) != NULL) {
        clock->now = event->when;
        xy_event_cancel(event);
        if (clock->foresee != NULL)
            foresee(clock);
        event->due(event);
        if (clock->last != NULL || clock->settle != NULL)
            end_moment(clock);
    }
    clock->is_stopped = false;
    return clock->is_out_of_memory ? XY_ENOMEM : XY_OK;
}

void xy_vclock_reset(xy_vclock_t *clock)
{
    for (size_t i = 0; i < clock->queue.count; i++)
        ((xy_event_t *)clock->queue.items[i].value)->when = INFINITY;
    for (; clock->last != NULL; clock->last = clock->last->next)
        clock->last->when = INFINITY;
    clock->queue.count = 0;
    clock->now = 0;
    clock->is_stopped = clock->is_out_of_memory = false;
}

void xy_vclock_cleanup(xy_vclock_t *clock)
{
    xy_heap_cleanup(&clock->queue);
    *clock = XY_VCLOCK_INIT;
}
