/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fibers that continue on another worker.
 *
 *   worker A, in its poll function          worker B, in its poll function
 *   xy_fiber_may_leave(fiber)?
 *   xy_fiber_give(fiber)
 *   post it to B (release), ring B    -->   take it from there (acquire)
 *                                           xy_fiber_take(B, fiber, moved, arg)
 *
 * A fiber that waits is its context and its stack, and a place in a ready list if it is ready. So
 * the hand-over is one of memory, as long as nobody uses the stack: a worker of a pool with
 * `hands_over` waits on its thread's own stack, where other workers wait on the stack of the fiber
 * that ran last. Nothing else of A names the fiber: not its mailbox, because a wake is sent only to
 * one that parks for it, and not its timers, because one that sleeps stays.
 *
 * After a switch back the fiber's code reads again which worker it is on (worker.c). What else on
 * its stack belongs to a thread is changed by `moved`: the address of errno at least, which
 * compilers keep.
 *
 * The structure and the stack are freed into the lists of the worker where the fiber ends, and
 * unmapped by the one that made them, when no worker runs any more.
 */
#include "fiber/fiber_private.h"
#include "fiber/fiber_queue.h"

bool xy_pool_can_hand_over(const xy_pool_t *pool)
{
    return atomic_load_explicit(&pool->workers[0].head.fenced, memory_order_relaxed) == 0;
}

bool xy_fiber_may_leave(const xy_fiber_t *fiber)
{
    return fiber != fiber->head.worker->head.current && fiber->context != NULL &&
           fiber->special == 0 && (fiber->state == FIBER_PARKED || fiber->state == FIBER_READY);
}

bool xy_fiber_is_ready(const xy_fiber_t *fiber)
{
    return fiber->state == FIBER_READY;
}

void xy_fiber_give(xy_fiber_t *fiber)
{
    xy_worker_t *w = fiber->head.worker;

    if (fiber->state == FIBER_READY)
        fiber_queue_remove(&w->ready, fiber);
    if (w->last == fiber)
        w->last = NULL;
}

void xy_fiber_take(xy_worker_t *worker, xy_fiber_t *fiber, xy_fiber_moved_fn moved, void *arg)
{
    fiber->head.worker = worker;
    if (moved != NULL)
        moved(arg, fiber->context, fiber->high);
    if (fiber->state == FIBER_READY)
        fiber_queue_push(&worker->ready, fiber, fiber->list);
}
