/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/p2p/offload.h"

#include "mpi/p2p/message.h"

int mpi_offload_server(int worker)
{
    return mpi_job->workers - 1 - worker % mpi_job->comm_workers;
}

void mpi_offload_copy(mpi_worker_t *worker, mpi_request_t *receive, mpi_request_t *sender)
{
    int to = mpi_offload_server(worker->index);
    mpi_packet_t *packet;

    receive->partner = sender;
    if (xy_worker_self() != worker->base) {
        mpi_worker_t *helper = xy_worker_user(xy_worker_self());

        receive->next_free =
            atomic_load_explicit(&helper->mail[XMPI_MAIL_COPIES], memory_order_relaxed);
        atomic_store_explicit(&helper->mail[XMPI_MAIL_COPIES], receive, memory_order_relaxed);
        return;
    }
    packet = mpi_ring_reserve(worker, to);
    packet->kind = XMPI_PACKET_COPY;
    packet->pointer = receive;
    mpi_ring_commit(worker, to, packet);
}

static void make(mpi_worker_t *worker, mpi_request_t *receive)
{
    mpi_trace_state_t before = mpi_trace_begin(worker->trace, "message");
    mpi_request_t *sender = receive->partner;

    mpi_copy_message(receive, sender->buffer, sender->count, sender->type);
    mpi_trace_end(worker->trace, before);
    mpi_request_done(worker, sender);
    mpi_request_done(worker, receive);
}

/* Only the core itself touches this mailbox. */
void mpi_offload_progress(mpi_worker_t *worker)
{
    mpi_request_t *receive;

    while ((receive = atomic_load_explicit(&worker->mail[XMPI_MAIL_COPIES],
                                           memory_order_relaxed)) != NULL) {
        atomic_store_explicit(&worker->mail[XMPI_MAIL_COPIES], receive->next_free,
                              memory_order_relaxed);
        make(worker, receive);
    }
}

void mpi_packet_copy(mpi_worker_t *worker, int from, mpi_packet_t *packet)
{
    (void)from;
    make(worker, packet->pointer);
}

void mpi_offload_match(mpi_worker_t *worker, int target)
{
    int to = mpi_offload_server(target);
    mpi_packet_t *packet = mpi_ring_reserve(worker, to);

    packet->kind = XMPI_PACKET_MATCH;
    packet->to = target;
    mpi_ring_commit(worker, to, packet);
}

void mpi_packet_match(mpi_worker_t *worker, int from, mpi_packet_t *packet)
{
    (void)from;
    (void)worker;
    mpi_gate_try_match(&mpi_job->worker[packet->to]);
}
