/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the handles of a program name, as far as it needs no communication: errors and their
 * handlers, info objects, attributes, groups, communicator objects, and the settings that hints
 * change.
 */
#ifndef XY_MPI_OBJECT_OBJECT_H
#define XY_MPI_OBJECT_OBJECT_H

#include "mpi/object/attr.h"
#include "mpi/object/comm.h"
#include "mpi/object/env.h"
#include "mpi/object/errhandler.h"
#include "mpi/object/error.h"
#include "mpi/object/group.h"
#include "mpi/object/info.h"
#include "mpi/object/settings.h"
#include "mpi/object/status.h"

extern const mpi_layer_t mpi_object_layer;

#endif
