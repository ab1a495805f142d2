/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The virtual clock: future events, in the order of time. Everything that is simulated is a model
 * on top of it; there is no other event loop.
 *
 *   typedef struct { xy_event_t event; ... } worker_t;
 *
 *   xy_vclock_t clock = XY_VCLOCK_INIT;
 *   xy_event_init(&worker->event, worker_due, model, 7);
 *   xy_vclock_set(&clock, &worker->event, clock.now + 1e-3);
 *   st = xy_vclock_run(&clock);                      (calls worker_due at 1 ms)
 *   xy_vclock_cleanup(&clock);
 *
 * An event belongs to the thing that it happens to, and a thing has at most one at a time: setting
 * it again replaces it. The old entry in the queue is skipped, and stale entries are removed when
 * they are most of it, so the queue (queue.h) stays as short as the number of waiting things.
 * Cancelling costs nothing. Because of stale entries an event must stay in memory until the clock
 * is reset or cleaned up.
 *
 * Order: by time; among equal times, in the order in which they were set. An event that is set once
 * more to a time keeps the place that it had there. Equal input therefore gives equal runs, to the
 * last bit. One clock is used by one thread at a time.
 */
#ifndef XY_SIM_EVENT_H
#define XY_SIM_EVENT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "sim/queue.h"

typedef struct xy_event xy_event_t;
typedef void (*xy_event_fn)(xy_event_t *event);

struct xy_event {
    double when;     /* INFINITY: nothing is planned */
    xy_event_fn due; /* called when the clock has come there; the event is no longer planned then */
    void *owner;     /* for `due` */
    int32_t index;   /* for `due`: which of the owner's */
    xy_event_t *next; /* of those that come last in this moment */
};

typedef struct {
    double now;
    /* Called when all events of a moment have been handled and time is about to advance, with
     * `owner`; or NULL. It may set events, also for now. */
    void (*settle)(void *owner);
    void *owner;
    /* Called before an event with the one that is likely to follow it; or NULL. It may fetch memory
     * into the cache, and changes nothing. */
    void (*foresee)(const xy_event_t *event);
    sim_queue_t queue;            /* the rest is the clock's own */
    size_t sweep_at;              /* items: then leftovers are swept out */
    xy_event_t *last, **last_end; /* events at the end of this moment */
    bool is_stopped, is_out_of_memory;
} xy_vclock_t;

#define XY_VCLOCK_INIT ((xy_vclock_t){0})

static inline void xy_event_init(xy_event_t *event, xy_event_fn due, void *owner, int32_t index)
{
    *event = (xy_event_t){.when = INFINITY, .due = due, .owner = owner, .index = index};
}

/* When it happens: not before now; INFINITY: not at all. When memory runs out the clock notes it,
 * and xy_vclock_run() ends with XY_ENOMEM. */
void xy_vclock_set(xy_vclock_t *clock, xy_event_t *event, double when);
static inline void xy_event_cancel(xy_event_t *event)
{
    event->when = INFINITY;
}

/* Now, but after all other events of this moment, in the order in which this was asked; once,
 * however often it is asked. It cannot be cancelled. For what many events of a moment change
 * together. */
void xy_vclock_set_last(xy_vclock_t *clock, xy_event_t *event);

/* Let things happen until nothing is planned or xy_vclock_stop() was called: XY_OK. XY_ENOMEM: in
 * silence. */
xy_status_t xy_vclock_run(xy_vclock_t *clock);
/* The current run, or the next one, ends before another event. */
static inline void xy_vclock_stop(xy_vclock_t *clock)
{
    clock->is_stopped = true;
}
/* A model ran out of memory while it handled an event: the run ends. */
static inline void xy_vclock_out_of_memory(xy_vclock_t *clock)
{
    clock->is_out_of_memory = true;
}

/* Back to 0, with nothing planned; events that were are not. */
void xy_vclock_reset(xy_vclock_t *clock);
void xy_vclock_cleanup(xy_vclock_t *clock);

#endif
