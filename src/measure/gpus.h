/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calibration of GPUs: the costs of their links, launches and kernels, as constants of a store.
 *
 *   st = xy_calibrate_gpus(&c, costs, &count);
 *   xy_gpu_links(costs, 0, &in, &out, &shared);           (for a machine)
 *
 * Constants are named gpuN-WHAT, with N as in xy_gpu_list: in-latency, in-byte, out-latency,
 * out-byte (pinned memory, alone), both-byte (one way, while the other way is busy, too),
 * in-byte-pageable, out-byte-pageable, launch (of a kernel, many in a row), turn (launch one and
 * wait), copy-byte (in the device's memory), stencil-byte (a 5-point kernel of
 * doubles, read and written).
 */
#ifndef XY_MEASURE_GPUS_H
#define XY_MEASURE_GPUS_H

#include "measure/calibrate.h"

/* Calibrate the GPUs; of `c` only `report` is used. */
xy_status_t xy_calibrate_gpus(const xy_calibration_t *c, xy_costs_t *costs, int *count_p);

/* The links of GPU `number` by the store; those it does not know stay. The shared one is what both
 * ways reach together, where that is less than the sum of both alone. */
void xy_gpu_links(const xy_costs_t *costs, int number, xy_link_t *in_p, xy_link_t *out_p,
                  xy_link_t *shared_p);

/* A kernel of GPU `number` that reads and writes its memory: its launch, one of many in a row, and
 * the bytes per second that it reads and writes. 0: the store does not know. */
xy_link_t xy_gpu_kernel(const xy_costs_t *costs, int number);

#endif
