/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two loops whose times give the pace of a core. In one each operation waits for the one before: it
 * follows the frequency alone. The other fills the core, and takes longer than usual beside the
 * first when other work is on it. cpu_speed.c and the probe use them; the probe is compiled where
 * it runs, so nothing else is included here.
 */
#ifndef XY_MEASURE_PROBE_LOOPS_H
#define XY_MEASURE_PROBE_LOOPS_H

#include <stdint.h>

/* Keeps the value, and what makes it, between the two looks at the clock. */
static inline void loop_hold(uint64_t *x)
{
    __asm__ volatile("" : "+r"(*x) : : "memory");
}

/* Half of a xorshift: no compiler knows a shorter way. */
static inline uint64_t loop_stir(uint64_t x)
{
    x ^= x << 13;
    return x ^ (x >> 7);
}

static inline void loop_throughput(int turns)
{
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;

    for (int i = 0; i < turns; i++) {
        a = loop_stir(a), b = loop_stir(b), c = loop_stir(c);
        d = loop_stir(d), e = loop_stir(e), f = loop_stir(f);
        loop_hold(&a), loop_hold(&d);
    }
    a ^= b ^ c ^ d ^ e ^ f;
    loop_hold(&a);
}

static inline void loop_latency(int turns)
{
    uint64_t x = 1;

    for (int i = 0; i < turns; i++) {
        x = x * 6364136223846793005u + 1;
        loop_hold(&x);
    }
}

#endif
