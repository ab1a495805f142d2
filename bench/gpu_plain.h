/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without Xylem's tasks, for comparison: the 2D 5-point Jacobi stencil by hand on one
 * GPU. */
#ifndef XY_BENCH_GPU_PLAIN_H
#define XY_BENCH_GPU_PLAIN_H

#include <stdint.h>

#include "gpu/gpu.h"

typedef struct {
    int64_t rows, columns; /* of the grid */
    int64_t chunk;         /* rows that are on the GPU at once, of each buffer */
    int iterations;
} plain_t;

/* Both arrays on the GPU, one launch for each iteration, of the kernel that the tasks have; a
 * copy at both ends included. */
double plain_loop(xy_gpu_device_t *gpu, const plain_t *p);
/* Seconds of one launch over so many rows, in a row of them: no copies. */
double plain_kernel(xy_gpu_device_t *gpu, const plain_t *p);
/* Both arrays in pinned memory: all is loaded, computed and stored in each iteration, with double
 * buffering, loads, kernels and stores at the same time. */
double plain_double_buffer(xy_gpu_device_t *gpu, const plain_t *p);
/* GB/s of pinned copies in both directions at once, each way. */
double plain_both_ways(xy_gpu_device_t *gpu, uint64_t bytes);

#endif
