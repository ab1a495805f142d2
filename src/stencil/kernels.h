/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loops of stencils, one table per instruction set and precision.
 *
 * A block is layers x rows x columns of double or of float, columns next to each other; grids of
 * fewer dimensions have one layer, or one layer and one row. The new value of a cell is the mean of
 * the points of the stencil: the sum, in one order that all sets and the plain loop share, times
 * the nearest number of that type to 1/points. No sum is contracted and none is made in a wider
 * type, so the bits agree.
 */
#ifndef XY_STENCIL_KERNELS_H
#define XY_STENCIL_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

enum { STENCIL_AROUND_MAX = 9 };

typedef struct {
    int points;
    int64_t layers, rows, columns;
} stencil_shape_t;

/* The block, then its neighbours in the order of stencil_offsets; NULL: the block spans the grid
 * there, and the cells at its edge keep their values. */
typedef struct {
    const void *at[STENCIL_AROUND_MAX];
} stencil_around_t;

typedef struct {
    const char *name; /* "plain", "avx2", "avx512" */
    /* Rows first .. last - 1 of the block, counted through all layers, into `out`, which is none of
     * the blocks around. */
    void (*update)(const stencil_shape_t *shape, const stencil_around_t *around, int64_t first,
                   int64_t last, void *out);
    /* The largest |a[i] - b[i]|, a difference of the type of the cells. */
    double (*distance)(const void *a, const void *b, int64_t n);
} stencil_kernels_t;

extern const stencil_kernels_t stencil_kernels_plain, stencil_kernels_avx2, stencil_kernels_avx512;
extern const stencil_kernels_t stencil_kernels_plain_single, stencil_kernels_avx2_single,
    stencil_kernels_avx512_single;

/* Table number `i` of a precision that this machine can run, slowest first; NULL behind the last.
 */
const stencil_kernels_t *stencil_kernels_number(bool is_single, int i);
/* The last of them. */
const stencil_kernels_t *stencil_kernels_best(bool is_single);

#endif
