/* SPDX-License-Identifier: BSD-3-Clause */
/* A Jacobi stencil in one dimension of blocks, as StarPU sees it. This header knows nothing of
 * Xylem, so that what changes there shows without StarPU, too. */
#ifndef XY_BENCH_STENCIL_STARPU_H
#define XY_BENCH_STENCIL_STARPU_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t blocks; /* the first and the last do not change */
    int iterations;
    size_t bytes;
    /* The first values of a block of array 0 or 1. */
    void (*fill)(int array, int64_t block, double *to);
    /* `from`: the block, the one before, the one after. */
    void (*update)(const double *const from[3], double *to);
} bench_blocks_t;

/* Seconds of all iterations under StarPU, from the first submission to the end of all tasks;
 * negative: StarPU does not start. */
double bench_starpu(const bench_blocks_t *blocks, int threads, const char *scheduler);

#endif
