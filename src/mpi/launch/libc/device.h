/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs as ranks see them. A rank that waits for a device lets other ranks run, and what a process
 * has for itself with a driver (the current context, the default stream) a rank has for itself.
 *
 *   device.c         waiting
 *   device_opencl.c  OpenCL: functions in front of those of its loader
 *   device_cuda.c    CUDA: functions that are given out in the place of the driver's
 *   device_call.c    its short calls, of which only some are made at once
 *   device_storage.c what the runtimes of ranks keep with contexts
 */
#ifndef XY_MPI_LAUNCH_LIBC_DEVICE_H
#define XY_MPI_LAUNCH_LIBC_DEVICE_H

#include <stdbool.h>

#include "mpi/launch/libc/process.h"

/* May the caller let other ranks run while it waits for a device? Otherwise the driver waits: for
 * threads, inside MPI calls, and in virtual time. */
bool mpi_device_may_wait(void);
/* Until is_over(arg) is true. It is asked often at first and less and less then. */
void mpi_device_wait(bool (*is_over)(void *arg), void *arg);

/* Is CUDA in ranks served? XYLEM_CUDA_RANKS=0 says no. */
bool mpi_device_is_wanted(void);
/* The function that a rank gets where it asks a library for `name`: one of ours in front of
 * `found`; or `found`. */
void *mpi_device_substitute(const char *name, void *found);
/* Another rank runs on this thread from now on, in jobs that use CUDA: `previous` (or NULL) does
 * not, and `next` does. */
void mpi_device_leave(mpi_process_t *previous);
void mpi_device_enter(mpi_process_t *next);

/* device[r]: the one that is the current device of rank r when it first uses CUDA. Kept. Before
 * ranks run. */
void mpi_device_bind(const int *device);

/* Of OpenCL: where the function behind ours is. */
bool mpi_opencl_found(const char *name, void *found, void **ours_p);

#endif
