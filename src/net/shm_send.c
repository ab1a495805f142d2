/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing: at once where the ring has room, else when it has. */
#include <string.h>

#include "net/shm.h"

enum { PIECE = 16 << 10 }; /* of a large buffer: read while the next is written */

void shm_ring(shm_net_t *net, int to)
{
    shm_segment_t *segment = net->peers[to].segment;

    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&segment->sleepers, memory_order_relaxed) != 0 &&
        atomic_exchange_explicit(&segment->rung, 1, memory_order_relaxed) == 0)
        xy_net_send(net->bell, to, "", 0, "", 0);
}

/* Write a record of one message into the ring; false if it has no room. The caller has the peer's
 * lock. */
static bool put(shm_peer_t *p, shm_kind_t kind, const void *head, size_t head_size,
                const void *data, size_t size)
{
    shm_record_t *record = shm_begin(&p->out, head_size + size);

    if (record == NULL)
        return false;
    record->id = 0;
    if (head_size > 0)
        memcpy(record->bytes, head, head_size);
    if (size > 0)
        memcpy(record->bytes + head_size, data, size);
    shm_end(&p->out, kind, head_size + size);
    return true;
}

static bool flush_block(shm_peer_t *p)
{
    const net_block_t *b = p->queue.blocks;

    if (!put(p, SHM_KIND_SHORT, b->bytes, b->size, NULL, 0))
        return false;
    net_queue_sent(&p->queue);
    return true;
}

/* Move the first given buffer of a peer to the list of finished ones and wake a sleeper. Under the
 * peer's lock. */
static void finish(shm_net_t *net, shm_peer_t *p)
{
    net_given_t *g = p->queue.gives;

    net_queue_given(&p->queue, g);
    net_finished_add(&net->finished, g);
    if (atomic_load(&net->segment->sleepers) > 0)
        xy_net_wake(net->bell);
}

/* Write the next piece of the first given buffer into the ring; false if it has no room. Under the
 * peer's lock. */
static bool flush_piece(shm_net_t *net, shm_peer_t *p)
{
    net_given_t *g = p->queue.gives;
    size_t left = g->size - g->sent, n = left < PIECE ? left : PIECE;
    shm_record_t *record = shm_begin(&p->out, n);

    if (record == NULL)
        return false;
    record->id = g->id;
    memcpy(record->bytes, g->bytes + g->sent, n);
    shm_end(&p->out, SHM_KIND_DATA, n);
    g->sent += n;
    if (g->sent == g->size)
        finish(net, p);
    return true;
}

/* With the lock of the peer. Messages come before the next piece of a buffer. */
static void flush(shm_net_t *net, int to)
{
    shm_peer_t *p = &net->peers[to];
    bool has_room = true, has_written = false, waits;

    while (has_room && !p->is_broken && (p->queue.blocks != NULL || p->queue.gives != NULL)) {
        has_room = p->queue.blocks != NULL ? flush_block(p) : flush_piece(net, p);
        has_written |= has_room;
    }
    waits = !p->is_broken && (p->queue.blocks != NULL || p->queue.gives != NULL);
    atomic_store_explicit(&p->has_output, waits, memory_order_relaxed);
    if (waits)
        atomic_store_explicit(&p->out.ring->wants_room, 1, memory_order_relaxed);
    if (has_written)
        shm_ring(net, to);
}

void shm_flush_all(shm_net_t *net)
{
    for (int to = 0; to < net->base.processes; to++) {
        shm_peer_t *p = &net->peers[to];

        if (!atomic_load_explicit(&p->has_output, memory_order_relaxed))
            continue;
        pthread_mutex_lock(&p->lock);
        flush(net, to);
        pthread_mutex_unlock(&p->lock);
    }
}

/* With the lock of the peer. */
static void keep(shm_peer_t *p, const void *head, size_t head_size, const void *data, size_t size)
{
    struct iovec pieces[2] = {{(void *)(uintptr_t)head, head_size},
                              {(void *)(uintptr_t)data, size}};

    if (!net_queue_keep(&p->queue, pieces, 2, 0)) {
        p->is_broken = true;
        atomic_store(&p->is_full, true);
        return;
    }
    atomic_store_explicit(&p->has_output, true, memory_order_relaxed);
    atomic_store_explicit(&p->out.ring->wants_room, 1, memory_order_relaxed);
}

void shm_send(xy_net_t *base, int to, const void *head, size_t head_size, const void *data,
              size_t size)
{
    shm_net_t *net = (shm_net_t *)base;
    shm_peer_t *p = &net->peers[to];
    bool is_written = false;

    if (p->segment == NULL) {
        xy_net_send(net->far, to, head, head_size, data, size);
        return;
    }
    pthread_mutex_lock(&p->lock);
    if (!p->is_broken && p->queue.blocks == NULL)
        is_written = put(p, SHM_KIND_SHORT, head, head_size, data, size);
    if (!is_written && !p->is_broken)
        keep(p, head, head_size, data, size);
    pthread_mutex_unlock(&p->lock);
    if (is_written)
        shm_ring(net, to);
}

/* When nothing waits any more. */
void shm_send_bye(shm_net_t *net, int to)
{
    shm_peer_t *p = &net->peers[to];

    pthread_mutex_lock(&p->lock);
    if (put(p, SHM_KIND_BYE, NULL, 0, NULL, 0)) {
        p->is_broken = true;
        shm_ring(net, to);
    }
    pthread_mutex_unlock(&p->lock);
}

void shm_give(xy_net_t *base, int to, uint64_t id, const void *buffer, size_t bytes, void *token)
{
    shm_net_t *net = (shm_net_t *)base;
    shm_peer_t *p = &net->peers[to];

    if (p->segment == NULL) {
        xy_net_give(net->far, to, id, buffer, bytes, token);
        return;
    }
    pthread_mutex_lock(&p->lock);
    if (net_queue_give(&p->queue, id, buffer, bytes, token)) {
        flush(net, to);
    } else {
        p->is_broken = true;
        atomic_store(&p->is_full, true);
    }
    pthread_mutex_unlock(&p->lock);
}
