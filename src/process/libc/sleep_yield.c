/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for time to pass lets other processes run, and so does sched_yield. */
#include <errno.h>
#include <sched.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

static bool is_valid(const struct timespec *t)
{
    return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < 1000000000L;
}

static double seconds_of(const struct timespec *t)
{
    return (double)t->tv_sec + 1e-9 * (double)t->tv_nsec;
}

static bool may_switch(const void *caller)
{
    return process_has_turn() && !process_locals_is_of_worker(caller);
}

XY_INTERPOSE unsigned sleep(unsigned seconds)
{
    if (!may_switch(__builtin_return_address(0)))
        return XY_NEXT(sleep)(seconds);
    process_sleep((double)seconds);
    return 0;
}

XY_INTERPOSE int usleep(useconds_t microseconds)
{
    if (!may_switch(__builtin_return_address(0)))
        return XY_NEXT(usleep)(microseconds);
    process_sleep(1e-6 * (double)microseconds);
    return 0;
}

XY_INTERPOSE int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    if (!may_switch(__builtin_return_address(0)))
        return XY_NEXT(nanosleep)(wanted, left);
    if (!is_valid(wanted)) {
        errno = EINVAL;
        return -1;
    }
    process_sleep(seconds_of(wanted));
    return 0;
}

XY_INTERPOSE int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                                 struct timespec *left)
{
    struct timespec now = {0};
    double seconds;

    if (!may_switch(__builtin_return_address(0)) ||
        (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && process_runtime.clock == NULL))
        return XY_NEXT(clock_nanosleep)(clock, flags, wanted, left);
    if (!is_valid(wanted))
        return EINVAL;
    if ((flags & TIMER_ABSTIME) != 0)
        process_clock_gettime(clock, &now);
    seconds =
        (double)(wanted->tv_sec - now.tv_sec) + 1e-9 * (double)(wanted->tv_nsec - now.tv_nsec);
    if (seconds > 0)
        process_sleep(seconds);
    return 0;
}

XY_INTERPOSE int sched_yield(void)
{
    if (!may_switch(__builtin_return_address(0)))
        return XY_NEXT(sched_yield)();
    process_yield();
    return 0;
}

XY_INTERPOSE int thrd_sleep(const struct timespec *wanted, struct timespec *left)
{
    if (!may_switch(__builtin_return_address(0)) || !is_valid(wanted))
        return XY_NEXT(thrd_sleep)(wanted, left);
    process_sleep(seconds_of(wanted));
    return 0;
}

XY_INTERPOSE void thrd_yield(void)
{
    if (!may_switch(__builtin_return_address(0)))
        XY_NEXT(thrd_yield)();
    else
        process_yield();
}
