/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calibration: kernels, memory and messages are run and timed here and on other hosts, and models
 * of `cost` are fitted to the times. This is the header that other components include; each part is
 * a chapter of its own:
 *
 *   calibrate.h  kernels and memory of this machine; checking older models
 *   messages.h   messages inside this machine
 *   measure_hosts.h      several hosts through the installed MPI
 *   gpus.h       links, launches and kernels of GPUs
 *
 * `xylem calibrate` calls them, one after the other, from its only thread. Each adds its models to
 * a store of the caller (cost/store.h); a model that could not be measured is reported and left
 * out.
 */
#ifndef XY_MEASURE_MEASURE_H
#define XY_MEASURE_MEASURE_H

#include "measure/calibrate.h"
#include "measure/gpus.h"
#include "measure/measure_hosts.h"
#include "measure/messages.h"

#endif
