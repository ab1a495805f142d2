/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parts of a calibration (private to the component). */
#ifndef XY_MEASURE_CALIBRATE_INTERNAL_H
#define XY_MEASURE_CALIBRATE_INTERNAL_H

#include "measure/calibrate.h"
#include "measure/child.h"

void calibrate_step(const xy_calibration_t *c, double seconds);
void calibrate_report(const xy_calibration_t *c, const xy_kernel_cost_t *k);

/* One kernel with its sizes, into the store. EINVAL, ENOENT: it was reported, and the others may
 * continue.
 */
xy_status_t calibrate_kernel(const xy_calibration_t *c, const measure_child_options_t *options,
                             double seconds, xy_costs_t *costs);

/* The reference pace of a store; zeros: it has none. */
measure_speed_t calibrate_pace(const xy_costs_t *costs);
xy_status_t calibrate_keep_pace(xy_costs_t *costs, const measure_speed_t *pace);

/* The hand-over of a cache line between the first PU and one at each distance. */
xy_status_t calibrate_cache_line(const xy_calibration_t *c, const xy_machine_t *live,
                                 xy_costs_t *costs);

/* Copies or sums of a model again, at the sizes x of the samples; the rest of them is filled in.
 * EUNSUPPORTED: this machine has not so many cores, or no memory so far away; it is reported. */
xy_status_t calibrate_memory_again(const xy_calibration_t *c, const xy_machine_t *live,
                                   const xy_kernel_cost_t *k, xy_sample_t *samples, size_t count);

#endif
