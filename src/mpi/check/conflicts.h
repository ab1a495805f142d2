/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations that meet in the memory of a target within one epoch, where the standard
 * leaves the result undefined.
 */
#ifndef XY_MPI_CHECK_CONFLICTS_H
#define XY_MPI_CHECK_CONFLICTS_H

#include "base/base.h"

/* After the job is made, before ranks run. */
void check_conflicts_begin(void);

#endif
