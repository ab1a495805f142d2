/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calibration: kernels, memory and messages are run and timed here and on other hosts, and models
 * of `cost` are fitted to what was measured. This is the header that other components include.
 */
#ifndef XY_MEASURE_MEASURE_H
#define XY_MEASURE_MEASURE_H

#include "measure/calibrate.h"
#include "measure/hosts.h"
#include "measure/messages.h"

#endif
