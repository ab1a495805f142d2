/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A request that completes when several messages have: neighbourhood collectives, MPI_Isendrecv.
 *
 *   mpi_multi_request_t *multi;
 *   int error = mpi_multi_request_begin(self, comm, &multi);
 *   if (error == MPI_SUCCESS)
 *       error = mpi_multi_request_receive(multi, &from);
 *   if (error == MPI_SUCCESS)
 *       error = mpi_multi_request_send(multi, &to);
 *   return mpi_multi_request_end(multi, error, request, status);    (request NULL: wait for it)
 *
 * Everything happens on the worker of the rank that began.
 */
#ifndef XY_MPI_P2P_MULTI_REQUEST_H
#define XY_MPI_P2P_MULTI_REQUEST_H

#include "mpi/p2p/message.h"

/* The operations that MPI_Start of a persistent one starts: receives first, so that messages find
 * their place. */
typedef struct {
    int receives, sends;
    mpi_transfer_t messages[]; /* [receives + sends], whose types are held */
} mpi_multi_messages_t;

typedef struct mpi_multi_request {
    mpi_request_t *whole;
    int pending;      /* messages in flight, and one while more are being started */
    bool keeps;       /* the whole gets the status of the (last) receive */
    mpi_comm_t *comm; /* for the messages: the program's, or `hidden` */
    mpi_comm_t hidden;
    char *copy;                     /* from mpi_buffer_take, goes back at the end; or NULL */
    mpi_request_t *parts;           /* parts in flight, by next_part; for engines (p2p_engine.h) */
    mpi_multi_messages_t *messages; /* persistent; or NULL */
} mpi_multi_request_t;

int mpi_multi_request_begin(mpi_rank_t *self, mpi_comm_t *comm, mpi_multi_request_t **multi_p);
/* From here on messages match only those of other neighbourhood collectives on the communicator. */
void mpi_multi_request_hide(mpi_multi_request_t *multi);
/* Start a message; `t->comm` is set here. MPI_PROC_NULL is fine. */
int mpi_multi_request_receive(mpi_multi_request_t *multi, mpi_transfer_t *t);
int mpi_multi_request_send(mpi_multi_request_t *multi, mpi_transfer_t *t);
/* The list of the messages in flight (of partitioned ones, too: partitioned.h), from which an
 * engine takes those that are complete; NULL: the request is no such whole. */
mpi_request_t **mpi_multi_request_parts(const mpi_request_t *whole);
/* All were started, or `error` came between: then what was started ends by itself. Waits when
 * `request` is NULL (the status goes to `status`). `multi` is no longer the caller's. */
int mpi_multi_request_end(mpi_multi_request_t *multi, int error, MPI_Request *request,
                          MPI_Status *status);

/* Memory for the messages of a persistent one; NULL: there is none. */
mpi_multi_messages_t *mpi_multi_messages_new(int receives, int sends);
/* `multi`, of which nothing was started, becomes a persistent request that starts `messages`, which
 * are its own from here on. */
void mpi_multi_request_persist(mpi_multi_request_t *multi, mpi_multi_messages_t *messages,
                               MPI_Request *request);

#endif
