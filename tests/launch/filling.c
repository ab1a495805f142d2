/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that fills what malloc gives; the memory itself is the C library's. */
#include <stddef.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

int filling_rank = -1;
extern void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
    void *piece = __libc_malloc(size);

    return piece != NULL ? memset(piece, 'f', size) : NULL;
}
