/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --balance: which jobs let ranks move, and between which cores. */
#ifndef XY_LAUNCH_LAUNCH_BALANCE_H
#define XY_LAUNCH_LAUNCH_BALANCE_H

#include "launch/options.h"
#include "mpi/runtime/runtime.h"

/* Where ranks move, each gets a worker of its own, on the core of the one that it was placed on: in
 * `config`, whose `core_of` the caller frees. Options with which ranks do not move are named in a
 * warning. EUSAGE: --balance has another word. */
xy_status_t mpi_launch_balance_place(const mpi_launch_values_t *values, mpi_job_config_t *config);
/* The job is there, and does not run yet. */
xy_status_t mpi_launch_balance_begin(const mpi_launch_values_t *values, mpi_job_t *job);
/* It has run: with -v or --report, print how many ranks moved. */
void mpi_launch_balance_end(const mpi_launch_values_t *values, mpi_job_t *job);

#endif
