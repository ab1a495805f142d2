/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The top of the library: the MPI functions themselves, the list of its layers, and programs that
 * run without a launcher.
 *
 *   mpi_job_config_t config = {.layers = mpi_layers, ...};     (the launcher, and singletons)
 *
 * Entry points are generated from functions.def when the build is configured: each checks that the
 * caller is a rank, and calls the function of the layer that does the work. No other part calls
 * them.
 */
#ifndef XY_MPI_BINDINGS_BINDINGS_H
#define XY_MPI_BINDINGS_BINDINGS_H

#include "mpi/runtime/runtime.h"

/* For mpi_job_config_t: all layers, the lowest first. */
extern const mpi_layer_t *const mpi_layers[];

/* The variable that says what mpiexec has made of a process: a rank (its children inherit that), or
 * "process:SOCKET", one of N processes of a program that is not MPI's. */
#define XMPI_LAUNCHED      "XYLEM_LAUNCHED"
#define XMPI_LAUNCHED_RANK "rank"

/* MPI_Init in a process that is no rank: ends it, with a message, when it is one of several. */
void mpi_refuse_one_of_several(void);

/* A program without a launcher calls MPI_Init: the calling thread becomes rank 0 of 1. */
xy_status_t mpi_singleton_begin(void);

#endif
