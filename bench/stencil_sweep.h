/* SPDX-License-Identifier: BSD-3-Clause */
/* Another implementation of the stencil of stencil_real.c: 2D, 5 points, Jacobi. */
#ifndef XY_BENCH_STENCIL_SWEEP_H
#define XY_BENCH_STENCIL_SWEEP_H

#include "stencil/internal.h"

/* Seconds of all iterations by a plain sweep on so many threads. */
double bench_sweep(const xy_stencil_t *s, int threads);

#endif
