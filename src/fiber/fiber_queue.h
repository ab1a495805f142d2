/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ready lists: one list, first in first out, per priority, and a bit for each list that has fibers.
 * Links are in the fibers. Lists are linked both ways so that a fiber whose priority changes leaves
 * its list at once; `prev` of a first and `next` of a last fiber mean nothing.
 */
#ifndef XY_FIBER_FIBER_QUEUE_H
#define XY_FIBER_FIBER_QUEUE_H

#include "fiber/fiber_private.h"

static inline void fiber_queue_push(fiber_queue_t *q, xy_fiber_t *fiber, unsigned list)
{
    fiber->state = FIBER_READY;
    fiber->list = (uint8_t)list;
    if ((q->nonempty >> list & 1) != 0) {
        fiber->prev = q->last[list];
        q->last[list]->next = fiber;
    } else {
        q->first[list] = fiber;
        q->nonempty |= UINT32_C(1) << list;
    }
    q->last[list] = fiber;
}

/* `next` runs after the fiber that is about to run: fetch its stack, and the structure of the one
 * behind it, whose stack will be fetched next time. With thousands of fibers none of this is in a
 * near cache. A last fiber's `next` may point anywhere, and a new one's context nowhere; fetching
 * harms nothing, but only as numbers may such addresses be added to. */
static inline void fiber_queue_prefetch(const xy_fiber_t *next)
{
    __builtin_prefetch(next->context, 1);
    __builtin_prefetch((const void *)((uintptr_t)next->context + XY_FIBER_LINE), 1);
    __builtin_prefetch((const void *)((uintptr_t)next->next + offsetof(xy_fiber_t, context)), 1);
}

/* The next fiber to run; NULL: none is ready. */
static inline xy_fiber_t *fiber_queue_pop(fiber_queue_t *q)
{
    xy_fiber_t *fiber;
    unsigned list;

    if (q->nonempty == 0)
        return NULL;
    list = (unsigned)__builtin_ctz(q->nonempty);
    fiber = q->first[list];
    if (fiber == q->last[list]) {
        q->nonempty &= q->nonempty - 1;
    } else {
        q->first[list] = fiber->next;
        fiber_queue_prefetch(fiber->next);
    }
    return fiber;
}

/* Unlink a ready fiber from the list that it is in. */
static inline void fiber_queue_remove(fiber_queue_t *q, xy_fiber_t *fiber)
{
    unsigned list = fiber->list;
    bool is_first = q->first[list] == fiber, is_last = q->last[list] == fiber;

    if (is_first && is_last) {
        q->nonempty &= ~(UINT32_C(1) << list);
        return;
    }
    if (is_first)
        q->first[list] = fiber->next;
    else
        fiber->prev->next = fiber->next;
    if (is_last)
        q->last[list] = fiber->prev;
    else
        fiber->next->prev = fiber->prev;
}

/* The list of the least urgent ready fiber; some fiber must be ready. */
static inline unsigned fiber_queue_lowest(const fiber_queue_t *q)
{
    return 31u - (unsigned)__builtin_clz(q->nonempty);
}

#endif
