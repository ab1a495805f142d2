/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles of any kind as integers, and functions that Fortran code has given.
 */
#ifndef XY_MPI_OBJECT_HANDLE_H
#define XY_MPI_OBJECT_HANDLE_H

/* 0, which is no handle of any kind, when memory ran out. */
int mpi_handle_to_int(const void *handle);
/* NULL, which is no handle of any kind, for numbers that were never given out. */
void *mpi_handle_from_int(int number);

/* Which language a function of the program is written in: all that Fortran gets are addresses of
 * integers, and it returns its error through one. MPI-1's functions for attributes have values of
 * the size of an INTEGER. */
typedef enum { XMPI_FROM_C, XMPI_FROM_FORTRAN, XMPI_FROM_FORTRAN_1 } mpi_language_t;

#endif
