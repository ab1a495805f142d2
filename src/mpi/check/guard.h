/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive buffers that the program must not touch yet: the whole pages in one are protected, so
 * that a load or a store of the program faults, and the place is known.
 *
 *   int guard = check_guard_set(self, low, high);    (-1: no whole page, or none can be had)
 *   ... the program faults: check_guard_fault notes where and lifts the guard ...
 *   const void *site = check_guard_touched(guard);
 *   check_guard_end(guard);
 *
 * The library itself writes to such buffers when data come: its first access lifts the guard.
 */
#ifndef XY_MPI_CHECK_GUARD_H
#define XY_MPI_CHECK_GUARD_H

#include "mpi/runtime/runtime.h"

int check_guard_set(const mpi_rank_t *self, const char *low, const char *high);
/* The same, to be protected by check_guard_renew. `is_writable`: the memory certainly is. */
int check_guard_take(const mpi_rank_t *self, const char *low, const char *high, bool is_writable);
/* The whole pages. */
void check_guard_range(int guard, const char **low_p, const char **high_p);
/* Unprotect it for now, and protect it again. */
void check_guard_lift(int guard);
/* ... of all whose pages have bytes in [low, high). */
void check_guard_lift_all(const char *low, const char *high);
void check_guard_renew(int guard);
/* How many were unprotected so far: all are as they were if it is the same. */
uint32_t check_guard_lifts(void);
/* Is the byte on a protected page? */
bool check_guard_has(const char *address);
/* Is it protected? Then the program has not touched it. */
bool check_guard_is_up(int guard);
/* Where the program touched it, a return address; NULL: it did not. */
const void *check_guard_touched(int guard);
void check_guard_end(int guard);

#endif
