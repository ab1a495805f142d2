/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/cpu_speed.h"

#include <math.h>

#include "measure/probe/loops.h"
#include "measure/timing.h"

enum { TURNS = 1500, LOOKS_MAX = 20000 };

/* A neighbour adds 0.3 and more to the ratio, the clock and interrupts some hundredths. */
static const double alone = 1.12;

static double time_throughput(void)
{
    double begin = measure_now();

    loop_throughput(TURNS);
    return measure_now() - begin;
}

static double time_latency(void)
{
    double begin = measure_now();

    loop_latency(TURNS);
    return measure_now() - begin;
}

measure_speed_t measure_speed_glance(void)
{
    measure_speed_t p = {.throughput = time_throughput()};

    p.latency = time_latency();
    return p;
}

measure_speed_t measure_speed_now(void)
{
    measure_speed_t a = measure_speed_glance(), b = measure_speed_glance();

    return (measure_speed_t){fmin(a.latency, b.latency), fmin(a.throughput, b.throughput)};
}

static double ratio(const measure_speed_t *p)
{
    return p->throughput / p->latency;
}

measure_speed_t measure_speed_learn(double seconds)
{
    static _Thread_local double latencies[LOOKS_MAX], ratios[LOOKS_MAX];
    double end = measure_now() + seconds, spread;
    measure_speed_t p;
    long n = 0;

    while (n < LOOKS_MAX && (n < 20 || measure_now() < end)) {
        p = measure_speed_now();
        latencies[n] = p.latency;
        ratios[n++] = ratio(&p);
    }
    p.latency = measure_median(latencies, n, &spread);
    measure_median(ratios, n, &spread);
    /* Not the very least: an interrupt in the wrong loop makes a ratio of its own. */
    p.throughput = ratios[n / 100] * p.latency;
    return p;
}

double measure_speed_ratio(const measure_speed_t *now, const measure_speed_t *reference)
{
    return ratio(now) / ratio(reference);
}

bool measure_speed_is_alone(const measure_speed_t *now, const measure_speed_t *reference)
{
    return measure_speed_ratio(now, reference) <= alone;
}

double measure_speed_scale(const measure_speed_t *now, const measure_speed_t *reference)
{
    return reference->latency / now->latency;
}
