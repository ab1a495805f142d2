/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports about programs that do something wrong: today, where each rank is when none can move. */
#ifndef XY_MPI_CHECK_CHECK_H
#define XY_MPI_CHECK_CHECK_H

#include "mpi/runtime/runtime.h"

/* Print "  rank 3: MPI_Recv(source 2, tag 7, MPI_COMM_WORLD) at file:line or symbol" for each rank,
 * folded for many equal ones. For stuck and abort reports. */
void mpi_job_report(const mpi_job_t *job, int at_most);

#endif
