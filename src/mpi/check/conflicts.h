/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations that meet in the memory of a target within one epoch, where the standard
 * leaves the result undefined.
 */
#ifndef XY_MPI_CHECK_CONFLICTS_H
#define XY_MPI_CHECK_CONFLICTS_H

#include "mpi/runtime/runtime.h"

/* After the job is made, before ranks run. */
void check_conflicts_begin(void);
/* The rank enters a call, or leaves one: others know its operations from now on, unless the call
 * may continue them. */
void check_conflicts_call(const mpi_rank_t *self);

#endif
