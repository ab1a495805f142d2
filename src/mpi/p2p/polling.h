/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unsuccessful tests and probes of each rank, for the detection of deadlocks.
 *
 * A rank that only tests makes no progress, but is not parked. So each unsuccessful test records
 * its request and a count. Other activity between the tests is examined only on demand
 * (`is_timed`): the time in the rank's own code, and whether it reads a clock, sleeps or waits for
 * input.
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
