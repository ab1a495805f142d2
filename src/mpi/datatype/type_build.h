/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Building a datatype: its bounds and the record of how it was made.
 *
 *   mpi_draft_t draft;
 *   mpi_draft_begin(&draft, MPI_COMBINER_CONTIGUOUS, false);
 *   mpi_draft_record_count(&draft, count);
 *   mpi_draft_record_type(&draft, old);
 *   mpi_draft_add(&draft, old, 0, 1, count, 0);
 *   if (!mpi_layout_repeat(&old->layout, count, old->extent, &draft.type->layout))
 *       draft.is_failed = true;
 *   return mpi_draft_finish(&draft, newtype);
 *
 * Failures are kept in the draft and reported once, by finish.
 */
#ifndef XY_MPI_DATATYPE_TYPE_BUILD_H
#define XY_MPI_DATATYPE_TYPE_BUILD_H

#include "mpi/datatype/datatype.h"

typedef struct {
    mpi_type_t *type; /* NULL: there was no memory for it */
    bool is_large;    /* made by a _c function: counts and addresses are recorded as counts */
    bool is_failed;   /* memory ran out */
    bool is_mixed;    /* parts of different signatures */
    xy_extent_t extent;
    size_t ints_room, aints_room, counts_room, types_room;
} mpi_draft_t;

void mpi_draft_begin(mpi_draft_t *draft, int combiner, bool is_large);

/* The contents for MPI_Type_get_contents, in its order. */
void mpi_draft_record_int(mpi_draft_t *draft, int value);
void mpi_draft_record_count(mpi_draft_t *draft, MPI_Count value); /* int, or count when large */
void mpi_draft_record_aint(mpi_draft_t *draft, MPI_Aint value);   /* address, or count when large */
void mpi_draft_record_type(mpi_draft_t *draft, mpi_type_t *type); /* holds a reference */

/* The type map continues with blocks of `old`, as for xy_extent_add. Does bounds and size; the
 * layout is separate. */
void mpi_draft_add(mpi_draft_t *draft, const mpi_type_t *old, MPI_Aint at, int64_t count,
                   int64_t length, MPI_Aint stride);

/* The type map is made of `old` alone and has these bounds. */
void mpi_draft_set_extent(mpi_draft_t *draft, const mpi_type_t *old, const xy_extent_t *extent);

/* The size and the bounds of a type. */
xy_extent_t mpi_type_bounds(const mpi_type_t *type);

/* Hand the type out, or clean up and raise the error. Returns an MPI error code. */
int mpi_draft_finish(mpi_draft_t *draft, MPI_Datatype *newtype);

/* Part i of a derived type, in the order of the type map: a type and how often it comes. False: it
 * has no such part. Only structs have more than one. */
bool mpi_type_part(const mpi_type_t *type, size_t i, const mpi_type_t **part_p, size_t *times_p);

/* The usual checks of a constructor: MPI_SUCCESS, or an error that has been raised. */
int mpi_type_check_make(MPI_Count count, const mpi_type_t *old, const MPI_Datatype *newtype);

/* Make 64-bit copies of `n` ints, so that both kinds of constructors share their code; NULL when
 * memory ran out (never for n == 0). The caller frees with xy_free. */
MPI_Count *mpi_type_widen(const int *values, MPI_Count n);

#endif
