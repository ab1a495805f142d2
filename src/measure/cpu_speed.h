/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pace of a core: its frequency, and whether other work runs on it (private to the component).
 *
 *   measure_speed_t reference = measure_speed_learn(0.3), now = measure_speed_now();
 *   if (measure_speed_is_alone(&now, &reference))
 *       seconds *= measure_speed_scale(&now, &reference);
 *
 * On a shared machine, a virtual one above all, a core changes under a measurement: its frequency
 * moves by a tenth, and when other work starts on the sibling thread of the core, which a guest can
 * not even see, everything takes half as long again. Two loops of a few microseconds measure both:
 *
 *   latency     one operation waits for the next; alone or not, it takes so many cycles: frequency
 *   throughput  six chains fill the core; a neighbour takes slots from them, and the ratio of
 *               throughput to latency rises, whatever the frequency
 */
#ifndef XY_MEASURE_CPU_SPEED_H
#define XY_MEASURE_CPU_SPEED_H

#include <stdbool.h>

typedef struct {
    double latency, throughput; /* seconds of the two loops; 0: not known */
} measure_speed_t;

/* Both loops, the faster of two turns: about 20 microseconds. */
measure_speed_t measure_speed_now(void);
/* One turn. */
measure_speed_t measure_speed_glance(void);

/* Look for `seconds`: the usual latency, and the throughput of a core that is alone, if it was for
 * a hundredth of the time. */
measure_speed_t measure_speed_learn(double seconds);

/* How much longer the loop that fills the core takes than on a core that is alone, whatever the
 * frequency: 1 is alone, 2 is half a core. */
double measure_speed_ratio(const measure_speed_t *now, const measure_speed_t *reference);
/* No other work is on this core. */
bool measure_speed_is_alone(const measure_speed_t *now, const measure_speed_t *reference);
/* The factor from a time at this pace to one at the reference. */
double measure_speed_scale(const measure_speed_t *now, const measure_speed_t *reference);

#endif
