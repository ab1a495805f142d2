/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/event.h"

enum { SWEEP_MIN = 4096 };

static bool is_planned(const xy_heap_item_t *item)
{
    return ((const xy_event_t *)item->value)->when == item->key;
}

/* At least as many were set since the last time as are kept, so each pays for one. */
static void sweep(xy_vclock_t *clock)
{
    sim_queue_filter(&clock->queue, is_planned);
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
    if (sim_queue_push(&clock->queue, when, event) != XY_OK)
        clock->is_out_of_memory = true;
}

/* The next event, out of the queue; NULL: nothing is planned. */
static xy_event_t *next(xy_vclock_t *clock)
{
    xy_event_t *event;
    double when;

    do
        event = sim_queue_pop(&clock->queue, &when);
    while (event != NULL && event->when != when);
    return event;
}

/* Is nothing more planned for now? */
static bool is_moment_over(xy_vclock_t *clock)
{
    const xy_event_t *first;
    double when;

    while ((first = sim_queue_peek(&clock->queue, clock->now, &when)) != NULL &&
           first->when != when)
        sim_queue_pop(&clock->queue, &when);
    return first == NULL;
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

/* Run the last events of a moment, unless one plans more for now. */
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
 * comes. */
static inline void foresee(const xy_vclock_t *clock)
{
    void *after, *first = sim_queue_guess(&clock->queue, &after);

    if (after != NULL)
        __builtin_prefetch(after);
    if (first != NULL)
        clock->foresee(first);
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
    xy_event_t *event;
    double when;

    while ((event = sim_queue_pop(&clock->queue, &when)) != NULL)
        event->when = INFINITY;
    sim_queue_clear(&clock->queue);
    for (; clock->last != NULL; clock->last = clock->last->next)
        clock->last->when = INFINITY;
    clock->now = 0;
    clock->is_stopped = clock->is_out_of_memory = false;
}

void xy_vclock_cleanup(xy_vclock_t *clock)
{
    sim_queue_cleanup(&clock->queue);
    *clock = XY_VCLOCK_INIT;
}
