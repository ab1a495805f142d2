/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes and the operations of reductions on them. */
#ifndef XY_MPI_DATATYPE_DATATYPE_H
#define XY_MPI_DATATYPE_DATATYPE_H

#include "mpi/datatype/op.h"
#include "mpi/datatype/type.h"

#endif
