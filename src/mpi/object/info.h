/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Info objects: ordered lists of (key, value). A key set again keeps its place.
 */
#ifndef XY_MPI_OBJECT_INFO_H
#define XY_MPI_OBJECT_INFO_H

#include "base/base.h"
#include "mpi.h"
#include "mpi/object/life.h"
#include "mpi/runtime/runtime.h"

typedef struct {
    char *key, *value;
} mpi_pair_t;

typedef struct mpi_info {
    mpi_life_t life;
    xy_vec_t pairs; /* of mpi_pair_t */
} mpi_info_t;

/* NULL for MPI_INFO_NULL, one that was freed and what is no handle; MPI_INFO_ENV is made at its
 * first use. */
mpi_info_t *mpi_info_of(MPI_Info handle);

/* MPI_SUCCESS for a handle and for MPI_INFO_NULL; or MPI_ERR_INFO, raised on `comm`. */
int mpi_info_check(mpi_comm_t *comm, MPI_Info handle);

/* A copy that the caller frees; MPI_INFO_NULL gives an empty one. NULL: memory ran out (silent). */
mpi_info_t *mpi_info_copy(const mpi_info_t *info);
void mpi_info_destroy(mpi_info_t *info); /* NULL is fine */

/* The value, owned by the object; NULL: no such key, or no object. */
const char *mpi_info_value(const mpi_info_t *info, const char *key);
/* The alignment of memory that MPI allocates (mpi_minimum_memory_alignment): cache lines, unless
 * the program asks for more. */
size_t mpi_info_alignment(const mpi_info_t *info);
xy_status_t mpi_info_put(mpi_info_t *info, const char *key, const char *value); /* silent ENOMEM */

#endif
