/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/packet.h"

#include "mpi/runtime/layer.h"
#include "mpi/runtime/parallel.h"

enum { PUBLISH_EVERY = XMPI_RING_PACKETS / 4 };

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
 * which is in order: `head` is published from `next` only by the outermost drain of a ring. Stops
 * at a packet that has no handler. */
static bool drain(mpi_worker_t *worker, int from, mpi_ring_t *ring, const mpi_packet_fn *handlers)
{
    bool found = false;

    for (;;) {
        uint32_t position = ring->next;
        mpi_packet_t *packet = &ring->packets[position % XMPI_RING_PACKETS];
        mpi_packet_fn handle;

        if (atomic_load_explicit(&packet->turn, memory_order_acquire) != mpi_ring_turn(position))
            return found;
        handle = handlers[packet->kind];
        if (handle == NULL)
            return found;
        ring->next = position + 1;
        ring->busy++;
        handle(worker, from, packet);
        ring->busy--;
        found = true;
        if (ring->busy == 0 &&
            ring->next - atomic_load_explicit(&ring->head, memory_order_relaxed) >= PUBLISH_EVERY)
            atomic_store_explicit(&ring->head, ring->next, memory_order_release);
    }
}

void mpi_ring_drain_at_gate(mpi_worker_t *worker)
{
    for (int s = 0; s < mpi_job->workers; s++)
        if (worker->in[s] != NULL)
            drain(worker, s, worker->in[s], mpi_dispatch.gate_packet);
}

static bool has_mail(const mpi_worker_t *worker)
{
    _Static_assert(XMPI_MAIL_KINDS == 3, "all kinds are looked at");

    return atomic_load_explicit(&worker->mail[0], memory_order_relaxed) != NULL ||
           atomic_load_explicit(&worker->mail[1], memory_order_relaxed) != NULL ||
           atomic_load_explicit(&worker->mail[2], memory_order_relaxed) != NULL;
}

static void read_mail(mpi_worker_t *worker)
{
    for (int k = 0; k < XMPI_MAIL_KINDS; k++)
        if (atomic_load_explicit(&worker->mail[k], memory_order_relaxed) != NULL)
            mpi_dispatch.mail[k](worker);
}

bool mpi_poll(xy_worker_t *base)
{
    mpi_worker_t *worker = xy_worker_user(base);
    bool found = false;

    for (int s = 0; s < mpi_job->workers; s++)
        if (worker->in[s] != NULL)
            found |= drain(worker, s, worker->in[s], mpi_dispatch.packet);
    if (__builtin_expect(has_mail(worker), 0))
        read_mail(worker);
    if (!found && !xy_worker_has_ready(base)) {
        mpi_parallel_help(worker->index);
        found = mpi_layers_help(worker);
    }
    return found;
}
