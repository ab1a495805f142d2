/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transposes: small elements that are far apart in the order of the message and close to those of
 * the next column, as all columns of a matrix are, one after the other.
 *
 *   if (mpi_turn_is_worth(stride, n, loop, length))
 *       mpi_turn_pack(packed, size, user, stride, n, loop, length);
 *
 * `n` iterations, `stride` bytes apart, of `loop` around one element of `length` bytes. An
 * iteration has `size` packed bytes, those of this loop first; there are more where other loops are
 * between the two, as in a cube whose first and last dimension change places.
 */
#ifndef XY_MPI_DATATYPE_TYPE_TURN_H
#define XY_MPI_DATATYPE_TYPE_TURN_H

#include "mpi/datatype/datatype.h"

/* Can it be done in another order (no two elements overlap), and is that worth it? */
bool mpi_turn_is_worth(MPI_Aint stride, int64_t n, const mpi_loop_t *loop, size_t length);

/* Only where mpi_turn_is_worth says so. `user` is where the first element lies. */
void mpi_turn_pack(char *packed, size_t size, const char *user, MPI_Aint stride, int64_t n,
                   const mpi_loop_t *loop, size_t length);
void mpi_turn_unpack(char *user, const char *packed, size_t size, MPI_Aint stride, int64_t n,
                     const mpi_loop_t *loop, size_t length);

#endif
