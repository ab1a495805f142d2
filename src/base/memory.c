/* SPDX-License-Identifier: BSD-3-Clause */
#define XY_STATUS_DEFINES /* see base/status.h */
#include "base/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Per thread: tests of one constructor do not disturb another thread. 0: off. */
static _Thread_local long fail_countdown;
static _Thread_local int fail_hit;

static bool should_fail(void)
{
    if (__builtin_expect(fail_countdown == 0, 1))
        return false;
    if (--fail_countdown > 0)
        return false;
    fail_hit = 1;
    return true;
}

void xy_memory_fail_at(long k)
{
    fail_countdown = k;
    fail_hit = 0;
}

int xy_memory_fail_hit(void)
{
    return fail_hit;
}

void *xy_malloc(size_t size)
{
    return should_fail() ? NULL : malloc(size ? size : 1);
}

void *xy_calloc(size_t count, size_t size)
{
    size_t bytes;

    /* calloc checks too, but sanitizers take its refusal for a bug of the caller. */
    if (__builtin_mul_overflow(count, size, &bytes) || should_fail())
        return NULL;
    return calloc(1, bytes ? bytes : 1);
}

void *xy_realloc(void *p, size_t size)
{
    return should_fail() ? NULL : realloc(p, size ? size : 1);
}

void *xy_realloc_array(void *p, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return xy_realloc(p, bytes);
}

char *xy_strdup(const char *s)
{
    return xy_strndup(s, strlen(s));
}

char *xy_strndup(const char *s, size_t n)
{
    size_t length = strnlen(s, n);
    char *copy = xy_malloc(length + 1);

    if (copy == NULL)
        return NULL;
    memcpy(copy, s, length);
    copy[length] = '\0';
    return copy;
}

void xy_free(void *p)
{
    free(p);
}

char *xy_sprintf(const char *format, ...)
{
    va_list args;
    char *s = NULL;

    if (should_fail())
        return NULL;
    va_start(args, format);
    if (vasprintf(&s, format, args) < 0)
        s = NULL;
    va_end(args);
    return s;
}

xy_status_t xy_fail_memory(const char *what)
{
    return xy_fail(XY_ENOMEM, "out of memory while %s; free some or use a smaller input", what);
}

/* Blocks double from 4 KiB to 1 MiB; an object larger than a block gets one of its own. */
typedef struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(16) char data[];
} arena_block_t;

struct xy_arena {
    arena_block_t *blocks; /* the newest first; only it has room */
    size_t block_size;
};

enum { ARENA_FIRST = 4096, ARENA_LARGEST = 1 << 20 };

xy_status_t xy_arena_create(xy_arena_t **arena_p)
{
    xy_arena_t *arena = xy_calloc(1, sizeof(*arena));

    if (arena == NULL)
        return XY_ENOMEM;
    arena->block_size = ARENA_FIRST;
    *arena_p = arena;
    return XY_OK;
}

void xy_arena_destroy(xy_arena_t *arena)
{
    if (arena == NULL)
        return;
    for (arena_block_t *block = arena->blocks, *next; block != NULL; block = next) {
        next = block->next;
        xy_free(block);
    }
    xy_free(arena);
}

/* Add a block with room for at least `need` bytes in front of the others; NULL without memory. */
static arena_block_t *arena_grow(xy_arena_t *arena, size_t need)
{
    size_t size = need > arena->block_size ? need : arena->block_size;
    arena_block_t *block = xy_malloc(sizeof(*block) + size);

    if (block == NULL)
        return NULL;
    block->used = 0;
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    if (arena->block_size < ARENA_LARGEST)
        arena->block_size *= 2;
    return block;
}

void *xy_arena_alloc(xy_arena_t *arena, size_t size)
{
    arena_block_t *block = arena->blocks;
    void *p;

    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + 15) & ~(size_t)15;
    if (block == NULL || block->size - block->used < size) {
        block = arena_grow(arena, size);
        if (block == NULL)
            return NULL;
    }
    p = block->data + block->used;
    block->used += size;
    return memset(p, 0, size);
}

char *xy_arena_strndup(xy_arena_t *arena, const char *s, size_t n)
{
    size_t length = strnlen(s, n);
    char *copy = xy_arena_alloc(arena, length + 1);

    return copy == NULL ? NULL : memcpy(copy, s, length);
}
