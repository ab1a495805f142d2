/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests and probes that find nothing, rank by rank: for the one that looks for deadlocks.
 *
 * A rank that does nothing but test makes no progress, and says so by nothing: it is not parked. So
 * each test without success leaves here what it was for, and a count. Whether the rank does
 * something else in between is found out only when there is reason to ask (`is_timed`): how long it
 * is in its own code, and whether it looks at a clock, sleeps or waits for input.
 *
 * A record belongs to the rank's worker.
 */
#ifndef XY_MPI_P2P_POLLING_H
#define XY_MPI_P2P_POLLING_H

#include "mpi/p2p/request.h"

typedef struct {
    _Alignas(XMPI_LINES) mpi_request_t *const *requests; /* while it is inside; NULL: a probe */
    int count;
    bool is_any;
    bool is_inside;
    uint64_t failed; /* tests and probes */
    /* While is_timed: */
    uint64_t others;        /* looks at clocks, sleeps, waits for input */
    uint64_t quick;         /* tests that came at once after the one before */
    double inside, outside; /* seconds in tests and loops around them, and at work between them */
    double entered, left;   /* the last one; left 0: not known */
} mpi_polling_t;

extern mpi_polling_t *mpi_polling; /* [ranks]; NULL: not asked for */
extern _Atomic bool mpi_polling_is_timed;

/* Before the ranks run. XY_ENOMEM is silent. */
xy_status_t mpi_polling_start(const mpi_job_t *job);
/* At the end of the job. */
void mpi_polling_stop(void);
/* The rank of this number is another one from now on. */
void mpi_polling_forget(const mpi_rank_t *rank);
/* Around what a test or probe without success does to let others run. `requests` NULL: a probe. */
void mpi_polling_begin(const mpi_rank_t *self, mpi_request_t *const *requests, int count, bool any);
void mpi_polling_end(const mpi_rank_t *self);
/* The calling thread, which may be a rank, does something else that may change what it does next.
 */
void mpi_polling_other(void);

#endif
