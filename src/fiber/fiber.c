/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fibers as objects: making, naming, recycling. How they run is in worker.c.
 *
 * A new fiber's stack is not touched here: its worker does that when it first runs, so that the
 * pages lie in its NUMA node and a fiber that never runs costs none.
 */
#include <string.h>

#include "fiber/fiber_private.h"
#include "fiber/fiber_queue.h"
#include "fiber/sanitize.h"

enum { CHUNK_FIBERS = 64 };

const xy_fiber_layout_t xy_fiber_layout = {
    .fiber_state = offsetof(xy_fiber_t, state),
    .fiber_low = offsetof(xy_fiber_t, low),
    .fiber_high = offsetof(xy_fiber_t, high),
    .fiber_context = offsetof(xy_fiber_t, context),
    .fiber_worker = offsetof(xy_fiber_t, head.worker),
    .worker_thread = offsetof(xy_worker_t, thread),
};
_Static_assert(FIBER_PARKED == 0 && FIBER_READY == 1 && FIBER_RUNNING == 2 && FIBER_SLEEPING == 3 &&
                   FIBER_ENDED == 4,
               "debuggers know these numbers");

/* Allocate a chunk of fibers and put all of them on the worker's free list. */
static xy_status_t chunk_create(xy_worker_t *w)
{
    size_t bytes = sizeof(fiber_chunk_t) + XY_FIBER_LINE + CHUNK_FIBERS * sizeof(xy_fiber_t);
    fiber_chunk_t *chunk = xy_malloc(bytes);
    uintptr_t first;

    if (chunk == NULL)
        return xy_fail_memory("making fibers");
    chunk->next = w->chunks;
    w->chunks = chunk;
    first = ((uintptr_t)(chunk + 1) + XY_FIBER_LINE - 1) & ~(uintptr_t)(XY_FIBER_LINE - 1);
    for (int i = CHUNK_FIBERS - 1; i >= 0; i--) {
        xy_fiber_t *fiber = (xy_fiber_t *)first + i;

        fiber->next = w->free_fibers;
        w->free_fibers = fiber;
    }
    return XY_OK;
}

xy_status_t fiber_make(xy_worker_t *worker, xy_fiber_fn fn, void *arg, xy_fiber_t **fiber_p)
{
    fiber_stack_t *stack;
    xy_fiber_t *fiber;
    xy_status_t st;

    if (worker->free_fibers == NULL) {
        st = chunk_create(worker);
        if (st != XY_OK)
            return st;
    }
    st = fiber_stack_get(&worker->stacks, &stack);
    if (st != XY_OK)
        return st;
    fiber = worker->free_fibers;
    worker->free_fibers = fiber->next;
    memset(fiber, 0, sizeof(*fiber));
    fiber->head.worker = worker;
    fiber->fn = fn;
    fiber->arg = arg;
    fiber->stack = stack;
    fiber->low = stack->low;
    fiber->high = stack->high;
    fiber->priority = XY_FIBER_PRIORITY_DEFAULT;
    fiber->tsan = fiber_sanitize_create();
    atomic_fetch_add_explicit(&worker->pool->live, 1, memory_order_relaxed);
    *fiber_p = fiber;
    return XY_OK;
}

xy_status_t xy_fiber_create(xy_worker_t *worker, xy_fiber_fn fn, void *arg, xy_fiber_t **fiber_p)
{
    xy_fiber_t *fiber;
    xy_status_t st = fiber_make(worker, fn, arg, &fiber);

    if (st != XY_OK)
        return st;
    fiber->is_held = fiber_p != NULL;
    fiber_queue_push(&worker->ready, fiber, fiber->priority);
    if (fiber_p != NULL)
        *fiber_p = fiber;
    return XY_OK;
}

static void fiber_free(xy_fiber_t *fiber)
{
    xy_worker_t *w = fiber->head.worker;

    fiber->next = w->free_fibers;
    w->free_fibers = fiber;
}

/* `fiber` has ended and its stack is no longer in use. */
void fiber_recycle(xy_worker_t *w, xy_fiber_t *fiber)
{
    if (fiber->stack != NULL) {
        fiber_sanitize_destroy(fiber->tsan);
        fiber_stack_put(&w->stacks, fiber->stack);
        fiber->stack = NULL;
    }
    fiber->state = FIBER_ENDED;
    if (!fiber->is_held)
        fiber_free(fiber);
}

void xy_fiber_release(xy_fiber_t *fiber)
{
    fiber->is_held = false;
    if (fiber->state == FIBER_ENDED)
        fiber_free(fiber);
}

void xy_fiber_priority_set(xy_fiber_t *fiber, int priority)
{
    xy_worker_t *w = fiber->head.worker;

    priority = priority < 0 ? 0 : priority;
    priority = priority < XY_FIBER_PRIORITIES ? priority : XY_FIBER_PRIORITIES - 1;
    fiber->priority = (uint8_t)priority;
    if (fiber->state == FIBER_READY && fiber->list != priority) {
        fiber_queue_remove(&w->ready, fiber);
        fiber_queue_push(&w->ready, fiber, (unsigned)priority);
    }
}

void xy_fiber_user_set(xy_fiber_t *fiber, void *user)
{
    fiber->head.user = user;
}

void xy_fiber_background_set(xy_fiber_t *fiber)
{
    fiber->stack->used_before = true; /* the pool's end finds it in use */
    atomic_fetch_sub_explicit(&fiber->head.worker->pool->live, 1, memory_order_acq_rel);
}

void xy_fiber_stack(const xy_fiber_t *fiber, void **low_p, void **high_p)
{
    *low_p = fiber->low;
    *high_p = fiber->high;
}

bool xy_worker_has_stack_at(const void *address)
{
    const xy_worker_t *w = xy_worker_self();

    return w != NULL && fiber_stacks_contain(&w->stacks, address);
}
