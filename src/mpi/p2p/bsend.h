/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends: the message is copied and the call returns; room is what the program attached. */
#ifndef XY_MPI_P2P_BSEND_H
#define XY_MPI_P2P_BSEND_H

#include "mpi/p2p/transfer.h"

typedef struct mpi_bsend mpi_bsend_t;

/* Send through the attached buffer; MPI_ERR_BUFFER when it has no room left. */
int mpi_bsend(mpi_rank_t *self, const mpi_transfer_t *t);
/* The account of a buffer goes; no message is in it. NULL is fine. */
void mpi_bsend_destroy(mpi_bsend_t *bsend);

#endif
