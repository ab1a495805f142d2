/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short calls of the driver of CUDA, which ranks make for each other.
 *
 *     mpi_device_call_setup(cuCtxGetCurrent, cuCtxSetCurrent);
 *     code = MPI_DEVICE_CALL(cuEventRecord, event, stream);
 */
#ifndef XY_MPI_LAUNCH_LIBC_DEVICE_CALL_H
#define XY_MPI_LAUNCH_LIBC_DEVICE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MPI_DEVICE_WORDS = 11 };

/* The functions of the driver for the current context, before the first call. */
void mpi_device_call_setup(int (*get)(void **), int (*set)(void *));

/* function(words...), with the current context of the caller, on this thread or on another one that
 * is in the driver. The function must not wait. Returns its result. */
int mpi_device_call(void *function, const uintptr_t *words, size_t n);

#define MPI_DEVICE_CALL(function, ...)                                                             \
    mpi_device_call((void *)(function), (const uintptr_t[]){__VA_ARGS__},                          \
                    sizeof((const uintptr_t[]){__VA_ARGS__}) / sizeof(uintptr_t))

#endif
