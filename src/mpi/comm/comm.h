/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators: making them, which is a collective, and the predefined ones. */
#ifndef XY_MPI_COMM_COMM_H
#define XY_MPI_COMM_COMM_H

#include "mpi/comm/make.h"

extern const mpi_layer_t mpi_comm_layer;

#endif
