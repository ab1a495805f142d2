/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inlined part of the component: the running fiber, and the doorbell. Include fiber/fiber.h
 * instead.
 *
 * The two structs are the beginnings of struct xy_fiber and struct xy_worker. They are visible so
 * that the compiler can inline the operations of every message; other code must not touch their
 * fields.
 */
#ifndef XY_FIBER_FIBER_INLINE_H
#define XY_FIBER_FIBER_INLINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct xy_pool xy_pool_t;
typedef struct xy_worker xy_worker_t;
typedef struct xy_fiber xy_fiber_t;

enum { XY_FIBER_LINE = 64 }; /* bytes of a cache line */

/* Read by any thread, written rarely. */
typedef struct {
    xy_worker_t *worker;
    void *user;
} xy_fiber_head_t;

typedef struct {
    /* Written by the worker alone. */
    xy_fiber_t *current;
    /* The one line that a wake from another worker touches: the stack of fibers woken from
     * elsewhere, and whether the worker sleeps (0: awake). `fenced` changes at most once. */
    _Alignas(XY_FIBER_LINE) _Atomic(xy_fiber_t *) mail;
    _Atomic uint32_t asleep;
    _Atomic uint32_t fenced; /* without membarrier: a ring must pay for its own fence */
} xy_worker_head_t;

/* A fiber that changes its thread finds this variable at the same distance from the thread pointer,
 * and an address of it on its stack is changed (xy_fiber_moved_fn). */
extern _Thread_local xy_worker_t *xy_worker_current __attribute__((tls_model("initial-exec")));

void xy_worker_ring_slow(xy_worker_t *worker);

/* Between two looks at a word: let the other thread of the core run, and save power. */
static inline void xy_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

void xy_thread_yield(void); /* the kernel may run another thread on this core */

/* The same in a loop that ends when another thread has done something it is in the middle of. The
 * kernel may have preempted that thread, and needs a core to continue with it. *looks counts, from
 * 0.
 */
static inline void xy_back_off(unsigned *looks)
{
    if (++*looks % 1024 != 0)
        xy_relax();
    else
        xy_thread_yield();
}

/* The running worker of the calling thread; NULL on threads that are none. */
static inline xy_worker_t *xy_worker_self(void)
{
    return xy_worker_current;
}

/* The running fiber of the calling thread; NULL on threads that run none. In a poll function it is
 * the fiber that parked last, on whose stack the worker polls, or NULL. */
static inline xy_fiber_t *xy_fiber_self(void)
{
    const xy_worker_head_t *head = (const xy_worker_head_t *)xy_worker_current;

    return head == NULL ? NULL : head->current;
}

/* The value of xy_fiber_user_set; NULL at first. */
static inline void *xy_fiber_user(const xy_fiber_t *fiber)
{
    return ((const xy_fiber_head_t *)fiber)->user;
}

/* From its poll function: is this the last look of `worker` before it sleeps? */
static inline bool xy_worker_is_last_look(const xy_worker_t *worker)
{
    return atomic_load_explicit(&((const xy_worker_head_t *)worker)->asleep,
                                memory_order_relaxed) != 0;
}

/* After posting something for `worker`'s poll function: get it out of its sleep. The store that
 * posted must be a release or stronger; the sleeper pays for the fence (membarrier). One load when
 * the worker is awake. Any thread; does not park. */
static inline void xy_worker_notify(xy_worker_t *worker)
{
    xy_worker_head_t *head = (xy_worker_head_t *)worker;

    atomic_signal_fence(memory_order_seq_cst); /* the post stays before the load */
    if (__builtin_expect((atomic_load_explicit(&head->fenced, memory_order_relaxed) |
                          atomic_load_explicit(&head->asleep, memory_order_relaxed)) != 0,
                         0))
        xy_worker_ring_slow(worker);
}

#endif
