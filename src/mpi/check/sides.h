/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers of one-sided calls: what a call does, the memory and type of the buffers that it
 * names, and from its operation on their use until the epoch ends.
 */
#ifndef XY_MPI_CHECK_SIDES_H
#define XY_MPI_CHECK_SIDES_H

#include "mpi/check/area.h"
#include "mpi/rma/rma.h"

/* Before ranks run. */
void check_sides_begin(int ranks);
/* rma_watch_t.side: the call of the rank has a buffer. */
void check_sides_note(const mpi_rank_t *self, const char *name, const void *address, int64_t count,
                      const mpi_type_t *type);
/* Its operation is done: its buffers are in use from now on. */
void check_sides_use(mpi_rank_t *self, const mpi_win_t *win, int target);
/* The memory of the target, in this process: report one that was freed, or ends before. */
void check_sides_look(const mpi_rank_t *self, const mpi_win_t *win, int target,
                      const check_area_t *area);

#endif
