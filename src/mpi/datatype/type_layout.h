/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layouts: building the normal form of a datatype (loops around a list of blocks).
 *
 *   mpi_layout_t row, matrix;
 *   mpi_layout_repeat(&element, 16, 8, &row);        16 elements, 8 bytes apart: one block
 *   mpi_layout_repeat(&row, 100, 1024, &matrix);     100 rows: one loop around one block
 *
 * Functions return false when memory ran out, in silence, and then leave the output untouched.
 */
#ifndef XY_MPI_DATATYPE_TYPE_LAYOUT_H
#define XY_MPI_DATATYPE_TYPE_LAYOUT_H

#include "mpi/datatype/datatype.h"

void mpi_layout_cleanup(mpi_layout_t *layout);

bool mpi_layout_copy(const mpi_layout_t *layout, mpi_layout_t *copy_p);

/* `count` times `layout`, `stride` bytes apart. */
bool mpi_layout_repeat(const mpi_layout_t *layout, int64_t count, MPI_Aint stride,
                       mpi_layout_t *result_p);

/* The same moved by `distance` bytes. */
void mpi_layout_shift(mpi_layout_t *layout, MPI_Aint distance);

/* A list being made: add layouts one behind the other, then finish. */
typedef struct {
    mpi_block_t *block;
    size_t blocks, capacity;
    size_t bytes;
    bool is_failed;
} mpi_layout_list_t;

/* `count` times `layout`, `stride` apart, the first at `offset`. */
void mpi_layout_list_add(mpi_layout_list_t *list, const mpi_layout_t *layout, MPI_Aint offset,
                         int64_t count, MPI_Aint stride);
/* The normal form of the list, which is used up in any case. */
bool mpi_layout_list_finish(mpi_layout_list_t *list, mpi_layout_t *result_p);

/* How many elements can follow each other so that no two of their bytes are the same: 0 where one
 * element has such bytes; INT64_MAX: any number, or it would take too long to find out. */
int64_t mpi_type_count_disjoint(const mpi_type_t *type);

#endif
