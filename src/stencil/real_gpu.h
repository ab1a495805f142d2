/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two files of runs on GPUs share. */
#ifndef XY_STENCIL_REAL_GPU_H
#define XY_STENCIL_REAL_GPU_H

/* Kernels update3, update5, update9 and update7: the blocks around in the order of
 * stencil_offsets, the block that is written, layers, rows and columns of a block, and the rows to
 * do. Kernels change and largest: the largest change of a cell, by way of `PARTS` numbers; kernel
 * gather: the largest of STENCIL_FAN numbers, NULL where there is none. */
extern const char stencil_gpu_text[];
/* Rows that a thread of update5 does; `ROWS` of the text. */
enum { STENCIL_GPU_ROWS = 8 };
/* Groups of `change`, and threads of each. */
enum { STENCIL_GPU_PARTS = 128, STENCIL_GPU_GROUP = 256 };

#endif
