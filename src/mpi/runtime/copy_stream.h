/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memcpy that writes past the caches. A plain store reads the line that it is going to overwrite;
 * for more data than the caches hold that is a third of all traffic, and it evicts data of the
 * computation beside it. The C library would do the same above a threshold, which it sets by the
 * size of the last cache: on machines with a large shared one, never.
 */
#ifndef XY_MPI_RUNTIME_COPY_STREAM_H
#define XY_MPI_RUNTIME_COPY_STREAM_H

#include <stddef.h>

/* Worth it from this many bytes written in all: a collective, not one piece of it. */
enum { XMPI_STREAM_FROM = 16 << 20 };

/* Other threads see the data after the release that follows, as with memcpy. */
void mpi_copy_stream(void *to, const void *from, size_t bytes);

#endif
