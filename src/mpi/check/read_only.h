/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive buffers that the program cannot write to (constants, literals, mappings of files), and
 * buffers that end behind their mapping. */
#ifndef XY_MPI_CHECK_READ_ONLY_H
#define XY_MPI_CHECK_READ_ONLY_H

#include "mpi/check/area.h"
#include "mpi/runtime/runtime.h"

/* Fault the page of a byte in for writing. False: it cannot be written, or the kernel is older than
 * Linux 5.14. Any thread, also in a handler of signals. */
bool check_can_write(const void *address);
/* Report a receive buffer whose first or last byte is read-only, and a buffer that begins in mapped
 * memory and ends behind it. */
void check_read_only_look(const mpi_rank_t *self, const check_area_t *area, bool is_receive);

#endif
