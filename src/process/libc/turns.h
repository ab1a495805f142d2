/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of processes in virtual time. The clock of the runtime (process_clock_t) gives them
 * turns: of all threads of all processes one runs at a time, until it waits for another one. So
 * nothing here needs a lock, and runs are the same each time.
 *
 *   while (pthread_mutex_trylock(mutex) == EBUSY)        (in place of pthread_mutex_lock)
 *       process_turn_wait(mutex, INFINITY);
 *
 *   pthread_mutex_unlock(mutex);
 *   process_turn_wake(mutex, 1);
 *
 * A thread that waits has a key, which is the address of what it waits for. Those with one key
 * continue in the order in which they came.
 */
#ifndef XY_PROCESS_LIBC_TURNS_H
#define XY_PROCESS_LIBC_TURNS_H

#include <limits.h>
#include <math.h>

#include "process/libc/process_state.h"

enum { PROCESS_TURN_ALL = INT_MAX };

/* Has the calling process threads that take turns? What it waits for is then done in their turns,
 * unless it is shared with processes that see it at other addresses. */
static inline bool process_turns_are_taken(void)
{
    return __builtin_expect(process_runtime.clock != NULL, 0) && process_has_turn() &&
           process_self->has_turns && !process_is_child;
}

/* The caller leaves its turn until another one wakes this key, or so many seconds have passed:
 * false. */
bool process_turn_wait(const void *key, double seconds);
/* The same, and release(arg) is called when it can be woken. */
bool process_turn_release(const void *key, double seconds, void (*release)(void *arg), void *arg);
/* Until is_over(arg), which each wake of the key may bring about. False: the time has passed. */
bool process_turn_wait_for(const void *key, bool (*is_over)(void *arg), void *arg, double seconds);
/* The computation of the caller takes its time, in which others may run. */
void process_turn_settle(void);
/* How many wait for the key. */
int process_turn_waiting(const void *key);
/* Up to `most` of them continue, at the time of the caller; how many do. */
int process_turn_wake_some(const void *key, int most);
/* The caller is about to take a lock. One that takes and gives back locks in a loop, until
 * another one has done something, lets the others run from time to time. */
void process_turn_begins(void);
/* The process ends, and its threads, wherever they wait. */
void process_turns_end(const process_t *process);

extern bool process_turn_is_awaited __attribute__((visibility("hidden")));

/* The same where nobody may wait, also outside of processes. */
static inline void process_turn_wake(const void *key, int most)
{
    if (__builtin_expect(process_turn_is_awaited, 0) && process_has_turn() && !process_is_child)
        process_turn_wake_some(key, most);
}

/* May a thread that is made by this code have turns? Its waits must be seen: not without a filter
 * of the kernel where OpenMP makes it (futex_trap.c). */
bool process_turns_can_have(const void *caller);

/* On a new thread of a process, whose turn was made: returns when it has its first one. And the
 * last thing that it does. */
void process_turns_begin_thread(void *turn);
void process_turns_end_thread(void);

/* Wait for the end of a thread of this process, which takes turns with the caller; false: so many
 * seconds have passed (process_thread.c). */
bool process_thread_await_end(pthread_t thread, double seconds);

/* The system call futex, by turns: 0, a count, or a negative errno value. The word is one of this
 * process. */
long process_turn_futex(const int *word, int operation, int value, double seconds);

#endif
