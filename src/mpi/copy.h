/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large copies, shared with idle workers.
 *
 * A worker that copies a large buffer while others spin without work opens a job: the buffer is cut
 * into pieces, and whoever is free takes the next one. The job lives in the worker's own slot,
 * which is never freed; a piece is taken by a compare-and-swap on (generation, piece), so that a
 * helper that looked at an older job takes nothing.
 */
#ifndef XY_MPI_COPY_H
#define XY_MPI_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi/rank.h"

/* memcpy, with help where it pays. Does not park. */
void mpi_copy(void *to, const void *from, size_t bytes);

/* Called by an idle worker: take one piece of somebody's open copy. False: there was none. */
bool mpi_copy_help(int worker);

xy_status_t mpi_copy_init(int workers);
void mpi_copy_cleanup(void);

#endif
