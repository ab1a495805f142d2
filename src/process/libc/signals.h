/* SPDX-License-Identifier: BSD-3-Clause */
/* The signal handling of the job (signals.c) and of its processes (sigaction.c). */
#ifndef XY_PROCESS_LIBC_SIGNALS_H
#define XY_PROCESS_LIBC_SIGNALS_H

#include <signal.h>

#include "process/libc/process_state.h"

/* The signals for which every process has a handler of its own. */
enum { SIGNALS_DELIVERED = 6 };
extern const int signals_delivered[SIGNALS_DELIVERED];

/* The C library's sigaction: the one in front is for processes. */
int signals_set(int number, const struct sigaction *action, struct sigaction *old);

/* Take the signals of faults out of `set`. */
void signals_unblock_faults(sigset_t *set);

/* Room for what processes ask for. False: memory ran out, and processes share their handlers. */
bool signals_tables_create(int count);
/* The action of a process for a delivered signal, which is going to be done: SA_RESETHAND has its
 * effect. False: the process has asked for none. */
bool signals_take(int which, int number, struct sigaction *action);

/* The process that has last set the timer which sends this signal; -1: none, or no timer's signal.
 */
int signals_timer_process(int number);

#endif
