/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short calls of the driver of CUDA, a few of them at a time.
 *
 *     code = PROCESS_DEVICE_CALL(cuEventRecord, event, stream);
 */
#ifndef XY_PROCESS_LIBC_DEVICE_CALL_H
#define XY_PROCESS_LIBC_DEVICE_CALL_H

/* Around a call that does not wait for a device. The second returns `result`, that of the call. */
void process_device_call_begin(void);
int process_device_call_end(int result);

#define PROCESS_DEVICE_CALL(function, ...)                                                         \
    (process_device_call_begin(), process_device_call_end((function)(__VA_ARGS__)))

#endif
