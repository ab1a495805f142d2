/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Balancing the cores of a process while its ranks run (mpiexec --balance load).
 *
 *   mpi_balance_begin(job);              (before the pool runs; the job has move.h's cores)
 *   ...
 *   mpi_balance_result(job, &result);    (after it)
 *
 * The time is cut into windows of at least XMPI_BALANCE_MS, which are longer where ranks run in
 * long turns. In each window, the load of a rank is the part of the time in which it ran; waits do
 * not count (move.h). After two windows without a move, the mean of both is given to
 * xy_refine_load. Its assignment is taken if in each of the two windows, by itself, the heaviest
 * core would have been shorter by XMPI_BALANCE_GAIN of its time, and by more than the moves cost.
 * What is noise in one window does not pass the other one.
 */
#ifndef XY_MPI_RUNTIME_LOAD_BALANCE_H
#define XY_MPI_RUNTIME_LOAD_BALANCE_H

#include "mpi/runtime/move.h"

enum { XMPI_BALANCE_MS = 50 };
#define XMPI_BALANCE_GAIN 0.03

typedef struct {
    uint64_t moves, decisions, windows;
    /* Work of the heaviest cores of all windows if no rank had moved, divided by their work as it
     * was. */
    double gain;
    int stays; /* a rank that would have moved, but cannot; -1: none */
} mpi_balance_result_t;

xy_status_t mpi_balance_begin(mpi_job_t *job);
void mpi_balance_result(mpi_job_t *job, mpi_balance_result_t *result);
void mpi_balance_end(void);

#endif
