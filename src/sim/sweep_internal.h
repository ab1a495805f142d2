/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the writers of a sweep (private to the component). */
#ifndef XY_SIM_SWEEP_INTERNAL_H
#define XY_SIM_SWEEP_INTERNAL_H

#include "sim/sim_internal.h"
#include "sim/sweep.h"

/* In percent. */
static inline double sim_overlap_of(const xy_sim_sweep_t *sweep, const xy_sim_point_t *point)
{
    return sweep->is_measured ? point->overlap : xy_sim_overlap(&point->times);
}

/* sweep_job.c: the ranks of the node start the collective, compute and wait; *seconds_p is when the
 * last one is complete. The node has one host and no communication cores; `algorithm` and `trace`
 * may be NULL. The errors of xy_vjob_run. */
xy_status_t sweep_job_run(const xy_sim_t *sim, const xy_coll_request_t *q, const char *algorithm,
                          double compute, xy_trace_t *trace, double *seconds_p);

/* The curves or bars of all collectives. */
void sim_draw_panels(const xy_sim_sweep_t *sweep, const xy_vec_t *points, bool is_embedded,
                     FILE *file);
/* The overlap of one collective and way over ranks and sizes. */
void sim_draw_heat(const xy_sim_sweep_t *sweep, const xy_vec_t *points, int collective, int way,
                   FILE *file);

#endif
