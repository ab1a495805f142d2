/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/packet.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/runtime/layer.h"
#include "mpi/runtime/move.h"
#include "mpi/runtime/parallel.h"

enum {
    PUBLISH_EVERY = XMPI_RING_PACKETS / 4,
    HELP_EVERY = 16 /* polls between two that help whether or not fibers are ready */
};

/* ---- Room ---- */

/* The ring that worker `to` reads. */
static mpi_ring_t *ring_to(const mpi_worker_t *worker, int to)
{
    return &mpi_job->rings[worker->index * mpi_job->workers + to];
}

static bool has_room(mpi_ring_t *ring)
{
    /* The acquire pairs with the release in drain(): the packets are free to write again. */
    ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
    return ring->tail - ring->head_seen < XMPI_RING_PACKETS;
}

/* Append a ring to the one that is full; the sender owns it until it is moved. Ends the job without
 * memory. */
static void spill(mpi_worker_t *worker, int to)
{
    mpi_ring_t *ring = aligned_alloc(_Alignof(mpi_ring_t), sizeof(*ring));

    if (ring == NULL) {
        xy_fail_memory("keeping packets for a core that does not take them");
        mpi_job->abort(1);
        abort(); /* not reached: the launcher ended the process */
    }
    memset((void *)ring, 0, sizeof(*ring));
    ring->reader = worker->base;
    worker->out[to]->spill = ring;
    worker->out[to] = ring;
    worker->spills++;
}

/* The first packets of the spill go into the ring in front of it. */
static void move_packets(mpi_ring_t *ring, mpi_ring_t *from)
{
    while (from->next != from->tail && has_room(ring)) {
        const mpi_packet_t *packet = &from->packets[from->next++ % XMPI_RING_PACKETS];
        mpi_packet_t *slot = &ring->packets[ring->tail % XMPI_RING_PACKETS];

        memcpy((char *)slot + sizeof(slot->turn), (const char *)packet + sizeof(packet->turn),
               sizeof(*packet) - sizeof(packet->turn));
        atomic_store_explicit(&slot->turn, mpi_ring_turn(ring->tail), memory_order_release);
        ring->tail++;
    }
    atomic_store_explicit(&from->head, from->next, memory_order_relaxed);
}

/* Move packets from spilled rings to the ring of a worker as far as it has room, and free empty
 * ones. */
static void unspill_to(mpi_worker_t *worker, int to)
{
    mpi_ring_t *ring = ring_to(worker, to), *first;

    while ((first = ring->spill) != NULL) {
        move_packets(ring, first);
        xy_worker_notify(ring->reader);
        if (first->next != first->tail)
            return;
        ring->spill = first->spill;
        if (worker->out[to] == first)
            worker->out[to] = ring;
        free(first);
        worker->spills--;
    }
}

/* True: packets are left that wait for room. */
static bool unspill(mpi_worker_t *worker)
{
    for (int to = 0; to < mpi_job->workers; to++)
        if (to != worker->index)
            unspill_to(worker, to);
    return worker->spills > 0;
}

void mpi_ring_spills_destroy(mpi_worker_t *worker)
{
    for (int to = 0; worker->spills > 0 && to < mpi_job->workers; to++)
        for (mpi_ring_t *ring = ring_to(worker, to)->spill, *next; ring != NULL; ring = next) {
            next = ring->spill;
            free(ring);
            worker->spills--;
        }
}

void mpi_ring_make_room(mpi_worker_t *worker, int to)
{
    unsigned looks = 0;

    if (has_room(worker->out[to]))
        return;
    if (worker->is_handling) {
        spill(worker, to);
        return;
    }
    /* Nothing stays in the spill either: this rank may not poll again for long. */
    do {
        xy_worker_notify(ring_to(worker, to)->reader);
        if (!mpi_poll(worker->base))
            xy_back_off(&looks);
    } while (worker->out[to] != ring_to(worker, to) || !has_room(worker->out[to]));
}

/* ---- Handling ---- */

/* Stops at a packet that has no handler. Handlers do not wait, so none runs inside another. */
static bool drain(mpi_worker_t *worker, int from, mpi_ring_t *ring, const mpi_packet_fn *handlers)
{
    bool found = false;

    for (;;) {
        uint32_t position = ring->next;
        mpi_packet_t *packet = &ring->packets[position % XMPI_RING_PACKETS];
        mpi_packet_fn handle;

        if (atomic_load_explicit(&packet->turn, memory_order_acquire) != mpi_ring_turn(position))
            return found;
        /* The next ones are often there already: their lines come while this one is handled. */
        __builtin_prefetch(&ring->packets[(position + 1) % XMPI_RING_PACKETS]);
        handle = handlers[packet->kind];
        if (handle == NULL)
            return found;
        worker->is_handling = true;
        handle(worker, from, packet);
        worker->is_handling = false;
        ring->next = position + 1;
        found = true;
        if (ring->next - atomic_load_explicit(&ring->head, memory_order_relaxed) >= PUBLISH_EVERY)
            atomic_store_explicit(&ring->head, ring->next, memory_order_release);
    }
}

