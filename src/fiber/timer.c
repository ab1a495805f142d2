/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers of one worker: a pairing heap whose links are in the sleeping fibers, so that sleeping
 * needs no memory. Adding is O(1), taking the first O(log n) amortised.
 */
#include <time.h>

#include "fiber/fiber_private.h"
#include "fiber/fiber_queue.h"

int64_t fiber_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double xy_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_before(const xy_fiber_t *a, const xy_fiber_t *b)
{
    return a->deadline != b->deadline ? a->deadline < b->deadline
                                      : a->deadline_order < b->deadline_order;
}

static xy_fiber_t *merge(xy_fiber_t *a, xy_fiber_t *b)
{
    xy_fiber_t *least, *other;

    if (a == NULL || b == NULL)
        return a == NULL ? b : a;
    least = is_before(a, b) ? a : b;
    other = least == a ? b : a;
    other->sibling = least->child;
    least->child = other;
    return least;
}

/* Merge a list of heaps: in pairs from the left, then the pairs from the right. */
static xy_fiber_t *merge_siblings(xy_fiber_t *first)
{
    xy_fiber_t *pairs = NULL, *heap = NULL;

    while (first != NULL) {
        xy_fiber_t *a = first, *b = first->sibling;
        xy_fiber_t *pair;

        first = b == NULL ? NULL : b->sibling;
        a->sibling = NULL;
        if (b != NULL)
            b->sibling = NULL;
        pair = merge(a, b);
        pair->sibling = pairs;
        pairs = pair;
    }
    while (pairs != NULL) {
        xy_fiber_t *pair = pairs;

        pairs = pair->sibling;
        pair->sibling = NULL;
        heap = merge(heap, pair);
    }
    return heap;
}

void fiber_timer_add(xy_worker_t *w, xy_fiber_t *fiber, int64_t deadline)
{
    fiber->deadline = deadline;
    fiber->deadline_order = w->timer_order++;
    fiber->child = NULL;
    fiber->sibling = NULL;
    w->timers = merge(w->timers, fiber);
}

void fiber_timer_expire(xy_worker_t *w)
{
    int64_t now;

    if (w->timers == NULL)
        return;
    now = fiber_now_ns();
    while (w->timers != NULL && w->timers->deadline <= now) {
        xy_fiber_t *fiber = w->timers;

        w->timers = merge_siblings(fiber->child);
        fiber_queue_push(&w->ready, fiber, fiber->priority);
    }
}
