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
    shm_block_t *b = p->blocks;

    if (!put(p, SHM_KIND_SHORT, b->bytes, b->size, NULL, 0))
        return false;
    p->blocks = b->next;
    if (p->blocks == NULL)
        p->blocks_end = &p->blocks;
    xy_free(b);
    return true;
}

/* Move the first given buffer of a peer to the list of finished ones and wake a sleeper. Under the
 * peer's lock. */
static void finish(shm_net_t *net, shm_peer_t *p)
{
    shm_given_t *g = p->gives;

    p->gives = g->next;
    if (p->gives == NULL)
        p->gives_end = &p->gives;
    pthread_mutex_lock(&net->lock);
    g->next = net->finished;
    net->finished = g;
    atomic_store(&net->has_finished, true);
    pthread_mutex_unlock(&net->lock);
    if (atomic_load(&net->segment->sleepers) > 0)
        xy_net_wake(net->bell);
}

/* Write the next piece of the first given buffer into the ring; false if it has no room. Under the
 * peer's lock. */
static bool flush_piece(shm_net_t *net, shm_peer_t *p)
{
    shm_given_t *g = p->gives;
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

    while (has_room && !p->is_broken && (p->blocks != NULL || p->gives != NULL)) {
        has_room = p->blocks != NULL ? flush_block(p) : flush_piece(net, p);
        has_written |= has_room;
    }
    waits = !p->is_broken && (p->blocks != NULL || p->gives != NULL);
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
    shm_block_t *b = xy_malloc(sizeof(*b) + head_size + size);

    if (b == NULL) {
        xy_fail_memory("keeping a message for another process");
        p->is_broken = true;
        atomic_store(&p->is_full, true);
        return;
    }
    *b = (shm_block_t){.size = head_size + size};
    if (head_size > 0)
        memcpy(b->bytes, head, head_size);
    if (size > 0)
        memcpy(b->bytes + head_size, data, size);
    *p->blocks_end = b;
    p->blocks_end = &b->next;
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
    if (!p->is_broken && p->blocks == NULL)
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
    shm_given_t *g;

    if (p->segment == NULL) {
        xy_net_give(net->far, to, id, buffer, bytes, token);
        return;
    }
    g = xy_malloc(sizeof(*g));
    pthread_mutex_lock(&p->lock);
    if (g == NULL) {
        xy_fail_memory("giving a buffer to another process");
        p->is_broken = true;
        atomic_store(&p->is_full, true);
    } else {
        *g = (shm_given_t){.id = id, .bytes = buffer, .size = bytes, .token = token};
        *p->gives_end = g;
        p->gives_end = &g->next;
        flush(net, to);
    }
    pthread_mutex_unlock(&p->lock);
}
