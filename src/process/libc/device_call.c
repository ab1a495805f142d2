/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that call the driver at once wait for each other inside it, and put each other to sleep:
 * on an H200 a launch took 4.5 us from one thread and 42 us from each of 16. So calls that are
 * short have numbers, and one begins when only so many before it are not over.
 *
 * After a collective all processes launch at once, and the device does nothing until the first
 * launch is made, which takes the longer the more are made beside it: the first calls after nobody
 * was in the driver are made by few at once. Later it matters that many are made in all.
 *
 * Nothing depends on the limit but time. A call that has waited long is made: those inside may
 * wait for a device whose queue is full, and that for a launch of the caller.
 */
#include "process/libc/device_call.h"

#include <stdatomic.h>

#include "fiber/fiber.h"

enum { AT_FIRST = 4, AT_MOST = 8, CALLS_PER_MORE = 8, PATIENCE = 1 << 16, LINE = 128 };

static struct {
    _Alignas(LINE) _Atomic unsigned begun;
    _Alignas(LINE) _Atomic unsigned ended;
    _Atomic unsigned first; /* the last one that found nobody */
} calls;

/* How many must end before `own` is made; 0 or less: it may be made. Calls do not end in their
 * order: `ended` may be beyond `own`. */
static int places_behind(unsigned own)
{
    unsigned ended = atomic_load_explicit(&calls.ended, memory_order_relaxed);
    unsigned since = ended - atomic_load_explicit(&calls.first, memory_order_relaxed);
    unsigned limit = AT_FIRST + since / CALLS_PER_MORE;

    return (int)(own - ended) + 1 - (int)(limit < AT_MOST ? limit : AT_MOST);
}

/* Wait for the turn of a call; those far behind look less often, as all look at the same word. */
void process_device_call_begin(void)
{
    unsigned own = atomic_fetch_add_explicit(&calls.begun, 1, memory_order_relaxed);
    unsigned looks = 0;
    int behind;

    if (atomic_load_explicit(&calls.ended, memory_order_relaxed) == own)
        atomic_store_explicit(&calls.first, own, memory_order_relaxed);
    while ((behind = places_behind(own)) > 0 && looks < PATIENCE)
        for (int i = 0; i < behind; i++)
            xy_back_off(&looks);
}

int process_device_call_end(int result)
{
    atomic_fetch_add_explicit(&calls.ended, 1, memory_order_relaxed);
    return result;
}
