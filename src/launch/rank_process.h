/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks and the processes that run them: the MPI library as the runtime of processes. */
#ifndef XY_LAUNCH_RANK_PROCESS_H
#define XY_LAUNCH_RANK_PROCESS_H

#include "mpi/runtime/runtime.h"
#include "process/process.h"

/* The rank that a process runs, or NULL. */
static inline mpi_rank_t *mpi_rank_of(const process_t *process)
{
    return process->owner;
}

/* A process is made that is going to run `rank`. */
void mpi_rank_give_process(mpi_rank_t *rank, process_t *process);
/* The rank is about to be started, and runs that process from now on. */
void mpi_rank_take_process(mpi_rank_t *rank, process_t *process);

/* The table of callbacks gets what depends on the job: the refusal of other MPIs, before programs
 * are loaded, and the clock of a job in virtual time, when it is made. */
void mpi_rank_refuse_other_mpi(void);
void mpi_rank_follow_clock(const mpi_job_t *job);

/* Handlers of the job (mpi_job_config_t). The second one is for sanitizers that need to know of
 * switches. */
void mpi_rank_switched(mpi_rank_t *previous, mpi_rank_t *next);
void mpi_rank_switched_announced(mpi_rank_t *previous, mpi_rank_t *next);
/* Ranks are about to run: sanitizers look at them, and find what the tables of both refer to. */
void mpi_rank_process_watch(const mpi_job_t *job, const process_t *processes);

#endif
