/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks of the system in seconds. */
#ifndef XY_BASE_CLOCK_H
#define XY_BASE_CLOCK_H

#include <time.h>

/* CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, ... */
static inline double xy_clock_seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
