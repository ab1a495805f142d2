/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that an access needs for a moment. Each thread keeps its buffer, because taking memory
 * from the kernel and returning it for each access costs more than many accesses.
 */
#ifndef XY_MPI_IO_IO_BUFFER_H
#define XY_MPI_IO_IO_BUFFER_H

#include <stddef.h>

typedef enum { IO_BUFFER_FILE, IO_BUFFER_MEMORY, IO_BUFFERS } io_buffer_t; /* on which side */

/* At least `bytes`; NULL: memory ran out. A thread has one of each kind at a time, and does not
 * park meanwhile. */
char *io_buffer_get(io_buffer_t side, size_t bytes);
void io_buffer_put(io_buffer_t side, char *buffer);
/* At the end of the job: those of all threads. */
void io_buffers_cleanup(void);

#endif
