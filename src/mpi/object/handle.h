/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles of any kind as integers, and functions of the program that do not take C's handles.
 */
#ifndef XY_MPI_OBJECT_HANDLE_H
#define XY_MPI_OBJECT_HANDLE_H

#include "mpi.h"

/* 0, which is no handle of any kind, when memory ran out. */
int mpi_handle_to_int(const void *handle);
/* NULL, which is no handle of any kind, for numbers that were never given out. */
void *mpi_handle_from_int(int number);

/* The language of an attribute's value or functions. MPI-1's functions for attributes have values
 * of the size of an INTEGER. */
typedef enum { XMPI_FROM_C, XMPI_FROM_FORTRAN, XMPI_FROM_FORTRAN_1 } mpi_language_t;

/* Functions of the program that do not take C's handles: Fortran's take addresses of integers,
 * those of programs for another ABI its handles and error codes. An object that has such a function
 * calls it through one of these, which gets the function and C's arguments. */
typedef void(mpi_any_fn)(void);

/* `length` is that of the operation, an int * or an MPI_Count *. */
typedef void(mpi_op_through_fn)(mpi_any_fn *fn, void *in, void *inout, void *length,
                                MPI_Datatype type);
typedef void(mpi_errhandler_through_fn)(mpi_any_fn *fn, void *handle, int *code);
typedef struct {
    int (*copy)(mpi_any_fn *fn, void *handle, int keyval, void *extra, void *value, void **copy_p,
                int *flag_p);
    int (*delete)(mpi_any_fn *fn, void *handle, int keyval, void *value, void *extra);
} mpi_attr_through_t;

#endif
