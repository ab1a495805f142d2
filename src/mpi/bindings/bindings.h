/* SPDX-License-Identifier: BSD-3-Clause */
/* The top of the library: all its layers, and programs that run without a launcher. */
#ifndef XY_MPI_BINDINGS_BINDINGS_H
#define XY_MPI_BINDINGS_BINDINGS_H

#include "mpi/runtime/runtime.h"

/* For mpi_job_config_t: all layers, the lowest first. */
extern const mpi_layer_t *const mpi_layers[];

/* A program without a launcher calls MPI_Init: the calling thread becomes rank 0 of 1. */
xy_status_t mpi_singleton_begin(void);

#endif
