/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends: the message is copied and the call returns; room is what the program attached. */
#ifndef XY_MPI_P2P_BSEND_H
#define XY_MPI_P2P_BSEND_H

#include "mpi/p2p/transfer.h"

/* Send through the attached buffer; MPI_ERR_BUFFER when it has no room left. */
int mpi_bsend(mpi_rank_t *self, const mpi_transfer_t *t);

#endif
