/* SPDX-License-Identifier: BSD-3-Clause */
/* Measurements of `xylem calibrate` that need components above `cost`. */
#ifndef XY_TOOLS_CALIBRATE_H
#define XY_TOOLS_CALIBRATE_H

#include "measure/measure.h"

/* Switches and polls on the first PU, wakes between it and the first other one. */
xy_status_t calibrate_fibers(const xy_calibration_t *c, const xy_machine_t *live,
                             xy_costs_t *costs);

/* Messages of Xylem's own MPI: between ranks of one PU (cluster "pu"), of the first PU and the
 * nearest other one (XY_COSTS_LOCAL), and of one at each greater distance (by what the two have in
 * common: "package"). `m`: the largest message; `seconds` for all of it. Without an mpiexec beside
 * this program it is warned, and XY_OK. */
xy_status_t calibrate_own_messages(const xy_calibration_t *c, const xy_messages_calibration_t *m,
                                   double seconds, const xy_machine_t *live, xy_costs_t *costs,
                                   int *failed_p);

#endif
