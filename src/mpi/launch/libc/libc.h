/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank has instead of a process of its own, and the C library in front of the C library. */
#ifndef XY_MPI_LAUNCH_LIBC_LIBC_H
#define XY_MPI_LAUNCH_LIBC_LIBC_H

#include "mpi/launch/libc/end_job.h"
#include "mpi/launch/libc/heap.h"
#include "mpi/launch/libc/interpose.h"
#include "mpi/launch/libc/process.h"

#endif
