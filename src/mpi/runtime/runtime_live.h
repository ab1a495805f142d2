/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The current activity of ranks, for observers of a running job (xylem top).
 *
 * A query makes the ranks record when they enter and leave calls, and count their messages; some
 * time after the last query they stop. The hooks are those of traces and accounts, so ranks that
 * are not observed do nothing.
 */
#ifndef XY_MPI_RUNTIME_RUNTIME_LIVE_H
#define XY_MPI_RUNTIME_RUNTIME_LIVE_H

#include "mpi/runtime/rank.h"

/* Written by the rank, read by anyone. Times: CLOCK_MONOTONIC in nanoseconds; 0: not known. */
typedef struct mpi_live {
    _Alignas(XMPI_LINES) _Atomic uint64_t entered; /* the call that it is in, or was in last */
    _Atomic uint64_t left;
    _Atomic uint64_t calls, messages, bytes;
} mpi_live_t;

/* Someone looks, or does no longer. One thread; ranks may run. */
xy_status_t mpi_live_begin(mpi_job_t *job);
void mpi_live_end(mpi_job_t *job);
/* When the looking began (0: nobody looks), and what time it is. */
uint64_t mpi_live_since(void);
uint64_t mpi_live_now(void);

/* ---- Hooks; by the rank ---- */

void mpi_live_enter(mpi_rank_t *self);
void mpi_live_leave(mpi_rank_t *self);
void mpi_live_sent(mpi_rank_t *self, uint64_t messages, uint64_t bytes);

#endif
