/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues of ready operations, for many takers and many givers without locks.
 *
 * An operation becomes ready once in a run, so a queue has a slot for each one that can ever come
 * and never wraps around: giving is one fetch-and-add and one store, taking one compare-and-swap.
 */
#ifndef XY_EXEC_READY_H
#define XY_EXEC_READY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    _Alignas(64) _Atomic int32_t head; /* next to take */
    _Alignas(64) _Atomic int32_t tail; /* next to give */
    int32_t first, capacity;           /* its slots in the common array */
} exec_ready_t;

/* The store of the slot releases what was done before; the load in exec_ready_take acquires it. */
static inline void exec_ready_give(exec_ready_t *q, _Atomic int32_t *slots, int32_t op)
{
    int32_t at = atomic_fetch_add_explicit(&q->tail, 1, memory_order_relaxed);

    atomic_store_explicit(&slots[q->first + at], op + 1, memory_order_release);
}

/* A slot that was claimed but not yet stored to looks empty; its giver is about to say so. */
static inline bool exec_ready_take(exec_ready_t *q, _Atomic int32_t *slots, int32_t *op_p)
{
    int32_t head = atomic_load_explicit(&q->head, memory_order_relaxed);

    while (head < q->capacity) {
        int32_t found = atomic_load_explicit(&slots[q->first + head], memory_order_acquire);

        if (found == 0)
            return false;
        if (atomic_compare_exchange_weak_explicit(&q->head, &head, head + 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            *op_p = found - 1;
            return true;
        }
    }
    return false;
}

#endif
