/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes of several workers to one file at once. The kernel has a lock for each file, and copies
 * under it: writes of all workers go one after the other, while reads go side by side.
 *
 * On tmpfs there are ways around that. A large write copies into a mapping of the file, without the
 * lock; a middle one does so where another worker has it. Small ones are faster in the kernel. But
 * there, a write that finds the lock taken needs twice the time. So workers that write continuously
 * pause briefly after each write, to leave the lock to the others.
 */
#ifndef XY_MPI_IO_IO_WRITE_H
#define XY_MPI_IO_IO_WRITE_H

#include "mpi/io/access.h"

enum { IO_WORTH = 512 << 10 }; /* bytes for which a mapping costs less than to wait */

/* Bytes of one run; errno. A read that meets the end of the file gets less. */
int io_write(io_shared_t *shared, const char *from, size_t bytes, int64_t offset);
int io_read(io_shared_t *shared, char *to, size_t bytes, int64_t offset, size_t *got_p);

/* Large writes that are several calls: True: nobody else writes much through the kernel now, and
 * the caller may, until it leaves. */
bool io_write_enter(io_shared_t *shared);
void io_write_leave(io_shared_t *shared);

#endif
