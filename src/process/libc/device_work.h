/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work that the threads of a process put into its default stream, and how much of it has ended.
 *
 *   device_work_add(&w);                     (after it was put there)
 *   if (device_work_is_there(&w)) {
 *       uint64_t all = device_work_count(&w);
 *       ...                                  (wait for the stream)
 *       device_work_end(&w, all);
 *   }
 *
 * A thread that waits does not hide the work from others before it has ended, nor what they add
 * meanwhile. Any thread.
 */
#ifndef XY_PROCESS_LIBC_DEVICE_WORK_H
#define XY_PROCESS_LIBC_DEVICE_WORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    _Atomic uint64_t added, ended;
} device_work_t;

static inline void device_work_add(device_work_t *w)
{
    atomic_fetch_add(&w->added, 1);
}

static inline uint64_t device_work_count(device_work_t *w)
{
    return atomic_load(&w->added);
}

static inline bool device_work_is_there(const device_work_t *w)
{
    return atomic_load(&w->added) != atomic_load(&w->ended);
}

/* The first `count` of them have ended. */
static inline void device_work_end(device_work_t *w, uint64_t count)
{
    uint64_t before = atomic_load(&w->ended);

    while (before < count && !atomic_compare_exchange_weak(&w->ended, &before, count))
        ;
}

#endif
