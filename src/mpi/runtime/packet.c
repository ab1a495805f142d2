/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/packet.h"

#include "mpi/nbc/nbc.h"
#include "mpi/nbc/progress_thread.h"
#include "mpi/p2p/offload.h"
#include "mpi/runtime/parallel.h"

enum {
    PUBLISH_EVERY = XMPI_RING_PACKETS / 4,
    ALL_KINDS = ~0,
    /* What a guest may handle: the other kinds may need room in a ring of the worker, and the guest
     * may be the one who makes it. */
    MESSAGES = 1 << XMPI_PACKET_EAGER | 1 << XMPI_PACKET_RTS | 1 << XMPI_PACKET_DONE
};

void mpi_ring_wait_room(mpi_worker_t *worker, mpi_ring_t *ring)
{
    /* The acquire pairs with the release in drain(): the packets are free to write again. */
    while ((ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire)),
           ring->tail - ring->head_seen == XMPI_RING_PACKETS) {
        xy_worker_notify(ring->reader);
        mpi_poll(worker->base);
    }
}

/* A handler may reserve packets, and reserve polls when a ring is full: drain can be entered again.
 * `next` is therefore advanced before the handler runs, and the packet is given back after it,
 * which is in order: `head` is published from `next` only by the outermost drain of a ring. */
static bool drain(mpi_worker_t *worker, int from, mpi_ring_t *ring, unsigned kinds)
{
    bool found = false;

    for (;;) {
        uint32_t position = ring->next;
        mpi_packet_t *packet = &ring->packets[position % XMPI_RING_PACKETS];

        if (atomic_load_explicit(&packet->turn, memory_order_acquire) != mpi_ring_turn(position))
            return found;
        if ((kinds >> packet->kind & 1) == 0)
            return found;
        ring->next = position + 1;
        ring->busy++;
        mpi_packet_handlers[packet->kind](worker, from, packet);
        ring->busy--;
        found = true;
        if (ring->busy == 0 &&
            ring->next - atomic_load_explicit(&ring->head, memory_order_relaxed) >= PUBLISH_EVERY)
            atomic_store_explicit(&ring->head, ring->next, memory_order_release);
    }
}

void mpi_ring_drain_messages(mpi_worker_t *worker)
{
    for (int s = 0; s < mpi_job->workers; s++)
        if (worker->in[s] != NULL)
            drain(worker, s, worker->in[s], MESSAGES);
}

bool mpi_poll(xy_worker_t *base)
{
    mpi_worker_t *worker = xy_worker_user(base);
    bool found = false;

    for (int s = 0; s < mpi_job->workers; s++)
        if (worker->in[s] != NULL)
            found |= drain(worker, s, worker->in[s], ALL_KINDS);
    if (__builtin_expect(worker->copies != NULL, 0))
        mpi_copies_make(worker);
    if (atomic_load_explicit(&worker->over, memory_order_relaxed) != NULL)
        nbc_complete(worker);
    if (atomic_load_explicit(&worker->posts, memory_order_relaxed) != NULL)
        nbc_threads_news(worker);
    if (!found && !xy_worker_has_ready(base)) {
        mpi_parallel_help(worker->index);
        found = nbc_help(worker);
    }
    return found;
}
