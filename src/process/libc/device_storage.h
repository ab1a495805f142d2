/* SPDX-License-Identifier: BSD-3-Clause */
/* The storage of CUDA runtimes with a context, each under an address of its own. */
#ifndef XY_PROCESS_LIBC_DEVICE_STORAGE_H
#define XY_PROCESS_LIBC_DEVICE_STORAGE_H

#include <stdbool.h>

/* Before the first use: the driver's cuCtxGetCurrent, and whether the current context is one that
 * processes share, which lasts as long as the host. */
void process_device_storage_setup(int (*context_get)(void **), bool (*is_shared)(void));

/* In the place of `table`, the functions that the driver exports as `id` (16 bytes): ours, or
 * `table`. */
const void *process_device_storage(const void *table, const void *id);

#endif
