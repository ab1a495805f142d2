/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A view: the bytes of a file that a rank sees, as one sequence. The filetype is laid end to end
 * from `disp` on, and its data bytes are the bytes of the view:
 *
 *   filetype: 2 bytes, then a hole of 2     file   d d|0 1 . .|2 3 . .|4 5 . .
 *   disp 2                                  view       0 1     2 3     4 5
 *
 * Displacements of a filetype never decrease and blocks do not overlap (set_view refuses others;
 * where copies of the filetype would overlap, accesses stay in the first; a filetype without data
 * has no bytes to access, and is laid out as its etype): so the data bytes before an offset of the
 * file are found by arithmetic, without a walk. Where a file is only read, blocks may overlap; such
 * a view is read run by run, by each rank for itself.
 *
 * A view never changes. Accesses that are under way hold a reference, since the program may set
 * another view meanwhile.
 */
#ifndef XY_MPI_IO_VIEW_H
#define XY_MPI_IO_VIEW_H

#include <stdatomic.h>

#include "mpi/datatype/datatype.h"

typedef struct io_rep io_rep_t; /* io_represent.h */

#define IO_SMALL ((int64_t)1 << 40) /* with offsets and amounts below it nothing overflows */

typedef struct {
    atomic_long references;
    MPI_Offset disp;
    mpi_type_t *etype, *filetype; /* as the program gave them, held */
    mpi_type_t *tile;             /* the filetype as its bytes lie in the file, held */
    const io_rep_t *rep;          /* NULL: as in memory */
    size_t unit;                  /* bytes of an etype in the file */
    size_t grain;                 /* a power of two that divides all offsets and lengths */
    int64_t reach;                /* bytes of the view that may be accessed; INT64_MAX: all */
    bool is_plain;                /* byte d of the view is byte disp + d of the file */
    bool overlaps;                /* a byte of the file may be there more than once */
    bool is_simple;               /* ... in memory as in the file, and all of it may be accessed */
    /* Bounds of what loop l goes over; [depth]: of the list of blocks. */
    MPI_Aint low[XMPI_TYPE_DEPTH + 1], high[XMPI_TYPE_DEPTH + 1];
} io_view_t;

/* Why the view cannot be; NULL: *view_p is a view of `disp` (not negative), with one reference.
 * *class_p is the error class. */
const char *io_view_create(MPI_Offset disp, mpi_type_t *etype, mpi_type_t *filetype,
                           const io_rep_t *rep, bool may_overlap, int *class_p, io_view_t **view_p);
void io_view_hold(io_view_t *view);
void io_view_release(io_view_t *view); /* NULL is fine; any thread */

/* Data bytes of the view before byte `offset` of the file; where it overlaps, those in front of the
 * first that is not. */
int64_t io_view_before(const io_view_t *view, int64_t offset);
/* Where data byte `byte` is in the file. */
int64_t io_view_offset(const io_view_t *view, int64_t byte);

/* One behind the last byte of the file that data bytes up to `byte` may be in. */
int64_t io_view_end(const io_view_t *view, int64_t byte);

/* May bytes [0, end) of the view be accessed? */
static inline bool io_view_reaches(const io_view_t *view, int64_t end)
{
    return end <= view->reach;
}

/* Bytes of a run that lie side by side in the file, on the average. */
size_t io_view_run(const io_view_t *view);

/* A walk over the runs of bytes that lie side by side, in a view that is not plain. */
typedef struct {
    const io_view_t *view;
    int64_t at; /* of the current innermost iteration */
    int64_t index[XMPI_TYPE_DEPTH];
    size_t block, done;
} io_walk_t;

void io_walk_begin(io_walk_t *walk, const io_view_t *view, int64_t byte);
/* The offset of the run, and how many bytes of it are left: at least one. */
int64_t io_walk_run(const io_walk_t *walk, size_t *length_p);
/* Over `n` bytes, at most those left of the run. */
void io_walk_advance(io_walk_t *walk, size_t n);

#endif
