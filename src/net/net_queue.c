/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "net/net_queue.h"

void net_queue_init(net_queue_t *q)
{
    *q = (net_queue_t){.blocks = NULL};
    q->blocks_end = &q->blocks;
    q->gives_end = &q->gives;
}

static void free_given(net_given_t *first)
{
    for (net_given_t *g = first, *next; g != NULL; g = next) {
        next = g->next;
        xy_free(g);
    }
}

void net_queue_free(net_queue_t *q)
{
    while (q->blocks != NULL)
        net_queue_sent(q);
    free_given(q->gives);
    for (int i = 0; i < NET_BUCKETS; i++)
        for (net_taken_t *t = q->takes[i], *next; t != NULL; t = next) {
            next = t->next;
            xy_free(t);
        }
    net_queue_init(q);
}

bool net_queue_keep(net_queue_t *q, const struct iovec *pieces, size_t count, size_t sent)
{
    size_t total = 0, at = 0;
    net_block_t *b;

    for (size_t i = 0; i < count; i++)
        total += pieces[i].iov_len;
    b = xy_malloc(sizeof(*b) + total - sent);
    if (b == NULL) {
        xy_fail_memory("keeping a message for another process");
        return false;
    }
    *b = (net_block_t){.size = total - sent};
    for (size_t i = 0; i < count; i++) {
        size_t skip = sent < pieces[i].iov_len ? sent : pieces[i].iov_len;

        if (pieces[i].iov_len > skip)
            memcpy(b->bytes + at, (const char *)pieces[i].iov_base + skip,
                   pieces[i].iov_len - skip);
        at += pieces[i].iov_len - skip;
        sent -= skip;
    }
    *q->blocks_end = b;
    q->blocks_end = &b->next;
    return true;
}

void net_queue_sent(net_queue_t *q)
{
    net_block_t *b = q->blocks;

    q->blocks = b->next;
    if (q->blocks == NULL)
        q->blocks_end = &q->blocks;
    xy_free(b);
}

bool net_queue_give(net_queue_t *q, uint64_t id, const void *buffer, size_t bytes, void *token)
{
    net_given_t *g = xy_malloc(sizeof(*g));

    if (g == NULL) {
        xy_fail_memory("giving a buffer to another process");
        return false;
    }
    *g = (net_given_t){.id = id, .bytes = buffer, .size = bytes, .token = token};
    *q->gives_end = g;
    q->gives_end = &g->next;
    return true;
}

void net_queue_given(net_queue_t *q, net_given_t *g)
{
    net_given_t **at = &q->gives;

    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    if (g->next == NULL)
        q->gives_end = at;
}

static net_taken_t **bucket_of(net_queue_t *q, uint64_t id)
{
    return &q->takes[(id * 0x9e3779b97f4a7c15u >> 32) % NET_BUCKETS];
}

bool net_queue_take(net_queue_t *q, uint64_t id, void *buffer, size_t bytes, void *token)
{
    net_taken_t *t = xy_malloc(sizeof(*t)), **bucket = bucket_of(q, id);

    if (t == NULL) {
        xy_fail_memory("taking a buffer from another process");
        return false;
    }
    *t = (net_taken_t){.next = *bucket, .id = id, .buffer = buffer, .size = bytes, .token = token};
    *bucket = t;
    return true;
}

net_taken_t *net_queue_find(net_queue_t *q, uint64_t id)
{
    net_taken_t *t = *bucket_of(q, id);

    while (t != NULL && t->id != id)
        t = t->next;
    return t;
}

void *net_queue_taken(net_queue_t *q, net_taken_t *t)
{
    net_taken_t **at = bucket_of(q, t->id);
    void *token = t->token;

    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    xy_free(t);
    return token;
}

void net_finished_init(net_finished_t *f)
{
    pthread_mutex_init(&f->lock, NULL);
}

void net_finished_free(net_finished_t *f)
{
    free_given(f->first);
    pthread_mutex_destroy(&f->lock);
}

void net_finished_add(net_finished_t *f, net_given_t *g)
{
    pthread_mutex_lock(&f->lock);
    g->next = f->first;
    f->first = g;
    atomic_store(&f->has_some, true);
    pthread_mutex_unlock(&f->lock);
}

bool net_finished_report(net_finished_t *f, const xy_net_events_t *events, void *context)
{
    net_given_t *g;

    if (!atomic_load_explicit(&f->has_some, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&f->lock);
    g = f->first;
    f->first = NULL;
    atomic_store(&f->has_some, false);
    pthread_mutex_unlock(&f->lock);
    while (g != NULL) {
        net_given_t *next = g->next;
        void *token = g->token;

        xy_free(g);
        events->done(context, token);
        g = next;
    }
    return true;
}
