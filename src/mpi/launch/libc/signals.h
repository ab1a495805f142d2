/* SPDX-License-Identifier: BSD-3-Clause */
/* What the job does with signals (signals.c), and what ranks ask for (sigaction.c). */
#ifndef XY_MPI_LAUNCH_LIBC_SIGNALS_H
#define XY_MPI_LAUNCH_LIBC_SIGNALS_H

#include <signal.h>

#include "mpi/launch/libc/process.h"

/* The signals for which every rank has a handler of its own. */
enum { SIGNALS_DELIVERED = 6 };
extern const int signals_delivered[SIGNALS_DELIVERED];

/* The C library's sigaction: the one in front is for ranks. */
int signals_set(int number, const struct sigaction *action, struct sigaction *old);

/* Take the signals of faults out of `set`. */
void signals_unblock_faults(sigset_t *set);

/* Room for what ranks ask for. False: memory ran out, and ranks share their handlers. */
bool signals_tables_create(int ranks);
/* The action of a rank for a delivered signal, which is going to be done: SA_RESETHAND has its
 * effect. False: the rank has asked for none. */
bool signals_take(int rank, int number, struct sigaction *action);

/* The rank that has last set the timer which sends this signal; -1: none, or no timer's signal. */
int signals_timer_rank(int number);

#endif
