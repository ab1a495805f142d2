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
    double begin = cost_now();

    loop_throughput(TURNS);
    return cost_now() - begin;
}

static double time_latency(void)
{
    double begin = cost_now();

    loop_latency(TURNS);
    return cost_now() - begin;
}

cost_pace_t cost_pace_glance(void)
{
    cost_pace_t p = {.throughput = time_throughput()};

    p.latency = time_latency();
    return p;
}

cost_pace_t cost_pace_now(void)
{
    cost_pace_t a = cost_pace_glance(), b = cost_pace_glance();

    return (cost_pace_t){fmin(a.latency, b.latency), fmin(a.throughput, b.throughput)};
}

static double ratio(const cost_pace_t *p)
{
    return p->throughput / p->latency;
}

cost_pace_t cost_pace_learn(double seconds)
{
    static _Thread_local double latencies[LOOKS_MAX], ratios[LOOKS_MAX];
    double end = cost_now() + seconds, spread;
    cost_pace_t p;
    long n = 0;

    while (n < LOOKS_MAX && (n < 20 || cost_now() < end)) {
        p = cost_pace_now();
        latencies[n] = p.latency;
        ratios[n++] = ratio(&p);
    }
    p.latency = cost_median(latencies, n, &spread);
    cost_median(ratios, n, &spread);
    /* Not the very least: an interrupt in the wrong loop makes a ratio of its own. */
    p.throughput = ratios[n / 100] * p.latency;
    return p;
}

double cost_pace_ratio(const cost_pace_t *now, const cost_pace_t *reference)
{
    return ratio(now) / ratio(reference);
}

bool cost_pace_is_alone(const cost_pace_t *now, const cost_pace_t *reference)
{
    return cost_pace_ratio(now, reference) <= alone;
}

double cost_pace_scale(const cost_pace_t *now, const cost_pace_t *reference)
{
    return reference->latency / now->latency;
}
