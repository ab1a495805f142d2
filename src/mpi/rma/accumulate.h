/* SPDX-License-Identifier: BSD-3-Clause */
/* The family of MPI_Accumulate on whole data. */
#ifndef XY_MPI_RMA_ACCUMULATE_H
#define XY_MPI_RMA_ACCUMULATE_H

#include "mpi/rma/element.h"
#include "mpi/rma/rma_operation.h"

/* All elements of the target, each as rma_update does it. `origin` is NULL with MPI_NO_OP, `result`
 * where what was there is not wanted; otherwise they have as many elements as the target, or more,
 * of the same kind: update->type. */
void rma_accumulate(const rma_update_t *update, const rma_side_t *target, const rma_side_t *origin,
                    const rma_side_t *result);
/* Elements [first, first + n) of the target alone; those of `origin` and `result` (or NULL) lie one
 * extent apart. Not more than the loops take at a time. */
void rma_accumulate_part(const rma_update_t *update, const rma_side_t *target, size_t first,
                         size_t n, const char *origin, char *result);

#endif
