/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The elements of accumulates: atomic updates of each element among all accumulates to it.
 *
 * The standard requires that where all of them name the same basic type. So the type and the
 * address of an element decide the method, for all origins and operations alike:
 *
 *   1, 2, 4 or 8 bytes at a multiple of that    one atomic instruction, or a loop around compare
 *                                               and swap
 *   everything else (long double, wide          under the guard of the target
 *   complex and pairs, elements that are
 *   not aligned), MPI_BYTE and characters, and
 *   all in the memory of a GPU
 *
 * Programs move structures as bytes: under the guard, one operation on contiguous bytes is atomic
 * as a whole, although the standard does not require it.
 *
 * Atomic instructions one by one are slow for a long vector. A long update therefore uses the loops
 * of reductions, under the guard and while no worker is at an atomic instruction:
 *
 *   a worker                              a long update
 *   is_updating of the worker = 1         takes the guard
 *   is_long of the target?                is_long of the target = 1
 *     no: the atomic instruction          a barrier on all cores of the process
 *     yes: the same under the guard       waits until is_updating of each worker is 0
 *   is_updating = 0                       the loops
 *                                         gives the guard back
 *
 * Both write first and then read, so one of the two sees the other. The barrier (membarrier) makes
 * the workers' stores come before their loads without an instruction of theirs; where the kernel
 * has none, a worker exchanges the word, which costs as much as the atomic instruction itself. A
 * target stays long, so that a series of long updates has one barrier, until as many updates under
 * the guard as a barrier is worth have followed the last one. Threads that are no workers always
 * take the guard. An origin that has locked the target exclusively needs none of this. Targets that
 * other processes have mapped have no long updates: atomic instructions are all that they share.
 *
 *   rma_update_t u = {.op = op, .type = mpi_type_of(MPI_DOUBLE), .updates = &target->updates};
 *   rma_update(&u, address, origin, result, 10);
 */
#ifndef XY_MPI_RMA_ELEMENT_H
#define XY_MPI_RMA_ELEMENT_H

#include <string.h>

#include "mpi/rma/rma.h"

/* So many updates under the guard cost as much more than without it as a barrier on all cores. */
enum { RMA_SHORTS = 256 };

typedef struct {
    const mpi_op_t *op;
    const mpi_type_t *type; /* of an element: predefined; `op` is defined for it */
    rma_updates_t *updates; /* of the target */
    mpi_worker_t *worker;   /* that the calling thread is; NULL: none */
    bool is_alone;          /* nothing else is updated there now */
} rma_update_t;

/* The predefined type of the elements of `type`; NULL when they are not all of one kind. */
const mpi_type_t *rma_element_of(const mpi_type_t *type);

_Static_assert(XMPI_BASIC_BYTE < XMPI_BASIC_CHARACTER && XMPI_BASIC_CHARACTER < XMPI_BASIC_INT8,
               "the kinds without arithmetic come first");

/* Are elements of `type` at `address` updated by atomic instructions? */
static inline bool rma_is_atomic(const mpi_type_t *type, const void *address)
{
    size_t size = type->size;

    return size <= 8 && (size & (size - 1)) == 0 && type->is_contiguous &&
           ((uintptr_t)address & (size - 1)) == 0 && type->basic > XMPI_BASIC_CHARACTER;
}

/* target[i] = target[i] op origin[i], and result[i] is what was there before, for `n` elements one
 * extent apart. `result` may be NULL; `origin` is not looked at by MPI_NO_OP. Both are aligned as
 * their type wants it, unless elements are updated by atomic instructions. `target` may be memory
 * of a GPU, and the others, too, if it is. */
void rma_update(const rma_update_t *u, char *target, const char *origin, char *result, size_t n);

/* Before there are windows: does the kernel have the barrier? Tests may say that it has not. */
void rma_elements_prepare(void);
extern bool rma_has_barrier;

/* An atomic instruction may follow. False: under the guard. */
static inline bool rma_enter(const rma_update_t *u)
{
    if (u->worker != NULL) {
        if (__builtin_expect(rma_has_barrier, 1)) {
            atomic_store_explicit(&u->worker->is_updating, 1, memory_order_relaxed);
            atomic_signal_fence(memory_order_seq_cst);
        } else {
            atomic_exchange_explicit(&u->worker->is_updating, 1, memory_order_seq_cst);
        }
        /* Acquire: released by the update that made it short again. */
        if (atomic_load_explicit(&u->updates->is_long, memory_order_seq_cst) == 0)
            return true;
        atomic_store_explicit(&u->worker->is_updating, 0, memory_order_release);
    }
    rma_guard_acquire(&u->updates->guard);
    return false;
}

/* Release: acquired by the long update that waits for it, or with the guard. */
static inline void rma_leave(const rma_update_t *u, bool is_free)
{
    if (is_free) {
        atomic_store_explicit(&u->worker->is_updating, 0, memory_order_release);
        return;
    }
    if (++u->updates->shorts >= RMA_SHORTS)
        atomic_store_explicit(&u->updates->is_long, 0, memory_order_release);
    rma_guard_release(&u->updates->guard);
}

/* The same of a counter: an aligned integer of eight bytes, to which *origin is added. What it was.
 */
static inline uint64_t rma_add(const rma_update_t *u, void *target, const void *origin)
{
    bool is_free = rma_enter(u);
    uint64_t x;

    memcpy(&x, origin, sizeof(x));
    x = __atomic_fetch_add((uint64_t *)target, x, __ATOMIC_ACQ_REL);
    rma_leave(u, is_free);
    return x;
}

/* The same of one element that rma_is_atomic. False: `op` is not defined for it. */
bool rma_update_one(const rma_update_t *u, char *target, const char *origin, char *result);

/* Around an update of so many elements that it is long: the target is this update's alone. False:
 * it is short, or alone already. */
bool rma_long_begin(rma_update_t *u, size_t elements);
void rma_long_end(rma_update_t *u);

/* *result is what was there, and if that equals *compare, it becomes *origin. One element of 1, 2,
 * 4, 8 or 16 bytes. Only `target` may be memory of a GPU. */
void rma_compare_and_swap(const rma_update_t *u, char *target, const void *origin,
                          const void *compare, void *result);

#endif
