/* SPDX-License-Identifier: BSD-3-Clause */
/* The stack of a rank that has crashed, with lines. */
#ifndef XY_MPI_LAUNCH_LIBC_CRASH_H
#define XY_MPI_LAUNCH_LIBC_CRASH_H

#include <stddef.h>

/* From the handler of a fault, whose instruction is at `pc` (NULL: not known): the functions of the
 * program that are active, innermost first, as lines "  solve at ring.c:25". "": none can be found.
 * Safe in a signal handler. */
void mpi_crash_describe_stack(const void *pc, char *text, size_t size)
    __attribute__((visibility("hidden")));
/* Call `function` in a copy of the process, which may fault or wait for ever without harm. Safe in
 * a signal handler. */
void mpi_crash_call(void (*function)(void)) __attribute__((visibility("hidden")));
/* Print them, unless they are one line: the message before it has that place already. */
void mpi_crash_say_stack(const char *text) __attribute__((visibility("hidden")));

#endif
