/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pace of a core during a run (private to the component).
 *
 *   measure_interference_start(&reference, true);
 *   run();
 *   measure_interference_t w = measure_interference_stop();
 *   seconds = (took - w.spent) * w.speed;      (as it would be at the reference pace, alone)
 *
 * Neighbours come and go within milliseconds, so looking before and after a long run shows little
 * about it. A timer interrupts the run every half millisecond for one look of some microseconds:
 *
 *   before |  run . . | . . | . . | . . run  | after       alone here: speed 1
 *          ^          ^     ^     ^          ^             two on the core: the ratio of the loops
 *
 * While a neighbour takes slots, a kernel that fills the core slows down as the loop that fills it
 * does. That holds within a few percent for a whole run, which is why runs that were disturbed less
 * count before others, and not why all runs count.
 *
 * A process watches one run at a time, on its main thread.
 */
#ifndef XY_MEASURE_INTERFERENCE_H
#define XY_MEASURE_INTERFERENCE_H

#include <stdbool.h>

#include "measure/cpu_speed.h"

typedef struct {
    double speed;     /* mean: the work done in a second, against the reference pace alone */
    double disturbed; /* mean: the part of the core that others took, 0 to 1 */
    double spent;     /* seconds that looking took out of the run */
    long looks;
    /* Looks at a core that is more alone than the reference, and their ratio to it: when they are
     * many, the reference was learnt while a neighbour was there. */
    long below;
    double below_ratio;
} measure_interference_t;

/* `may_interrupt`: the timer is used, so that system calls of the run may return early (EINTR).
 * The reference must live until the end. */
void measure_interference_start(const measure_speed_t *reference, bool may_interrupt);
/* Take the time of the run first: this looks once more. */
measure_interference_t measure_interference_stop(void);
/* Seconds that looking has taken so far: what the time of a run is less of. */
double measure_interference_spent(void);

#endif
