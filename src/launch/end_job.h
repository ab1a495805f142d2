/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a job ends: with the last rank, or with the first that fails.
 */
#ifndef XY_LAUNCH_END_JOB_H
#define XY_LAUNCH_END_JOB_H

#include "mpi/runtime/runtime.h"
#include "process/process.h"

/* The processes of the job and the bytes of their stacks, before any runs. */
void mpi_finish_setup(process_t *processes, int count, size_t stack);
/* The exit code so far: of the first rank that ended with another one than 0. */
int mpi_finish_code(void);

/* The rank has ended (process_runtime_t.end): the first that failed ends the job, and so does a
 * thread that has called exit. Otherwise the rank is at home, on its worker. */
void mpi_finish_rank(process_t *process, int code);
/* Flush and end the process; a message was printed. Any thread. */
void mpi_finish_job(int code) __attribute__((noreturn));
/* Called with the exit code before the process ends in any of these ways. */
void mpi_finish_before_end(void (*leaving)(int code));
/* Work before the end: write the output and traces of ranks. */
void mpi_finish_flush(void);
/* From a signal handler: a rank has crashed, at "ring.c:12" or "". For mpi_finish_write_now. */
void mpi_finish_note_crash(int rank, const char *place, const char *message);
/* ... write what --check has found; the job ends with `code`. */
void mpi_finish_write_now(int code);
/* Do what is done before the process ends, for one that ends by a signal. */
void mpi_finish_announce(int code);
/* The same as mpi_finish_job from a signal handler: nothing is flushed. */
void mpi_finish_now(int code) __attribute__((noreturn));

/* Before a deadlock is reported: only the first to come here returns. Any thread. */
void mpi_finish_claim_report(void);

/* Handlers of the job (mpi_job_config_t). */
void mpi_finish_abort(int code);
/* Has it been called? */
bool mpi_finish_is_abort(void);
void mpi_finish_stuck(void);
void mpi_finish_overflow(mpi_rank_t *rank);

/* End the job after so many seconds. */
xy_status_t mpi_timeout_start(double seconds);
/* Look whether ranks have waited for each other for so many seconds, or polled for what cannot
 * come, and end the job if they have; 0: not. */
xy_status_t mpi_deadlock_watch_start(double deadlock, double polling);

#endif
