/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes and the operations of reductions on them.
 *
 *   type_object.h         where the bytes of an element lie; packing and unpacking
 *   type_cursor.h  run after run of these bytes
 *   type_device.h  the same in memory of GPUs
 *   signature.h    which elements it has: do sender and receiver mean the same?
 *   represent.h    elements outside of memory, where they have other sizes
 *   op.h           what is done to two elements; op_device.h: on GPUs
 *
 * Messages and collectives of all layers above use both. Types and operations are counted by
 * reference: the handle of the program is one reference, a pending operation another. A committed
 * type never changes, so that any worker may pack and unpack with it.
 */
#ifndef XY_MPI_DATATYPE_DATATYPE_H
#define XY_MPI_DATATYPE_DATATYPE_H

#include "mpi/datatype/op.h"
#include "mpi/datatype/op_device.h"
#include "mpi/datatype/represent.h"
#include "mpi/datatype/signature.h"
#include "mpi/datatype/type_cursor.h"
#include "mpi/datatype/type_device.h"
#include "mpi/datatype/type_object.h"

#endif