void mpi_ring_drain_at_gate(mpi_worker_t *worker)
{
    for (int s = 0; s < mpi_job->workers && mpi_job->offloads; s++)
        if (worker->in[s] != NULL)
            drain(worker, s, worker->in[s], mpi_dispatch.gate_packet);
    if (atomic_load_explicit(&worker->network, memory_order_relaxed) != NULL)
        mpi_dispatch.gate_mail(worker);
}

static bool has_mail(const mpi_worker_t *worker)
{
    _Static_assert(XMPI_MAIL_KINDS == 4, "all kinds are looked at");

    return atomic_load_explicit(&worker->mail[0], memory_order_relaxed) != NULL ||
           atomic_load_explicit(&worker->mail[1], memory_order_relaxed) != NULL ||
           atomic_load_explicit(&worker->mail[2], memory_order_relaxed) != NULL ||
           atomic_load_explicit(&worker->mail[3], memory_order_relaxed) != NULL;
}

static void read_mail(mpi_worker_t *worker)
{
    for (int k = 0; k < XMPI_MAIL_KINDS; k++)
        if (atomic_load_explicit(&worker->mail[k], memory_order_relaxed) != NULL)
            mpi_dispatch.mail[k](worker);
}

static inline __attribute__((always_inline)) bool poll_worker(mpi_worker_t *worker)
{
    bool found = false;

    for (int s = 0; s < mpi_job->workers; s++)
        if (worker->in[s] != NULL)
            found |= drain(worker, s, worker->in[s], mpi_dispatch.packet);
    if (__builtin_expect(has_mail(worker), 0))
        read_mail(worker);
    if (__builtin_expect(worker->spills > 0, 0))
        found |= unspill(worker);
    return found;
}

bool mpi_worker_poll(mpi_worker_t *worker)
{
    return poll_worker(worker);
}

bool mpi_worker_help(mpi_worker_t *worker)
{
    bool found;

    worker->is_helping = true;
    found = mpi_layers_help(worker);
    if (__builtin_expect(worker->owing != NULL, 0))
        found |= mpi_dispatch.settle(worker);
    worker->is_helping = false;
    return found;
}

/* *helped_p: it has done something for another worker. */
static inline bool poll_once(xy_worker_t *base, bool *helped_p)
{
    mpi_worker_t *worker = xy_worker_user(base);
    bool found = poll_worker(worker);

    if (!found && !xy_worker_has_ready(base)) {
        worker->is_helping = true;
        *helped_p = mpi_parallel_help(worker->index);
        found = mpi_layers_help(worker);
        if (__builtin_expect(worker->owing != NULL, 0))
            found |= mpi_dispatch.settle(worker);
        worker->is_helping = false;
    } else if (__builtin_expect(++worker->polls % HELP_EVERY == 0, 0)) {
        /* Ranks that poll, and ranks that send messages to and fro, are ready again and again, and
         * what they wait for may depend on this work. */
        worker->is_helping = true;
        found |= mpi_layers_help(worker);
        worker->is_helping = false;
    }
    return found;
}

bool mpi_poll_fixed(xy_worker_t *base)
{
    bool has_helped;

    return poll_once(base, &has_helped);
}

bool mpi_poll(xy_worker_t *base)
{
    return mpi_job->moves != NULL ? mpi_core_poll(base) : mpi_poll_fixed(base);
}

/* ---- How long that takes, for those who ask ---- */

/* Poll once and add the time to the progress time of the worker if there was anything to do. */
static bool poll_timed(xy_worker_t *base)
{
    mpi_worker_t *worker = xy_worker_user(base);
    bool has_helped = false, had_mail = has_mail(worker);
    double begin = xy_now();
    bool found = mpi_job->moves != NULL ? mpi_core_poll(base) : poll_once(base, &has_helped);

    if (found || has_helped || had_mail) {
        uint64_t before = atomic_load_explicit(&worker->progress_ns, memory_order_relaxed);

        atomic_store_explicit(&worker->progress_ns, before + (uint64_t)(1e9 * (xy_now() - begin)),
                              memory_order_relaxed);
    }
    return found;
}

void mpi_progress_time_start(mpi_worker_t *worker)
{
    if (atomic_fetch_add(&worker->progress_timers, 1) == 0)
        xy_worker_set_poll(worker->base, poll_timed);
}

void mpi_progress_time_stop(mpi_worker_t *worker)
{
    if (atomic_fetch_sub(&worker->progress_timers, 1) == 1)
        xy_worker_set_poll(worker->base, mpi_job->moves != NULL ? mpi_core_poll : mpi_poll_fixed);
}
