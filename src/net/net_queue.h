/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of a connection to another process: messages without room in the transport, and large
 * buffers that are given (sent) and taken (received) under a number. The caller holds the lock of
 * that connection. net_finished_t has a lock of its own.
 */
#ifndef XY_NET_NET_QUEUE_H
#define XY_NET_NET_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/uio.h>

#include "net/net.h"

enum { NET_BUCKETS = 64 };

/* A message, or the rest of one, that waits for room. */
typedef struct net_block {
    struct net_block *next;
    size_t size, sent;
    char bytes[];
} net_block_t;

typedef struct net_given {
    struct net_given *next;
    uint64_t id;
    const char *bytes;
    size_t size, begun, sent; /* of pieces that have begun; written */
    void *token;
} net_given_t;

typedef struct net_taken {
    struct net_taken *next;
    uint64_t id;
    char *buffer;
    size_t size, begun, got; /* of pieces that have begun; read */
    void *token;
} net_taken_t;

typedef struct {
    net_block_t *blocks, **blocks_end;
    net_given_t *gives, **gives_end;
    net_taken_t *takes[NET_BUCKETS];
} net_queue_t;

void net_queue_init(net_queue_t *q);
/* Free all that waits. */
void net_queue_free(net_queue_t *q);

/* False: out of memory, and the error is set. */

/* Keep a message without its first `sent` bytes. */
bool net_queue_keep(net_queue_t *q, const struct iovec *pieces, size_t count, size_t sent);
/* The first message has been sent. */
void net_queue_sent(net_queue_t *q);
bool net_queue_give(net_queue_t *q, uint64_t id, const void *buffer, size_t bytes, void *token);
/* Remove a given buffer, without freeing it. */
void net_queue_given(net_queue_t *q, net_given_t *g);
bool net_queue_take(net_queue_t *q, uint64_t id, void *buffer, size_t bytes, void *token);
/* NULL: nobody takes that one. */
net_taken_t *net_queue_find(net_queue_t *q, uint64_t id);
/* A taken buffer is full: free its entry. Returns the token. */
void *net_queue_taken(net_queue_t *q, net_taken_t *t);

/* Given buffers that have been sent, until the thread that polls reports them. */
typedef struct {
    pthread_mutex_t lock;
    net_given_t *first;
    _Atomic bool has_some;
} net_finished_t;

void net_finished_init(net_finished_t *f);
void net_finished_free(net_finished_t *f);
void net_finished_add(net_finished_t *f, net_given_t *g);
/* Call `done` for each and free them; true if there were any. Called without locks. */
bool net_finished_report(net_finished_t *f, const xy_net_events_t *events, void *context);

#endif
