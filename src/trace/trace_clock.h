/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real clock (private to the component): the processor's steady counter where there is one,
 * else CLOCK_MONOTONIC. xy_trace_clock() of record.h reads it.
 */
#ifndef XY_TRACE_TRACE_CLOCK_H
#define XY_TRACE_TRACE_CLOCK_H

#include <stdint.h>

void trace_clock_choose(void);     /* before the first reading; any thread, any number of times */
uint64_t trace_clock_second(void); /* ticks in about a second */
uint64_t trace_monotonic_ns(void);

#endif
