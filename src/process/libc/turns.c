/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/libc/turns.h"

#include <errno.h>
#include <linux/futex.h>

#include "process/libc/block.h"

typedef struct waiter {
    const process_t *process;
    const void *key;
    void *who;
    bool is_woken;
    struct waiter *next;
} waiter_t;

static waiter_t *first, **last = &first;
bool process_turn_is_awaited;
_Thread_local void *process_turn;

static void note(void)
{
    process_turn_is_awaited = first != NULL;
}

static waiter_t *take(waiter_t **place)
{
    waiter_t *w = *place;

    *place = w->next;
    if (last == &w->next)
        last = place;
    note();
    return w;
}

static void leave(const waiter_t *waiter)
{
    waiter_t **place = &first;

    while (*place != waiter)
        place = &(*place)->next;
    take(place);
}

static int begun; /* since a wait, by the one that has the turn */

void process_turn_begins(void)
{
    enum { MOST = 100 };

    if (++begun < MOST)
        return;
    begun = 0;
    process_yield();
}

void process_turn_settle(void)
{
    process_runtime.clock->sleep(process_self, 0, true);
}

/* Others may run in `release` and while it settles: they may wake it before it has left its turn.
 */
bool process_turn_release(const void *key, double seconds, void (*release)(void *arg), void *arg)
{
    process_t *process = process_self;
    const process_clock_t *clock = process_runtime.clock;
    waiter_t w = {.process = process, .key = key, .who = clock->here(process)};

    begun = 0;
    *last = &w;
    last = &w.next;
    note();
    if (release != NULL)
        release(arg);
    process_block_begin_wait(process);
    process_turn_settle();
    if (!w.is_woken)
        clock->block(process, seconds);
    process_block_end_wait(process);
    if (!w.is_woken)
        leave(&w);
    return w.is_woken;
}

bool process_turn_wait(const void *key, double seconds)
{
    return process_turn_release(key, seconds, NULL, NULL);
}

bool process_turn_wait_for(const void *key, bool (*is_over)(void *arg), void *arg, double seconds)
{
    const process_clock_t *clock = process_runtime.clock;
    double end = seconds < INFINITY ? clock->now(process_self) + seconds : INFINITY;

    while (!is_over(arg)) {
        double left = end < INFINITY ? end - clock->now(process_self) : INFINITY;

        if (left <= 0)
            return false;
        process_turn_wait(key, left);
    }
    return true;
}

int process_turn_waiting(const void *key)
{
    int count = 0;

    for (const waiter_t *w = first; w != NULL; w = w->next)
        count += w->key == key;
    return count;
}

int process_turn_wake_some(const void *key, int most)
{
    int count = 0;

    process_turn_settle();
    for (waiter_t **place = &first; *place != NULL && count < most;) {
        waiter_t *w = *place;

        if (w->key != key) {
            place = &w->next;
            continue;
        }
        take(place);
        w->is_woken = true;
        count++;
        process_runtime.clock->wake(process_self, w->who);
    }
    return count;
}

void process_turns_end(const process_t *process)
{
    for (waiter_t **place = &first; *place != NULL;)
        if ((*place)->process == process)
            take(place);
        else
            place = &(*place)->next;
}

void process_turns_begin_thread(void *turn)
{
    process_turn = turn;
    process_runtime.clock->thread_begin(turn);
}

void process_turns_end_thread(void)
{
    void *turn = process_turn;

    process_turn = NULL;
    process_runtime.clock->thread_end(turn);
}

long process_turn_futex(const int *word, int operation, int value, double seconds)
{
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
            return -EAGAIN;
        return process_turn_wait(word, seconds) ? 0 : -ETIMEDOUT;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
        return process_turn_wake_some(word, value);
    default:
        return -ENOSYS;
    }
}
