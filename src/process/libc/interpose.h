/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that this library defines in place of those of the C library.
 *
 *   XY_INTERPOSE unsigned sleep(unsigned seconds)
 *   {
 *       static XY_NEXT(unsigned, next, (unsigned));
 *
 *       if (!process_is_main())
 *           return XY_CALL_NEXT(next, "sleep")(seconds);
 *       ...
 *
 * Outside of processes each behaves as the C library's own.
 */
#ifndef XY_PROCESS_LIBC_INTERPOSE_H
#define XY_PROCESS_LIBC_INTERPOSE_H

#include <stdbool.h>
#include <stddef.h>

#define XY_INTERPOSE __attribute__((visibility("default"), used))

/* A pointer to the next definition of a function, and its first use. Threads that race to set it
 * store the same value. */
#define XY_NEXT(result, name, arguments) result(*name) arguments
#define XY_CALL_NEXT(name, symbol)                                                                 \
    ((__typeof__(name))process_interpose_fill((void **)(void *)&(name), symbol))

/* dlsym(RTLD_NEXT); ends the process when there is none, which a C library cannot lack. */
void *process_interpose_next(const char *symbol) __attribute__((visibility("hidden")));

/* Says that there is none, and ends the process. */
void *process_interpose_missing(void) __attribute__((visibility("hidden"), noreturn));

/* Is it an address in the code of this library? */
bool process_interpose_is_own(const void *code) __attribute__((visibility("hidden")));

static inline void *process_interpose_fill(void **slot, const char *symbol)
{
    if (__builtin_expect(*slot == NULL, 0))
        *slot = process_interpose_next(symbol);
    return *slot;
}

#endif
