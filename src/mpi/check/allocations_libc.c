/* SPDX-License-Identifier: BSD-3-Clause */
/* malloc and its relatives, as programs get them with --check: each block is recorded. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/check/allocations.h"
#include "mpi/check/check.h"

#define SITE __builtin_return_address(0)

static void *checked_malloc(size_t size)
{
    void *memory = malloc(size);

    check_allocations_add(memory, size, SITE);
    return memory;
}

static void *checked_calloc(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    check_allocations_add(memory, count * size, SITE); /* no overflow where there is memory */
    return memory;
}

static void checked_free(void *memory)
{
    int before = errno;

    if (memory == NULL || check_allocations_free(memory, SITE))
        return;
    errno = before;
    free(memory);
}

/* A block that grows moves, so that the old one can be recognised as freed. */
static void *resize(void *old, size_t size, const void *site)
{
    check_block_t block;
    void *memory;

    if (old == NULL || !check_allocations_find(old, &block) || block.low != old ||
        block.freed != NULL) {
        memory = realloc(old, size);
        check_allocations_add(memory, size, site);
        return memory;
    }
    if (size == 0) { /* as the C library's: the block is freed */
        if (!check_allocations_free(old, site))
            free(old);
        return NULL;
    }
    memory = malloc(size);
    if (memory == NULL)
        return NULL;
    memcpy(memory, old, block.usable < size ? block.usable : size);
    check_allocations_add(memory, size, site);
    if (!check_allocations_free(old, site))
        free(old);
    return memory;
}

static void *checked_realloc(void *old, size_t size)
{
    return resize(old, size, SITE);
}

static void *checked_reallocarray(void *old, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return resize(old, bytes, SITE);
}

static int checked_posix_memalign(void **memory_p, size_t align, size_t size)
{
    int error = posix_memalign(memory_p, align, size);

    if (error == 0)
        check_allocations_add(*memory_p, size, SITE);
    return error;
}

static void *checked_aligned_alloc(size_t align, size_t size)
{
    void *memory = aligned_alloc(align, size);

    check_allocations_add(memory, size, SITE);
    return memory;
}

static void *checked_memalign(size_t align, size_t size)
{
    void *memory = memalign(align, size);

    check_allocations_add(memory, size, SITE);
    return memory;
}

static char *checked_strdup(const char *text)
{
    char *copy = strdup(text);

    check_allocations_add(copy, strlen(text) + 1, SITE);
    return copy;
}

static char *checked_strndup(const char *text, size_t most)
{
    char *copy = strndup(text, most);

    if (copy != NULL)
        check_allocations_add(copy, strlen(copy) + 1, SITE);
    return copy;
}

/* The C library resizes the line by itself. */
static ssize_t checked_getdelim(char **line, size_t *room, int delimiter, FILE *stream)
{
    if (line != NULL && *line != NULL)
        check_allocations_remove(*line);
    return getdelim(line, room, delimiter, stream);
}

static ssize_t checked_getline(char **line, size_t *room, FILE *stream)
{
    return checked_getdelim(line, room, '\n', stream);
}

void *mpi_check_substitute(const char *name, void *found)
{
    static const struct {
        const char *name;
        void *function, *plain;
    } functions[] = {
        {"malloc", (void *)checked_malloc, (void *)malloc},
        {"calloc", (void *)checked_calloc, (void *)calloc},
        {"realloc", (void *)checked_realloc, (void *)realloc},
        {"reallocarray", (void *)checked_reallocarray, (void *)reallocarray},
        {"free", (void *)checked_free, (void *)free},
        {"posix_memalign", (void *)checked_posix_memalign, (void *)posix_memalign},
        {"aligned_alloc", (void *)checked_aligned_alloc, (void *)aligned_alloc},
        {"memalign", (void *)checked_memalign, (void *)memalign},
        {"strdup", (void *)checked_strdup, (void *)strdup},
        {"__strdup", (void *)checked_strdup, NULL},
        {"strndup", (void *)checked_strndup, (void *)strndup},
        {"__strndup", (void *)checked_strndup, NULL},
        {"getline", (void *)checked_getline, NULL},
        {"getdelim", (void *)checked_getdelim, NULL},
        {"__getdelim", (void *)checked_getdelim, NULL},
    };

    if (!mpi_checks.buffers)
        return found;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strcmp(name, functions[i].name) == 0 &&
            (functions[i].plain == NULL || functions[i].plain == found))
            return functions[i].function;
    return found;
}
