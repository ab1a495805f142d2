/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the writers of a sweep (private to the component). */
#ifndef XY_SIM_SWEEP_INTERNAL_H
#define XY_SIM_SWEEP_INTERNAL_H

#include "sim/sweep.h"

/* In percent. */
static inline double sim_overlap_of(const xy_sim_sweep_t *sweep, const xy_sim_point_t *point)
{
    return sweep->is_measured ? point->overlap : xy_sim_overlap(&point->times);
}

/* The curves or bars of all collectives. */
void sim_draw_panels(const xy_sim_sweep_t *sweep, const xy_vec_t *points, bool is_embedded,
                     FILE *file);
/* The overlap of one collective and way over ranks and sizes. */
void sim_draw_heat(const xy_sim_sweep_t *sweep, const xy_vec_t *points, int collective, int way,
                   FILE *file);

#endif
