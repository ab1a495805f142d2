/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages without data on the window's own communicator, for synchronisation. */
#ifndef XY_MPI_RMA_SYNC_H
#define XY_MPI_RMA_SYNC_H

#include "mpi/rma/rma.h"

enum {
    RMA_TAG_POST,     /* from the target: MPI_Win_start may continue */
    RMA_TAG_COMPLETE, /* from the origin: its operations are complete */
    RMA_TAG_PUT,      /* data of a large MPI_Put to another process, */
    RMA_TAG_GET,      /* and of an MPI_Get */
    RMA_TAG_LETTER,   /* in traces: data in letters */
    RMA_TAG_LOCK_ALL, /* the lock that the receiver waits for is its own now */
    RMA_TAG_LOCK,     /* likewise, plus the rank of the target */
};

/* They leave what is noted about the call as it is. Both park, and return what was raised: the
 * other member has failed. */
int rma_send_note(mpi_rank_t *self, mpi_win_t *win, int to, int tag);
int rma_receive_note(mpi_rank_t *self, mpi_win_t *win, int from, int tag);

#endif
