/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/event.h"

enum { FIRST_CAPACITY = 64, CHILDREN = 4, LEFTOVERS_MIN = 4096 };

static inline bool is_before(const xy_clock_entry_t *a, const xy_clock_entry_t *b)
{
    return a->when < b->when || (a->when == b->when && a->order < b->order);
}

static inline bool is_leftover(const xy_clock_entry_t *entry)
{
    return entry->event->when != entry->when;
}

/* Put `entry` into the hole at `at`: the least child moves up until it fits. */
static void sink(xy_clock_t *clock, size_t at, xy_clock_entry_t entry)
{
    xy_clock_entry_t *e = clock->entries;
    size_t first;

    while ((first = CHILDREN * at + 1) < clock->count) {
        size_t least = first;
        size_t end = first + CHILDREN < clock->count ? first + CHILDREN : clock->count;

        for (size_t child = first + 1; child < end; child++)
            if (is_before(&e[child], &e[least]))
                least = child;
        if (!is_before(&e[least], &entry))
            break;
        e[at] = e[least];
        at = least;
    }
    e[at] = entry;
}

/* Without leftovers, and a heap again. */
static void sweep(xy_clock_t *clock)
{
    size_t kept = 0;

    for (size_t i = 0; i < clock->count; i++)
        if (!is_leftover(&clock->entries[i]))
            clock->entries[kept++] = clock->entries[i];
    clock->count = kept;
    for (size_t i = kept / CHILDREN + 1; i-- > 0;)
        if (i < kept)
            sink(clock, i, clock->entries[i]);
}

static bool make_room(xy_clock_t *clock)
{
    size_t capacity = clock->capacity == 0 ? FIRST_CAPACITY : 2 * clock->capacity;
    xy_clock_entry_t *entries;

    if (clock->count > LEFTOVERS_MIN && clock->count > 4 * clock->planned)
        sweep(clock);
    if (clock->count <= clock->capacity / 2 && clock->capacity > 0)
        return true;
    entries = xy_realloc_array(clock->entries, capacity, sizeof(*entries));
    if (entries == NULL) {
        clock->is_out_of_memory = true;
        return false;
    }
    clock->entries = entries;
    clock->capacity = capacity;
    return true;
}

void xy_clock_set(xy_clock_t *clock, xy_event_t *event, double when)
{
    xy_clock_entry_t entry = {.when = when, .order = clock->set, .event = event};
    xy_clock_entry_t *e;
    size_t at;

    if (!(when < INFINITY)) {
        xy_clock_cancel(clock, event);
        return;
    }
    clock->planned += !(event->when < INFINITY);
    event->when = when;
    if (clock->count == clock->capacity && !make_room(clock))
        return;
    clock->set++;
    e = clock->entries;
    for (at = clock->count++; at > 0; at = (at - 1) / CHILDREN) {
        if (!is_before(&entry, &e[(at - 1) / CHILDREN]))
            break;
        e[at] = e[(at - 1) / CHILDREN];
    }
    e[at] = entry;
}

static void take_first(xy_clock_t *clock)
{
    if (--clock->count > 0)
        sink(clock, 0, clock->entries[clock->count]);
}

/* The next event, out of the queue; NULL: nothing is planned. */
static xy_event_t *next(xy_clock_t *clock)
{
    while (clock->count > 0) {
        xy_clock_entry_t first = clock->entries[0];

        take_first(clock);
        if (first.event->when == first.when)
            return first.event;
    }
    return NULL;
}

/* Is nothing more planned for now? */
static bool is_moment_over(xy_clock_t *clock)
{
    while (clock->count > 0 && is_leftover(&clock->entries[0]))
        take_first(clock);
    return clock->count == 0 || clock->entries[0].when > clock->now;
}

xy_status_t xy_clock_run(xy_clock_t *clock)
{
    xy_event_t *event;

    while (!clock->is_stopped && !clock->is_out_of_memory && (event = next(clock)) != NULL) {
        clock->now = event->when;
        xy_clock_cancel(clock, event);
        event->due(event);
        if (clock->settle != NULL && !clock->is_out_of_memory && is_moment_over(clock))
            clock->settle(clock->owner);
    }
    clock->is_stopped = false;
    return clock->is_out_of_memory ? XY_ENOMEM : XY_OK;
}

void xy_clock_reset(xy_clock_t *clock)
{
    for (size_t i = 0; i < clock->count; i++)
        clock->entries[i].event->when = INFINITY;
    clock->count = clock->planned = 0;
    clock->set = 0;
    clock->now = 0;
    clock->is_stopped = clock->is_out_of_memory = false;
}

void xy_clock_cleanup(xy_clock_t *clock)
{
    xy_free(clock->entries);
    *clock = XY_CLOCK_INIT;
}
