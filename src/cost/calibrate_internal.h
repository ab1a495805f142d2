/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of a calibration share (private to the room). */
#ifndef XY_COST_CALIBRATE_INTERNAL_H
#define XY_COST_CALIBRATE_INTERNAL_H

#include "cost/calibrate.h"

void calibrate_step(const xy_calibration_t *c, double seconds);
void calibrate_report(const xy_calibration_t *c, const xy_kernel_cost_t *k);

/* The hand-over of a cache line between the first PU and one at each distance. */
xy_status_t calibrate_handover(const xy_calibration_t *c, const xy_machine_t *live,
                               xy_costs_t *costs);

#endif
