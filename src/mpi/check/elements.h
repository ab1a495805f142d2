/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of a buffer, as the program declares them, against its datatype. */
#ifndef XY_MPI_CHECK_ELEMENTS_H
#define XY_MPI_CHECK_ELEMENTS_H

#include "mpi/check/area.h"
#include "mpi/runtime/runtime.h"

/* Before ranks run. */
xy_status_t check_elements_begin(int ranks);
/* The local variable that has the first of these bytes, of the caller or of one further out. False:
 * none is known. */
bool check_elements_local(const mpi_rank_t *self, const char *address, size_t length,
                          mpi_variable_t *variable);
/* Is it an address on the stack of a function that has returned? */
bool check_elements_left(const mpi_rank_t *self, const char *address);
/* `self` uses a buffer: report one whose variable has elements of another type. What is in the heap
 * is in no variable. */
void check_elements_look(const mpi_rank_t *self, const check_area_t *area, bool is_in_heap);

#endif
