/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data outside of memory, where elements have other sizes: external32, and representations of the
 * program.
 */
#ifndef XY_MPI_DATATYPE_REPRESENT_H
#define XY_MPI_DATATYPE_REPRESENT_H

#include "mpi/datatype/type_object.h"

/* Bytes of a predefined type there; 0: it is not known. */
typedef size_t (*mpi_type_size_fn)(const mpi_type_t *predefined, const void *arg);

/* Data bytes of one element there; 0: not known, or it has no data. */
size_t mpi_type_measure(const mpi_type_t *type, mpi_type_size_fn fn, const void *arg);
/* The type with elements of those sizes, made by the same constructors: strides and displacements
 * in elements grow with them, those in bytes stay. With a reference for the caller; the type itself
 * where nothing differs. NULL: memory ran out, or it was made by constructors of large counts. */
mpi_type_t *mpi_type_resize_elements(mpi_type_t *type, mpi_type_size_fn fn, const void *arg);

/* The type with this extent, from 0 on: a new reference. NULL: memory ran out, which was raised. */
mpi_type_t *mpi_type_with_extent(const mpi_type_t *type, MPI_Aint extent);

/* The size of a predefined type in external32. */
size_t mpi_type_external_size(const mpi_type_t *type);
/* `count` of `type`, packed as they are in memory, from (or to) external32. False: a value does not
 * fit. Any thread; does not park. */
bool mpi_type_convert_external(char *here, char *there, bool to_external, const mpi_type_t *type,
                               size_t count);

#endif
