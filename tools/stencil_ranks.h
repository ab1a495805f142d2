/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem stencil as an MPI program: the transport of its messages under mpiexec. */
#ifndef XY_TOOLS_STENCIL_RANKS_H
#define XY_TOOLS_STENCIL_RANKS_H

#include <stdbool.h>
#include <xylem.h>

#include "base/base.h"

/* Is this one of several ranks that mpiexec has started? */
bool stencil_ranks_are_several(void);
/* MPI_Init, and the transport of MPI_COMM_WORLD. */
xy_status_t stencil_ranks_begin(xylem_messages *messages);
/* MPI_Finalize; after a failure of this rank all ranks end, as some of them wait for it. */
xy_status_t stencil_ranks_end(xylem_messages *messages, xy_status_t status);

#endif
