/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short calls of the driver of CUDA, of which only some are made at once.
 *
 *     code = XMPI_DEVICE_CALL(cuEventRecord, event, stream);
 */
#ifndef XY_MPI_LAUNCH_LIBC_DEVICE_CALL_H
#define XY_MPI_LAUNCH_LIBC_DEVICE_CALL_H

/* Around a call that does not wait for a device. The second returns `result`, that of the call. */
void mpi_device_call_begin(void);
int mpi_device_call_end(int result);

#define XMPI_DEVICE_CALL(function, ...)                                                            \
    (mpi_device_call_begin(), mpi_device_call_end((function)(__VA_ARGS__)))

#endif
