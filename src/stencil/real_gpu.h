/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of runs on GPUs: real_gpu.c, real_gpu_text.c, real_gpu_costs.c. */
#ifndef XY_STENCIL_REAL_GPU_H
#define XY_STENCIL_REAL_GPU_H

#include "gpu/gpu.h"
#include "stencil/real.h"

/* Kernels update3, update5, update9 and update7: the blocks around in the order of
 * stencil_offsets, the block that is written, layers, rows and columns of a block, the first row to
 * do and that behind the last. Kernel several5: the blocks of update5 XY_TASK_BATCH_MAX times (with
 * CUDA as one argument), then the same. Kernels change and largest: the largest change of a cell,
 * by way of `PARTS` numbers; kernel gather: the largest of STENCIL_FAN numbers, NULL where there is
 * none. */
extern const char stencil_gpu_text[];
/* Rows that a thread of update5 does; `ROWS` of the text. */
enum { STENCIL_GPU_ROWS = 4 };
/* Groups of `change`, and threads of each. */
enum { STENCIL_GPU_PARTS = 128, STENCIL_GPU_GROUP = 256 };

/* Groups of a launch in the direction of rows: more are too many for CUDA. */
enum { STENCIL_GPU_GROUPS_MAX = 65535 };
/* Rows that one launch does at most. */
int64_t stencil_gpu_launch_rows(int points);
/* Do numbers of cells, also those of threads beyond the end, need more than 31 bits? */
bool stencil_gpu_is_wide(const stencil_shape_t *shape);

enum { STENCIL_GPUS_MAX = 64 };

typedef enum {
    KERNEL_UPDATE,
    KERNEL_CHANGE,
    KERNEL_LARGEST,
    KERNEL_GATHER,
    KERNEL_SEVERAL,
    KERNELS
} kernel_t;

/* One GPU; work that is only a load writes to `scratch`, changes of cells go through `parts`. */
typedef struct {
    xy_gpu_device_t *gpu;
    xy_gpu_program_t *program;
    xy_gpu_program_t *own; /* the user's own stencil; NULL: none */
    xy_gpu_kernel_t *kernels[KERNELS];
    xy_gpu_memory_t scratch, parts;
} stencil_place_t;

struct stencil_gpu {
    stencil_place_t places[STENCIL_GPUS_MAX];
    int32_t count;
    int32_t sharers; /* ranks that have the same GPUs; 0: only this process */
    void *pinned;
    xy_stencil_costs_t costs;        /* of the first of them */
    double speeds[STENCIL_GPUS_MAX]; /* where the first is 1 */
};

/* Put an update of a block into a stream, of so many rows; `op` NULL: of some block. */
xy_status_t stencil_gpu_launch(const stencil_real_t *r, const stencil_place_t *p, const xy_op_t *op,
                               xy_gpu_stream_t *stream, const xy_gpu_memory_t *around,
                               xy_gpu_memory_t out, int64_t last);
/* The blocks of an update, as its kernel takes them. */
typedef struct {
    xy_gpu_memory_t around[STENCIL_AROUND_MAX], out;
} stencil_blocks_t;

/* Put up to stencil_batch() of them, whole ones, into a stream. */
xy_status_t stencil_gpu_launch_several(const stencil_real_t *r, const stencil_place_t *p,
                                       xy_gpu_stream_t *stream, const stencil_blocks_t *blocks,
                                       int count);
/* Measure r->gpu->costs. */
xy_status_t stencil_gpu_measure(stencil_real_t *r);

#endif
