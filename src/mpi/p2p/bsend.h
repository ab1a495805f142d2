/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends: the call copies the message to the attached buffer and returns. */
#ifndef XY_MPI_P2P_BSEND_H
#define XY_MPI_P2P_BSEND_H

#include "mpi/p2p/transfer.h"

typedef struct mpi_bsend mpi_bsend_t;

/* Send through the attached buffer; MPI_ERR_BUFFER when it has no room left. `request` is that of
 * the program, or NULL; the caller completes it. */
int mpi_bsend(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t *request);
/* Attach, detach and flush the buffer of an account, such as a session's. MPI_SUCCESS, or the error
 * that was raised (`comm` NULL: as one of no communicator). */
int mpi_bsend_attach(mpi_comm_t *comm, mpi_bsend_t **place, void *buffer, int64_t size);
int mpi_bsend_detach(mpi_rank_t *self, mpi_comm_t *comm, mpi_bsend_t **place, void *buffer_p,
                     MPI_Count *size);
int mpi_bsend_flush(mpi_rank_t *self, mpi_comm_t *comm, mpi_bsend_t *b);
int mpi_bsend_iflush(mpi_rank_t *self, mpi_comm_t *comm, mpi_bsend_t *b, MPI_Request *handle);
/* The account of a buffer goes; no message is in it. NULL is fine. */
void mpi_bsend_destroy(mpi_bsend_t *bsend);

#endif
