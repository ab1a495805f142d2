/* SPDX-License-Identifier: BSD-3-Clause */
/* A malloc in front of the C library's, as preloaded allocators are: its heap is not Xylem's. */
#include <stddef.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

void *malloc(size_t size)
{
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return __libc_realloc(memory, size);
}

void free(void *memory)
{
    __libc_free(memory);
}
