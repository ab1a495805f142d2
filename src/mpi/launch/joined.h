/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that turn out to use MPI, behind a wrapper or in an interpreter: mpiexec's half of
 * bindings/join.c. They meet here, any number of times one after the other.
 */
#ifndef XY_MPI_LAUNCH_JOINED_H
#define XY_MPI_LAUNCH_JOINED_H

#include <stdbool.h>

#include "base/base.h"

/* For `size` processes. The value of XYLEM_LAUNCHED for them, in memory of its own; NULL: memory
 * ran out. Where there can be no such socket they refuse to run several ranks. */
char *mpi_joined_open(int size);
/* Readable when there is something to do; -1: never. */
int mpi_joined_fd(void);
/* Do it. False: the job cannot go on (reported). */
bool mpi_joined_take(void);
/* A process has ended: false if others wait for it in MPI_Init (reported). */
bool mpi_joined_ended(int rank, int code);
/* A rank that is gone without MPI_Finalize, and for how many seconds; -1: none. */
int mpi_joined_lost(double *seconds_p);

#endif
