/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point to point inside the library: moving bytes from one rank to another.
 *
 * A message to a rank of the same worker meets its receive at once: one copy, no queue. A message
 * to another worker crosses a ring: up to 88 bytes inside the packet, up to the eager limit in a
 * buffer, above it as a pointer to the send request, from whose buffer the receiver copies (one
 * copy) before it notifies the sender. An unexpected message is queued.
 *
 * Buffers cost as much again as the copy, so blocking sends of 2 KiB up to the eager limit are
 * first offered: the receiver copies from the sender's buffer if it looks soon, whether or not
 * there is a receive. If it does not, the sender withdraws the offer and leaves the message in a
 * buffer.
 *
 * A message to a rank of another process goes through the network (remote.h).
 *
 * With communication cores, nonblocking calls leave the copy of a large message to one of them
 * (offload.c), and a large message to a worker whose ranks all compute is matched there (gate.h).
 */
#ifndef XY_MPI_P2P_MESSAGE_H
#define XY_MPI_P2P_MESSAGE_H

#include "mpi/p2p/request.h"

/* A message that arrived before its receive. */
typedef struct mpi_message {
    xy_match_entry_t entry; /* must be first */
    uint64_t bytes;
    mpi_rank_t *to;
    mpi_request_t *sender; /* rendezvous: its send request; NULL: the bytes are in `data`;
                              mpi_remote_sender: it came from another process, and `data` is its
                              letter */
    mpi_comm_t *comm;      /* of a message taken by Mprobe (held), */
    const void *taken_at;  /* where the program did that, */
    struct mpi_message *next_taken, *previous_taken; /* and others of the rank */
    char *data;                                      /* `small`, or a buffer of the pool */
    const void *site;                                /* where the sender called */
    uint16_t signature;                              /* of what was sent */
    struct mpi_message *next_free;
    char small[XMPI_PACKET_INLINE];
} mpi_message_t;

struct remote_letter;

/* The description of an unreceived message for reports. */
typedef struct {
    xy_envelope_t envelope;
    uint64_t bytes;
    const void *site;                   /* where the sender called; NULL: that is not known, or */
    const struct remote_letter *letter; /* to be asked (mpi_remote_site); or NULL */
} mpi_left_t;

/* Start a send. True: complete at once, `request` is not used. Otherwise `request` (initialised by
 * mpi_request_new or mpi_request_init) completes later. `offload`: a communication core may make
 * the copy; for calls that return before it is made (mpi_job_t.offloads). */
bool mpi_send_start(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t *request,
                    bool offload);
/* Start a receive; `request` may be complete on return. */
void mpi_recv_start(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t *request,
                    bool offload);
/* Receive the message `message` (taken out of the queue) into `request`'s buffer. */
void mpi_recv_message(mpi_rank_t *self, mpi_request_t *request, mpi_message_t *message,
                      bool offload);
/* Would a send of this size wait for its receiver? Data on a GPU does: one copy on the device takes
 * less time than two between it and a buffer. */
static inline bool mpi_send_is_eager(const mpi_transfer_t *t, uint64_t bytes)
{
    return bytes <= mpi_job->eager_limit && t->mode != XMPI_MODE_SYNCHRONOUS &&
           (__builtin_expect(!mpi_device_is_used, 1) || bytes == 0 ||
            !mpi_device_has((const char *)t->buffer + t->type->true_lb, NULL));
}

/* The nonblocking forms: a request from the pool that holds its communicator and type. `peer` may
 * be MPI_PROC_NULL. Returns MPI_SUCCESS or what mpi_error returned. */
int mpi_isend(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t **request_p);
int mpi_irecv(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t **request_p);
/* After an eager send by a rank of `worker`: let the other ranks there run when much was left for
 * them. */
static inline void mpi_send_throttle(mpi_worker_t *worker)
{
    if (__builtin_expect(worker->left_bytes <= XY_MATCH_LEFT, 1))
        return;
    worker->left_bytes = 0;
    xy_fiber_yield();
}

/* The status of a receive from MPI_PROC_NULL. */
extern const mpi_completion_t mpi_completion_null_peer;

/* `m`, which is in no queue, waits for the program's Mrecv. */
void mpi_message_take(mpi_rank_t *self, mpi_message_t *m, mpi_comm_t *comm);

/* The functions without an engine, for one that does something before or after them (p2p_engine.h).
 * A send that is cancelled completes, whether or not it has been received. */
bool mpi_plain_send(mpi_rank_t *self, const mpi_transfer_t *t, uint64_t bytes,
                    mpi_request_t *request);
void mpi_plain_receive(mpi_rank_t *self, mpi_request_t *request);
void mpi_plain_receive_message(mpi_rank_t *self, mpi_request_t *request, mpi_message_t *message);
void mpi_plain_cancel(mpi_rank_t *self, mpi_request_t *request);

/* A message of another process has met no receive; `letter` stays its. And it was taken back. */
void mpi_message_keep_remote(mpi_worker_t *worker, mpi_rank_t *to, const xy_envelope_t *envelope,
                             uint64_t bytes, struct remote_letter *letter);
void mpi_message_drop(mpi_worker_t *worker, mpi_rank_t *to, mpi_message_t *m);
/* Let those that probe look again. */
void mpi_probers_ready(mpi_rank_t *rank);
/* A ready send has met no receive: report it and end the job. */
void mpi_refuse_unready(const mpi_rank_t *to, int tag, const void *site) __attribute__((cold));
/* Packed bytes into a receive's buffer. */
void mpi_receive_packed(mpi_request_t *receive, const xy_envelope_t *envelope, const char *data,
                        uint64_t bytes, uint16_t signature, const void *site);

/* On the worker of the receiver: copy a message out of the buffer of its waiting sender, and
 * complete the send. */
void mpi_message_buffer(mpi_worker_t *worker, mpi_message_t *m);

/* `receive` has got `sent` bytes with a type signature, of a call at `site`: its completion. */
void mpi_receive_set(mpi_request_t *receive, const xy_envelope_t *envelope, uint64_t sent,
                     uint16_t signature, const void *site);
/* It has another signature: warn if the elements are others than the sender's, or fail
 * (mismatch.c). */
void mpi_receive_compare(mpi_request_t *receive, uint16_t signature, const void *site)
    __attribute__((cold));
/* From a buffer into that of `receive`, whose completion is known. */
void mpi_copy_message(mpi_request_t *receive, const void *buffer, int64_t count, mpi_type_t *type);

/* Handlers of packets. The second one of RTS offloads large copies. */
void mpi_packet_eager(mpi_worker_t *worker, int from, mpi_packet_t *packet);
void mpi_packet_offer(mpi_worker_t *worker, int from, mpi_packet_t *packet);
void mpi_packet_rts(mpi_worker_t *worker, int from, mpi_packet_t *packet);
void mpi_packet_rts_offload(mpi_worker_t *worker, int from, mpi_packet_t *packet);
void mpi_packet_done(mpi_worker_t *worker, int from, mpi_packet_t *packet);
void mpi_packet_cancel(mpi_worker_t *worker, int from, mpi_packet_t *packet);

/* Free the messages that no rank received, and the pools. */
void mpi_messages_cleanup(mpi_job_t *job);
/* Drop the messages that the rank has not received: it has ended. */
void mpi_messages_drop(mpi_rank_t *rank);

#endif
