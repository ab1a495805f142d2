/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/libc/interpose.h"

#include <dlfcn.h>
#include <stddef.h>
#include <unistd.h>

/* The bounds of this library: what the linker puts at its two ends. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

bool process_interpose_is_own(const void *code)
{
    return (const char *)code >= __ehdr_start && (const char *)code < _end;
}

void *process_interpose_next(const char *symbol)
{
    void *next = dlsym(RTLD_NEXT, symbol);

    return next != NULL ? next : process_interpose_missing();
}

void *process_interpose_missing(void)
{
    static const char message[] = "xylem: the C library lacks a function that it must have\n";
    ssize_t ignored;

    ignored = write(STDERR_FILENO, message, sizeof(message) - 1);
    (void)ignored;
    __builtin_trap();
}
