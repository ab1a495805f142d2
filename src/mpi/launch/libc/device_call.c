/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the driver knows of a context moves to the core that calls it: on an H200 a launch took 20
 * us with a rank on each of 16 cores, and 4 us with all of them on one. So calls that are short
 * wait in a list, and the thread that comes to it first makes all that are there, one after the
 * other.
 */
#include "mpi/launch/libc/device_call.h"

#include <stdatomic.h>
#include <string.h>

#include "fiber/fiber.h"

static int (*context_get)(void **);
static int (*context_set)(void *);

void mpi_device_call_setup(int (*get)(void **), int (*set)(void *))
{
    context_get = get;
    context_set = set;
}

typedef struct request {
    void *function, *context;
    uintptr_t words[MPI_DEVICE_WORDS];
    int result;
    struct request *next;
    _Atomic bool is_over;
} request_t;

static request_t *_Atomic waiting;
static atomic_flag is_served = ATOMIC_FLAG_INIT;

/* With more words than the function takes, perhaps: it leaves them alone, and the caller removes
 * them, on the processors that there are drivers for. */
static int make_call(void *function, const uintptr_t *w)
{
    typedef uintptr_t w_t;
    typedef int (*function_fn)(w_t, w_t, w_t, w_t, w_t, w_t, w_t, w_t, w_t, w_t, w_t);

    return ((function_fn)function)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9],
                                   w[10]);
}

/* Those that came first, first. */
static request_t *take_waiting(void)
{
    request_t *last = atomic_exchange_explicit(&waiting, NULL, memory_order_acquire);
    request_t *first = NULL, *next;

    for (; last != NULL; last = next) {
        next = last->next;
        last->next = first;
        first = last;
    }
    return first;
}

static void serve(void *own_context)
{
    void *current = own_context;
    request_t *next;

    for (request_t *r = take_waiting(); r != NULL; r = next) {
        next = r->next; /* it is gone once it is over */
        if (r->context != current)
            context_set(r->context);
        current = r->context;
        r->result = make_call(r->function, r->words);
        atomic_store_explicit(&r->is_over, true, memory_order_release);
    }
    if (current != own_context)
        context_set(own_context);
}

int mpi_device_call(void *function, const uintptr_t *words, size_t n)
{
    request_t own = {.function = function};
    unsigned looks = 0;

    memcpy(own.words, words, n * sizeof(*words));
    context_get(&own.context);
    own.next = atomic_load_explicit(&waiting, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&waiting, &own.next, &own, memory_order_release,
                                                  memory_order_relaxed))
        continue;
    while (!atomic_load_explicit(&own.is_over, memory_order_acquire))
        if (!atomic_flag_test_and_set_explicit(&is_served, memory_order_acquire)) {
            serve(own.context);
            atomic_flag_clear_explicit(&is_served, memory_order_release);
        } else {
            xy_back_off(&looks);
        }
    return own.result;
}
