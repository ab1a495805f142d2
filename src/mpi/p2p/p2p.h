/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point to point inside the library: how bytes get from one rank to another.
 *
 * A message to a rank of the same worker meets its receive at once: one copy, no queue. A message
 * to another worker crosses a ring: up to 88 bytes inside the packet, up to the eager limit in a
 * buffer, above it as a pointer to the send request, from whose buffer the receiver copies (one
 * copy) before it tells the sender. A message that nobody waits for yet is kept.
 *
 * With communication cores, nonblocking calls leave the copy of a large message to one of them
 * (offload.c), and a large message to a worker whose ranks all compute is matched there (gate.h).
 */
#ifndef XY_MPI_P2P_P2P_H
#define XY_MPI_P2P_P2P_H

#include "mpi/object/comm.h"
#include "mpi/p2p/request.h"
#include "mpi/runtime/packet.h"

/* A message that arrived before its receive. */
typedef struct mpi_message {
    mpi_entry_t entry; /* must be first */
    uint64_t bytes;
    mpi_rank_t *to;
    mpi_request_t *sender; /* rendezvous: its send request; NULL: the bytes are in `data` */
    mpi_comm_t *comm;      /* of a message taken by Mprobe */
    char *data;            /* `small`, or a buffer of the pool */
    struct mpi_message *next_free;
    char small[XMPI_PACKET_INLINE];
} mpi_message_t;

/* One call's arguments, checked. */
typedef struct {
    mpi_comm_t *comm;
    const void *buffer;
    int64_t count;
    mpi_type_t *type;
    int peer, tag;
    mpi_mode_t mode;
} mpi_transfer_t;

/* Start a send. True: complete at once, `request` is not used. Otherwise `request` (initialised by
 * mpi_request_new or mpi_request_init) completes later. */
bool mpi_send_start(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t *request);
/* The same for nonblocking calls: a communication core may make the copy. */
bool mpi_send_begin(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t *request);
void mpi_recv_begin(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t *request);
/* Start a receive; `request` may be complete on return. */
void mpi_recv_start(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t *request);
/* Receive the message `message` (taken out of the queue) into `request`'s buffer. */
void mpi_recv_message(mpi_rank_t *self, mpi_request_t *request, mpi_message_t *message);
/* Would a send of this size wait for its receiver? */
static inline bool mpi_send_is_eager(const mpi_transfer_t *t, uint64_t bytes)
{
    return bytes <= mpi_job->eager_limit && t->mode != XMPI_MODE_SYNCHRONOUS;
}

/* The nonblocking forms: a request from the pool that holds its communicator and type. `peer` may
 * be MPI_PROC_NULL. Returns MPI_SUCCESS or what mpi_error returned. */
int mpi_isend(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t **request_p);
int mpi_irecv(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t **request_p);
/* After an eager blocking send: let a receiver on this worker run when its queue grows long. */
void mpi_send_throttle(mpi_rank_t *self, const mpi_transfer_t *t);
/* What a receive from MPI_PROC_NULL reports. */
extern const mpi_completion_t mpi_completion_null_peer;

/* Ask to take back a send that nobody received yet. The request completes either way. */
void mpi_send_cancel(mpi_rank_t *self, mpi_request_t *request);

/* `request`, whose owner may live on another worker, is over. Called on `worker`. */
void mpi_request_done(mpi_worker_t *worker, mpi_request_t *request);

/* Fill `request` (on the stack or from the pool) for an operation on `t`. */
void mpi_request_init(mpi_request_t *request, mpi_rank_t *self, mpi_request_kind_t kind);
void mpi_request_describe(mpi_request_t *request, const mpi_transfer_t *t);

/* The slow half of mpi_transfer_check: names what is wrong, or finds that nothing is. */
int mpi_transfer_refuse(MPI_Comm comm, const void *buffer, int64_t count, MPI_Datatype type,
                        int peer, int tag, bool receive);

/* Checks shared by all calls of the family; MPI_SUCCESS or what mpi_error returned. `receive`
 * allows wildcards. On success *t is complete. What most calls pass is seen to be right here. */
static inline int mpi_transfer_check(mpi_rank_t *self, MPI_Comm handle, const void *buffer,
                                     int64_t count, MPI_Datatype datatype, int peer, int tag,
                                     bool receive, mpi_transfer_t *t)
{
    mpi_comm_t *comm = mpi_comm_of(handle);
    mpi_type_t *type = mpi_type_of(datatype);

    self->call.comm = comm;
    self->call.peer = peer;
    self->call.tag = tag;
    if (__builtin_expect(comm == NULL || type == NULL || !type->is_committed || count < 0 ||
                             buffer == NULL || (unsigned)peer >= (unsigned)comm->size ||
                             comm->remote != NULL || tag < 0,
                         0)) {
        int error = mpi_transfer_refuse(handle, buffer, count, datatype, peer, tag, receive);

        if (error != MPI_SUCCESS)
            return error;
    }
    *t = (mpi_transfer_t){comm, buffer, count, type, peer, tag, XMPI_MODE_STANDARD};
    return MPI_SUCCESS;
}

/* Buffers of eager messages: pools of a worker, by size class. */
void *mpi_buffer_take(mpi_worker_t *worker, size_t bytes);
void mpi_buffer_give(mpi_worker_t *worker, void *buffer);
void mpi_buffers_cleanup(mpi_worker_t *worker);

void mpi_packet_eager(mpi_worker_t *worker, int from, mpi_packet_t *packet);
void mpi_packet_rts(mpi_worker_t *worker, int from, mpi_packet_t *packet);
void mpi_packet_done(mpi_worker_t *worker, int from, mpi_packet_t *packet);
void mpi_packet_cancel(mpi_worker_t *worker, int from, mpi_packet_t *packet);

#endif
