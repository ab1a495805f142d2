/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A request that is over when several messages are: neighbourhood collectives, MPI_Isendrecv.
 *
 *   mpi_parts_t *parts;
 *   int error = mpi_parts_begin(self, comm, &parts);
 *   if (error == MPI_SUCCESS)
 *       error = mpi_parts_receive(parts, &from);
 *   if (error == MPI_SUCCESS)
 *       error = mpi_parts_send(parts, &to);
 *   return mpi_parts_end(parts, error, request, status);    (request NULL: wait for it)
 *
 * Everything happens on the worker of the rank that began.
 */
#ifndef XY_MPI_P2P_MULTI_REQUEST_H
#define XY_MPI_P2P_MULTI_REQUEST_H

#include "mpi/p2p/p2p.h"

typedef struct mpi_parts {
    mpi_request_t *whole;
    int pending;      /* messages under way, and one while more are being started */
    bool keeps;       /* the whole gets the status of the (last) receive */
    mpi_comm_t *comm; /* for the messages: the program's, or `hidden` */
    mpi_comm_t hidden;
    char *copy; /* from mpi_buffer_take, goes back at the end; or NULL */
} mpi_parts_t;

int mpi_parts_begin(mpi_rank_t *self, mpi_comm_t *comm, mpi_parts_t **parts_p);
/* From here on messages match only those of other neighbourhood collectives on the communicator. */
void mpi_parts_hide(mpi_parts_t *parts);
/* Start a message; `t->comm` is set here. MPI_PROC_NULL is fine. */
int mpi_parts_receive(mpi_parts_t *parts, mpi_transfer_t *t);
int mpi_parts_send(mpi_parts_t *parts, mpi_transfer_t *t);
/* All were started, or `error` came between: then what was started ends by itself. Waits when
 * `request` is NULL (the status goes to `status`). `parts` is no longer the caller's. */
int mpi_parts_end(mpi_parts_t *parts, int error, MPI_Request *request, MPI_Status *status);

#endif
