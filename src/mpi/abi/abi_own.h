/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Xylem as translations see it: types and constants of its mpi.h, and its functions through a
 * table. The prototypes of MPI functions are those of the other ABI.
 */
#ifndef XY_MPI_ABI_ABI_OWN_H
#define XY_MPI_ABI_ABI_OWN_H

#define XYLEM_MPI_FUNCTIONS_H
#define XYLEM_MPI_PROFILING_H
#include "mpi/bindings/bindings.h"
#include "mpi/object/object.h"

enum { ABI_PREDEFINED = 0x400 }; /* Xylem's predefined handles are below */

#endif
