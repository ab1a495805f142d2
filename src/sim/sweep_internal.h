/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the writers of a sweep (private to the room). */
#ifndef XY_SIM_SWEEP_INTERNAL_H
#define XY_SIM_SWEEP_INTERNAL_H

#include "sim/sweep.h"

/* Text for XML and HTML. */
void sim_write_escaped(const char *text, FILE *file);

/* In percent. */
static inline double sim_overlap_of(const xy_sim_sweep_t *sweep, const xy_sim_point_t *point)
{
    return sweep->is_measured ? point->overlap : xy_sim_overlap(&point->times);
}

/* The overlap of one collective and way over ranks and sizes. */
void sim_write_heat(const xy_sim_sweep_t *sweep, const xy_vec_t *points, int collective, int way,
                    FILE *file);

#endif
