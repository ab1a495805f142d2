/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/trace_clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "trace/record.h"

uint64_t trace_monotonic_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#if defined(__x86_64__)
/* Bit 8 tells it. Set before any thread can record, in xy_trace_create. */
bool xy_trace_has_counter;

static void choose(void)
{
    unsigned a, b, c, d;

    xy_trace_has_counter = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8) != 0;
}

void trace_clock_choose(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, choose);
}

uint64_t xy_trace_clock_kernel(void)
{
    return trace_monotonic_ns();
}

uint64_t trace_clock_second(void)
{
    return xy_trace_has_counter ? UINT64_C(1) << 31 : 1000000000u; /* about */
}
#elif defined(__aarch64__)
void trace_clock_choose(void) {}

uint64_t trace_clock_second(void)
{
    uint64_t f;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(f));
    return f;
}
#else
void trace_clock_choose(void) {}

uint64_t xy_trace_clock_kernel(void)
{
    return trace_monotonic_ns();
}

uint64_t trace_clock_second(void)
{
    return 1000000000u;
}
#endif

uint64_t xy_trace_clock_rate(void)
{
    return trace_clock_second();
}

void xy_trace_clock_begin(void)
{
    trace_clock_choose();
}
