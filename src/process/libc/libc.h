/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a process, and functions that replace those of the C library.
 *
 *   process_state.h  environment, streams, exit functions, thread-local variables of a process
 *   directory.h      working directories
 *   interpose.h      how a function of the C library is replaced
 *   block.h          calls that wait, and let other processes run
 *   crash.h          the stack of a crash
 *   malloc_heap.h    how malloc grows and gives memory back
 *   share_data.h     large blocks that are one for all processes
 *   device_wait.h    GPUs
 *
 * The replacements are called by processes, by their threads, and by any library; outside of a
 * process each behaves as the C library's.
 */
#ifndef XY_PROCESS_LIBC_LIBC_H
#define XY_PROCESS_LIBC_LIBC_H

#include "process/libc/block.h"
#include "process/libc/crash.h"
#include "process/libc/device_wait.h"
#include "process/libc/directory.h"
#include "process/libc/interpose.h"
#include "process/libc/malloc_heap.h"
#include "process/libc/process_state.h"
#include "process/libc/share_data.h"

#endif
