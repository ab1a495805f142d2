/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The objects behind the handles of a program, as far as they need no communication:
 *
 *   error.h errhandler.h   errors at the MPI boundary, and what handles them
 *   life.h                 is a handle live, freed, or none?
 *   info.h settings.h      hints, and the settings of nonblocking collectives that they change
 *   attr.h                 values that the program attaches to objects
 *   group.h comm.h         groups, and communicator objects
 *   env.h mpi_status.h         what a rank has made besides, and the inside of MPI_Status
 *   made.h                 what it must free, where leaks are looked for
 *   handle.h               handles as Fortran has them
 *
 * Objects belong to the rank that made them and are touched by its worker only, but for groups,
 * which never change and are shared by reference. Nothing in here parks; functions of the program
 * (error handlers, attribute copies) run inside the call that needs them.
 */
#ifndef XY_MPI_OBJECT_OBJECT_H
#define XY_MPI_OBJECT_OBJECT_H

#include "mpi/object/attr.h"
#include "mpi/object/comm.h"
#include "mpi/object/env.h"
#include "mpi/object/errhandler.h"
#include "mpi/object/error.h"
#include "mpi/object/group.h"
#include "mpi/object/handle.h"
#include "mpi/object/info.h"
#include "mpi/object/life.h"
#include "mpi/object/made.h"
#include "mpi/object/mpi_status.h"
#include "mpi/object/settings.h"

extern const mpi_layer_t mpi_object_layer;

#endif
