/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that this library defines in place of those of the C library.
 *
 *   XY_INTERPOSE unsigned sleep(unsigned seconds)
 *   {
 *       if (!process_is_main())
 *           return XY_NEXT(sleep)(seconds);
 *       ...
 *
 * Outside of processes each behaves as the C library's own.
 */
#ifndef XY_PROCESS_LIBC_INTERPOSE_H
#define XY_PROCESS_LIBC_INTERPOSE_H

#include <stdbool.h>
#include <stddef.h>

#define XY_INTERPOSE __attribute__((visibility("default"), used))

/* The next definition of a function, found at its first use. Threads that race to find it store
 * the same value. */
#define XY_NEXT(name) XY_NEXT_AS(name, #name)
/* The same by symbol, with the type of a function. */
#define XY_NEXT_AS(type, symbol)                                                                   \
    __extension__({                                                                                \
        static __typeof__(type) *next_;                                                            \
                                                                                                   \
        (__typeof__(next_))process_interpose_fill((void **)(void *)&next_, symbol);                \
    })

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
