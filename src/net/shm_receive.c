/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading: messages where they lie in the ring, pieces of large buffers to where they belong. */
#include <string.h>

#include "net/shm.h"

enum { BATCH = 16 }; /* records in one poll */

void shm_take(xy_net_t *base, int from, uint64_t id, void *buffer, size_t bytes, void *token)
{
    shm_net_t *net = (shm_net_t *)base;
    shm_peer_t *p = &net->peers[from];

    if (!p->writes_here) {
        xy_net_take(net->far, from, id, buffer, bytes, token);
        return;
    }
    pthread_mutex_lock(&p->lock);
    if (!net_queue_take(&p->queue, id, buffer, bytes, token)) {
        p->is_broken = true;
        atomic_store(&p->is_full, true);
    }
    pthread_mutex_unlock(&p->lock);
}

static net_taken_t *find_taken(shm_peer_t *p, uint64_t id)
{
    net_taken_t *t = p->current;

    if (t != NULL && t->id == id)
        return t;
    pthread_mutex_lock(&p->lock);
    t = net_queue_find(&p->queue, id);
    pthread_mutex_unlock(&p->lock);
    return p->current = t;
}

/* Remove a buffer that has been received completely and report its token. */
static void end_taken(shm_net_t *net, shm_peer_t *p, net_taken_t *t)
{
    void *token;

    p->current = NULL;
    pthread_mutex_lock(&p->lock);
    token = net_queue_taken(&p->queue, t);
    pthread_mutex_unlock(&p->lock);
    net->base.events->done(net->base.context, token);
}

/* Take a piece of a large message. Returns the fault of the peer, or NULL. */
static const char *take_piece(shm_peer_t *p, const shm_record_t *record, size_t n)
{
    net_taken_t *t = find_taken(p, record->id);

    if (t == NULL || n == 0 || n > t->size - t->got)
        return "it has sent bytes that were not requested";
    memcpy(t->buffer + t->got, record->bytes, n);
    t->got += n;
    return NULL;
}

/* Take a record. Returns the fault of the peer, or NULL. The record is given back before the end of
 * a buffer is reported, so that the writer continues. */
static const char *take_record(shm_net_t *net, int from, const shm_record_t *record,
                               shm_kind_t kind, size_t bytes)
{
    shm_peer_t *p = &net->peers[from];
    const char *why = NULL;

    if (bytes > shm_most(net->ring_size))
        return "it has sent a message that is too long";
    switch (kind) {
    case SHM_KIND_SHORT:
        net->base.events->message(net->base.context, from, record->bytes, bytes);
        shm_next(&p->in, bytes);
        break;
    case SHM_KIND_DATA:
        why = take_piece(p, record, bytes);
        shm_next(&p->in, bytes);
        if (why == NULL && p->current->got == p->current->size)
            end_taken(net, p, p->current);
        break;
    case SHM_KIND_BYE:
        shm_next(&p->in, bytes);
        p->is_leaving = true;
        break;
    default:
        why = "it has sent an invalid message";
    }
    return why;
}

/* Its writer waits for room, and perhaps sleeps; one that is not told looks again soon. */
static void tell_room(shm_net_t *net, int from)
{
    shm_peer_t *p = &net->peers[from];

    if (atomic_load_explicit(&p->in.ring->wants_room, memory_order_relaxed) == 0)
        return;
    atomic_store_explicit(&p->in.ring->wants_room, 0, memory_order_relaxed);
    if (p->segment != NULL)
        shm_ring(net, from);
}

bool shm_receive(shm_net_t *net, int from)
{
    shm_peer_t *p = &net->peers[from];
    const shm_record_t *record;
    const char *why = NULL;
    shm_kind_t kind;
    size_t bytes;
    int n = 0;

    while (n < BATCH && why == NULL && (record = shm_look(&p->in, &kind, &bytes)) != NULL) {
        why = take_record(net, from, record, kind, bytes);
        n++;
    }
    if (n > 0)
        tell_room(net, from);
    if (why != NULL)
        shm_lose(net, from, why);
    return n > 0;
}

void shm_lose(shm_net_t *net, int process, const char *why)
{
    shm_peer_t *p = &net->peers[process];

    if (p->is_gone)
        return;
    p->is_gone = true;
    pthread_mutex_lock(&p->lock);
    p->is_broken = true;
    atomic_store_explicit(&p->has_output, false, memory_order_relaxed);
    pthread_mutex_unlock(&p->lock);
    if (!p->is_leaving && !net->is_closing)
        net->base.events->lost(net->base.context, process, why);
}

void shm_free_peer(shm_peer_t *p)
{
    net_queue_free(&p->queue);
    pthread_mutex_destroy(&p->lock);
}
