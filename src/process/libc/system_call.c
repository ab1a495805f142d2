/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * syscall(): calls for which this library replaces the function do the same. libnuma binds itself
 * this way, std::atomic waits this way.
 */
#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "process/libc/affinity.h"
#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"
#include "process/libc/turns.h"

static long plain(long number, const long a[6])
{
    return XY_NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void end(process_t *process, long number, int code)
{
    if (number == SYS_exit_group)
        process_end(process, code);
    if (process_is_main())
        process_threads_end(process, code, false);
}

typedef struct {
    const int *word;
    int value;
} word_t;

static bool is_changed(void *arg)
{
    const word_t *w = arg;

    return __atomic_load_n(w->word, __ATOMIC_ACQUIRE) != w->value;
}

/* The limit is one of the process's clock: how long, or, with a mask, until when. Seconds;
 * INFINITY: there is none. */
static double limit_of(const long a[6])
{
    const struct timespec *limit = (const struct timespec *)a[3];
    clockid_t clock = (a[1] & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;

    if (limit == NULL)
        return INFINITY;
    return ((int)a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT
               ? (double)limit->tv_sec + 1e-9 * (double)limit->tv_nsec
               : process_seconds_until(clock, limit);
}

static long wait_in_virtual_time(const long a[6])
{
    word_t w = {(const int *)a[0], (int)a[2]};
    double seconds = fmax(0, limit_of(a));

    if (process_block_look(is_changed, &w, fmax(0, seconds), process_block_has_threads()))
        return 0;
    errno = ETIMEDOUT;
    return -1;
}

static bool is_valid(const struct timespec *limit)
{
    return limit->tv_sec >= 0 && limit->tv_nsec >= 0 && limit->tv_nsec < 1000000000L;
}

static bool is_wait(int operation)
{
    return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
}

/* The word is woken by threads that take turns with the caller. */
static long wait_in_turns(int operation, const long a[6])
{
    double seconds = is_wait(operation) ? fmax(0, limit_of(a)) : 0;
    long result = process_turn_futex((const int *)a[0], operation, (int)a[2], seconds);

    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}

/* A wait that would end at once does so here. */
static long wait_for_word(const long a[6])
{
    int operation = (int)a[1] & FUTEX_CMD_MASK;
    bool is_private = ((int)a[1] & FUTEX_PRIVATE_FLAG) != 0;
    bool is_wake = operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET;

    if (process_turns_are_taken() && is_private &&
        (is_wake || (is_wait(operation) && (a[3] == 0 || is_valid((const struct timespec *)a[3])))))
        return wait_in_turns(operation, a);
    if (!is_wait(operation) || __atomic_load_n((const int *)a[0], __ATOMIC_ACQUIRE) != (int)a[2])
        return plain(SYS_futex, a);
    if (process_runtime.clock != NULL && a[3] != 0 && is_valid((const struct timespec *)a[3]))
        return wait_in_virtual_time(a);
    return process_block_call(SYS_futex, a);
}

/* Execute a system call for a process; exit, execve and affinity calls are redirected. */
static long of_process(process_t *process, long number, const long a[6])
{
    long result;

    switch (number) {
    case SYS_exit:
    case SYS_exit_group:
        end(process, number, (int)a[0]);
        return plain(number, a);
    case SYS_execve:
        return execve((const char *)a[0], (char *const *)a[1], (char *const *)a[2]);
    case SYS_sched_setaffinity:
        result = process_affinity_set((pid_t)a[0], (size_t)a[1], (const void *)a[2]);
        return result == PROCESS_AFFINITY_PLAIN ? plain(number, a) : result;
    case SYS_sched_getaffinity:
        result = plain(number, a);
        if (result > 0)
            process_affinity_answer((pid_t)a[0], (size_t)result, (void *)a[2]);
        return result;
    default:
        return plain(number, a);
    }
}

XY_INTERPOSE long syscall(long number, ...)
{
    process_t *process = process_self;
    va_list arguments;
    long a[6];

    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_futex)
        return XY_MAY_PARK() ? wait_for_word(a) : plain(number, a);
    if (process == NULL || getpid() != process_pid)
        return plain(number, a);
    return of_process(process, number, a);
}
