/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank has instead of a process of its own, and the C library in front of the C library.
 *
 *   process.h     the state that is private to a rank: environment, streams, exit functions, locals
 *   directory.h   working directories of ranks
 *   interpose.h   how a function is defined in front of the C library's
 *   crash.h       the stack of a crash
 *   heap.h        how malloc grows and gives memory back
 *   share_data.h  large blocks that are one for all ranks
 *
 * The launcher makes one process object per rank before the ranks run. The functions in front are
 * called by ranks, by their threads, and by any library: outside of a rank each does what the C
 * library does.
 */
#ifndef XY_MPI_LAUNCH_LIBC_LIBC_H
#define XY_MPI_LAUNCH_LIBC_LIBC_H

#include "mpi/launch/libc/block.h"
#include "mpi/launch/libc/crash.h"
#include "mpi/launch/libc/device.h"
#include "mpi/launch/libc/directory.h"
#include "mpi/launch/libc/heap.h"
#include "mpi/launch/libc/interpose.h"
#include "mpi/launch/libc/process.h"
#include "mpi/launch/libc/share_data.h"

#endif
