/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clocks of the C library for processes of a job in virtual time: all of them run with
 * the process's virtual clock. Those that count from 1970 begin at PROCESS_VIRTUAL_EPOCH, the
 * others, and those that count the processor's time, at 0. In real time they are the C library's
 * own.
 */
#include <errno.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

/* 2000-01-01 00:00:00 UTC */
#define PROCESS_VIRTUAL_EPOCH 946684800

/* A process that looks at a clock may do something else soon. */
static inline void note_look(const void *caller)
{
    if (__builtin_expect(atomic_load_explicit(process_runtime.watches, memory_order_relaxed), 0) &&
        !process_interpose_is_own(caller))
        XY_RUNTIME_CALL(acts);
}

/* Does the caller see virtual time? This library itself does not, nor do allocators. A sanitizer
 * may stand between this library and its own functions, so the caller's address alone does not
 * tell. */
#define IS_VIRTUAL() is_virtual(__builtin_return_address(0))
static inline bool is_virtual(const void *caller)
{
    note_look(caller);
    return __builtin_expect(process_runtime.clock != NULL, 0) && process_has_turn() &&
           !process_is_child && !*process_runtime.clock->reads_real_time &&
           !process_interpose_is_own(caller) && !process_locals_is_of_worker(caller);
}

static double now(void)
{
    return process_runtime.clock->now(process_self);
}

static bool counts_from_1970(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI ||
           clock == CLOCK_REALTIME_ALARM;
}

/* To the nearest nanosecond: a later moment is never an earlier one. */
static struct timespec to_timespec(double seconds, time_t epoch)
{
    double whole = floor(seconds);
    long rest = (long)((seconds - whole) * 1e9 + 0.5);

    return (struct timespec){.tv_sec = epoch + (time_t)whole,
                             .tv_nsec = rest < 999999999L ? rest : 999999999L};
}

static struct timeval to_timeval(double seconds, time_t epoch)
{
    struct timespec t = to_timespec(seconds, epoch);

    return (struct timeval){.tv_sec = t.tv_sec, .tv_usec = t.tv_nsec / 1000};
}

static int read_clock(clockid_t clock, struct timespec *time)
{
    *time = to_timespec(now(), counts_from_1970(clock) ? PROCESS_VIRTUAL_EPOCH : 0);
    return 0;
}

void process_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (process_runtime.clock != NULL && process_has_turn())
        read_clock(clock, time);
    else
        clock_gettime(clock, time);
}

XY_INTERPOSE int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock > CLOCK_TAI || !IS_VIRTUAL()) /* there are no clocks beyond */
        return XY_NEXT(clock_gettime)(clock, time);
    return read_clock(clock, time);
}

XY_INTERPOSE int timespec_get(struct timespec *time, int base)
{
    if (base != TIME_UTC || !IS_VIRTUAL())
        return XY_NEXT(timespec_get)(time, base);
    read_clock(CLOCK_REALTIME, time);
    return base;
}

XY_INTERPOSE int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    if (!IS_VIRTUAL())
        return XY_NEXT(gettimeofday)(time, zone);
    *time = to_timeval(now(), PROCESS_VIRTUAL_EPOCH);
    if (zone != NULL)
        *(struct timezone *)zone = (struct timezone){0, 0};
    return 0;
}

XY_INTERPOSE time_t time(time_t *time_p)
{
    time_t seconds;

    if (!IS_VIRTUAL())
        return XY_NEXT(time)(time_p);
    seconds = PROCESS_VIRTUAL_EPOCH + (time_t)floor(now());
    if (time_p != NULL)
        *time_p = seconds;
    return seconds;
}

XY_INTERPOSE clock_t clock(void)
{
    if (!IS_VIRTUAL())
        return XY_NEXT(clock)();
    return (clock_t)(now() * CLOCKS_PER_SEC);
}

XY_INTERPOSE clock_t times(struct tms *t)
{
    clock_t ticks;

    if (!IS_VIRTUAL())
        return XY_NEXT(times)(t);
    ticks = (clock_t)(now() * (double)sysconf(_SC_CLK_TCK));
    if (t != NULL)
        *t = (struct tms){.tms_utime = ticks};
    return ticks;
}

/* Memory and faults are those of the host; its time is the process's. */
XY_INTERPOSE int getrusage(__rusage_who_t who, struct rusage *usage)
{
    int code = XY_NEXT(getrusage)(who, usage);

    if (code != 0 || who == RUSAGE_CHILDREN || !IS_VIRTUAL())
        return code;
    usage->ru_utime = to_timeval(now(), 0);
    usage->ru_stime = (struct timeval){0, 0};
    return 0;
}
