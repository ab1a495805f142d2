/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of reports. */
#ifndef XY_MPI_CHECK_DEADLOCK_H
#define XY_MPI_CHECK_DEADLOCK_H

#include <stdio.h>

#include "mpi/runtime/runtime.h"

/* The number in MPI_COMM_WORLD of rank `peer` of a communicator that may be gone; -1: the same, or
 * not known. */
int check_world_rank(const mpi_comm_t *comm, int peer);
/* As mpi_job_report, of this process alone, as a text; NULL: memory ran out. The caller frees. */
char *check_report_text(void);
/* The lines of this process alone; and on standard error, followed by those of others. */
void check_report_write(FILE *out);
void check_report(const mpi_job_t *job, int at_most, char *const *reports);

#endif
