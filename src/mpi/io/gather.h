/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of a file that runs of several members fill, in one system call for many runs. */
#ifndef XY_MPI_IO_GATHER_H
#define XY_MPI_IO_GATHER_H

#include "mpi/io/access.h"

/* Move the bytes [from, to) of the file, each of which one of the accesses has; their memory is one
 * run each. errno; a read that meets the end of the file gets less. */
int io_gather(io_access_t *const *accesses, int count, int64_t from, int64_t to, size_t *got_p);

#endif
