/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory: malloc and friends that can be made to fail, and an arena.
 *
 * Every constructor of Xylem allocates through these, so that tests can run it with the k-th
 * allocation failing, for every k:
 *
 *   for (k = 1; ; k++) {
 *       xy_memory_fail_at(k);
 *       st = xy_thing_create(&t);
 *       if (!xy_memory_fail_hit()) break;      (enough allocations succeeded: done)
 *       assert(st == XY_ENOMEM);
 *   }
 */
#ifndef XY_BASE_MEMORY_H
#define XY_BASE_MEMORY_H

#include <stddef.h>

#include "base/status.h"

/* Like malloc, calloc, realloc, strdup, strndup, free; NULL on failure, in silence. Sizes that
 * overflow fail. xy_free(NULL) does nothing. Any thread. */
void *xy_malloc(size_t size);
void *xy_calloc(size_t count, size_t size);
void *xy_realloc(void *p, size_t size);
void *xy_realloc_array(void *p, size_t count, size_t size);
char *xy_strdup(const char *s);
char *xy_strndup(const char *s, size_t n);
void xy_free(void *p);

/* printf into fresh memory; NULL on failure. The caller frees. */
char *xy_sprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Say that memory ran out while doing `what`; returns XY_ENOMEM. */
xy_status_t xy_fail_memory(const char *what);
#if defined(__clang_analyzer__) && !defined(XY_STATUS_DEFINES)
#define xy_fail_memory(what) ((void)xy_fail_memory(what), XY_ENOMEM) /* see base/status.h */
#endif

/* Test hook: the k-th allocation from now on (1 is the next), on this thread, fails; 0 turns the
 * hook off. `hit` returns whether it failed since. */
void xy_memory_fail_at(long k);
int xy_memory_fail_hit(void);

/* An arena: many small objects freed together. Not thread safe. */
typedef struct xy_arena xy_arena_t;
xy_status_t xy_arena_create(xy_arena_t **arena_p);
void xy_arena_destroy(xy_arena_t *arena);             /* NULL is fine */
void *xy_arena_alloc(xy_arena_t *arena, size_t size); /* zeroed, aligned to 16; NULL on failure */
char *xy_arena_strndup(xy_arena_t *arena, const char *s, size_t n);

#endif
