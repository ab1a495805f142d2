/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs as processes see them. A process that waits for a device yields its core. It has its own
 * current context and default stream, as if it were alone.
 *
 *   device_wait.c     waiting
 *   device_opencl.c   OpenCL: functions in front of those of its loader
 *   device_cuda.c     CUDA: functions that are given out in the place of the driver's
 *   device_call.c     its short calls, a few of them at a time
 *   device_storage.c  what the runtimes of processes keep with contexts
 */
#ifndef XY_PROCESS_LIBC_DEVICE_H
#define XY_PROCESS_LIBC_DEVICE_H

#include <stdbool.h>

#include "process/libc/process_state.h"

/* May the caller let other processes run while it waits for a device? Otherwise the driver waits:
 * for threads, inside calls of the runtime, and in virtual time. */
bool process_device_may_wait(void);
/* Until is_over(arg) is true. It is asked often at first and less and less then. */
void process_device_wait(bool (*is_over)(void *arg), void *arg);

/* Is CUDA in processes served? XYLEM_CUDA_RANKS=0 says no. */
bool process_device_is_wanted(void);
/* The function that a process gets where it asks a library for `name`: one of ours in front of
 * `found`; or `found`. */
void *process_device_substitute(const char *name, void *found);
/* Another process runs on this thread from now on, in jobs that use CUDA: `previous` (or NULL) does
 * not, and `next` does. */
void process_device_leave(process_t *previous);
void process_device_enter(process_t *next);

/* device[r]: the one that is the current device of process r when it first uses CUDA. Kept. Before
 * processes run. */
void process_device_bind(const int *device);

/* For OpenCL: find the function behind ours. */
bool process_opencl_found(const char *name, void *found, void **ours_p);

#endif
