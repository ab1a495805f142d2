/* SPDX-License-Identifier: BSD-3-Clause */
/* Copying memory that may be unmapped at any time: a bad address is a result, not a fault. */
#ifndef XY_MPI_CHECK_COPY_MEMORY_H
#define XY_MPI_CHECK_COPY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* At most 4096 bytes. False: not all of them can be read. */
bool check_copy_memory(void *to, const void *from, size_t bytes);
/* At most size - 1 bytes and a NUL. False: there is no end of the string that can be read. */
bool check_copy_string(char *to, const char *from, size_t size);

#endif
