/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports about wrong programs: where each rank is when none can move, or when the job is ended.
 *
 *   mpi_job_report(job, 16);        (at most 16 lines, on standard error)
 *
 * Called once, by the thread that ends the job: ranks may still run and change what is read, so
 * values are copied before they are used and a bad address is an answer, not a fault
 * (copy_memory.h).
 */
#ifndef XY_MPI_CHECK_CHECK_H
#define XY_MPI_CHECK_CHECK_H

#include "mpi/runtime/runtime.h"

/* Print "  rank 3: MPI_Recv(source 2, tag 7, MPI_COMM_WORLD) at file:line or symbol" for each rank,
 * folded for many equal ones. For stuck and abort reports. */
void mpi_job_report(const mpi_job_t *job, int at_most);
/* At the end of MPI_Finalize: warn of messages that were never received, and of requests that were
 * never completed. */
void mpi_rank_look_back(mpi_rank_t *self);
/* Print "  cause: rank 0 waits for a message from rank 1, rank 1 ..." where there is one to be
 * seen. Only when no rank can move: all workers are asleep. */
void mpi_job_explain(const mpi_job_t *job);

#endif
