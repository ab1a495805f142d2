/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Repeatable random numbers: xorshift64*, one word of state, the same series on every machine. Not
 * for secrets.
 *
 *   uint64_t state = 42;                     (anything but 0)
 *   double noise = xy_random_unit(&state);
 */
#ifndef XY_BASE_RANDOM_H
#define XY_BASE_RANDOM_H

#include <stdint.h>

static inline uint64_t xy_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Uniform in [-1, 1]. */
static inline double xy_random_unit(uint64_t *state)
{
    return (double)(xy_random(state) >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

#endif
