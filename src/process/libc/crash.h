/* SPDX-License-Identifier: BSD-3-Clause */
/* The stack of a process that has crashed, with lines. */
#ifndef XY_PROCESS_LIBC_CRASH_H
#define XY_PROCESS_LIBC_CRASH_H

#include <stdbool.h>
#include <stddef.h>

enum { PROCESS_CRASH_LINES = 12 }; /* at most */

/* The first argument of a command that reads lines for a crashed one. */
#define PROCESS_CRASH_OPTION "--describe-crash"

/* Look up everything that a report needs after a crash. Once, before processes run. */
void process_crash_setup(void) __attribute__((visibility("hidden")));
bool process_crash_is_set_up(void) __attribute__((visibility("hidden")));
/* A fault has happened at `pc` (NULL: not known). Returns for the first one; the threads of others
 * wait for the end of the process, and one of the same thread, while it reports, ends it. Safe in a
 * signal handler. */
void process_crash_begin(int number, const void *pc) __attribute__((visibility("hidden")));
/* From the handler of a fault, whose instruction is at `pc` (NULL: not known): the functions of the
 * program that are active, innermost first, as lines "  solve at ring.c:25". "": none can be found.
 * Safe in a signal handler, and takes at most a second. */
void process_crash_describe_stack(const void *pc, char *text, size_t size)
    __attribute__((visibility("hidden")));
/* The name of the runtime's call that the calling thread is in, with the address behind it in the
 * program; NULL, and *site_p untouched: none. */
const char *process_crash_runtime_call(const void **site_p) __attribute__((visibility("hidden")));
/* Call `function` in a copy of the process, which may fault or wait for ever without harm. Safe in
 * a signal handler, and takes at most a second. */
void process_crash_call(void (*function)(void)) __attribute__((visibility("hidden")));
/* Print them, unless they are one line: the message before it has that place already. The report
 * ends with this. */
void process_crash_say_stack(const char *text) __attribute__((visibility("hidden")));
/* The process that reads lines: prints those of `count` / 2 places, a file and an offset each. */
int process_crash_main(int count, char **arguments) __attribute__((visibility("hidden")));

#endif
