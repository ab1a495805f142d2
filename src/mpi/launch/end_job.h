/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a job ends: with the last rank, or with the first that fails.
 */
#ifndef XY_MPI_LAUNCH_END_JOB_H
#define XY_MPI_LAUNCH_END_JOB_H

#include "mpi/launch/libc/process.h"

/* The processes of the job, before any runs. */
void mpi_finish_setup(mpi_process_t *processes, int count);
/* The exit code so far: of the first rank that ended with another one than 0. */
int mpi_finish_code(void);
/* One line on standard error, "mpiexec: ...", with one write. Safe in signal handlers. */
void mpi_finish_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Handlers of the job (mpi_job_config_t). */
void mpi_finish_abort(int code);
void mpi_finish_stuck(void);
void mpi_finish_overflow(mpi_rank_t *rank);

/* Signals (signals.c): faults name the rank; SIGINT and others end the job, unless ranks handle
 * them. */
void mpi_signals_setup(mpi_process_t *processes, int count);
/* End the job after so many seconds. */
xy_status_t mpi_timeout_start(double seconds);

#endif
