/* SPDX-License-Identifier: BSD-3-Clause */
/* Where in the program a call stands, for messages. */
#ifndef XY_MPI_RUNTIME_CALLER_H
#define XY_MPI_RUNTIME_CALLER_H

#include <stddef.h>

/* What is known of the return address `site`, as "at ring.c:25" (the program has line numbers and
 * addr2line is installed), "in solve+0x1c", or "at offset 0x11d4 of the program"; "" when nothing
 * is. Runs addr2line once for each place of a program; any thread. */
void mpi_caller_describe(const void *site, char *text, size_t size);

#endif
