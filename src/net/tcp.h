/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tcp transport: one socket to each other process, and on it pieces of two kinds.
 *
 *   size, kind + 256 * number, id   (16 bytes, little-endian)   then `size` bytes
 *   SHORT: a message                DATA: the piece `number` of the buffer `id`
 *   BYE: no more follows
 *
 * On an encrypted connection, these bytes are in records (seal.h).
 *
 * With --net-interface A,B there is such a socket over each interface that all processes have, a
 * lane: peers[lane * processes + process]. Messages use the first lane. Each lane that has room
 * takes the next piece of the first buffer, so that a faster one carries more.
 *
 * Bytes that the socket does not take at once wait in memory (messages) or in the giver's buffer. A
 * large buffer is sent in pieces, between which messages overtake it.
 */
#ifndef XY_NET_TCP_H
#define XY_NET_TCP_H

#include <pthread.h>
#include <stdatomic.h>

#include "net/net_private.h"
#include "net/net_queue.h"
#include "net/seal.h"

enum {
    TCP_HEAD = 16,
    TCP_SHORT = (64 << 10) + XY_NET_HEADS, /* greatest short message */
    TCP_BUFFER = 2 * TCP_SHORT + 256,
    TCP_PIECE = 1 << 20,
    TCP_PIECE_LEAST = 64 << 10, /* between several lanes */
    TCP_LANES = 8,
    TCP_SEALED = 2 * NET_SEAL_RECORD,
};

_Static_assert((int)TCP_HEAD + (int)TCP_SHORT <= (int)NET_SEAL_MOST, "a message is one record");
_Static_assert(TCP_BUFFER - (TCP_HEAD + TCP_SHORT - 1) >= NET_SEAL_MOST,
               "a record has room behind the beginning of a message");

typedef enum { TCP_KIND_SHORT = 1, TCP_KIND_DATA, TCP_KIND_BYE } tcp_kind_t;

typedef struct tcp_peer {
    net_wire_t wire;        /* its fd is -1: closed */
    struct tcp_peer *first; /* on the first lane: its lock, gives and takes are those of all */
    pthread_mutex_t lock;   /* of all up to `is_broken` */
    net_queue_t queue;
    net_given_t *given; /* the buffer of the piece that is being sent */
    const char *piece;  /* the rest of it */
    uint8_t piece_head[TCP_HEAD];
    size_t piece_head_left, piece_left;
    uint8_t *sealed_out;             /* a record, where the connection is encrypted */
    size_t sealed_begin, sealed_end; /* the part that waits for room */
    bool is_broken;                  /* nothing can be written */
    _Atomic bool has_output;         /* that waits for room */
    /* The rest belongs to the thread that polls. */
    bool is_leaving; /* it has said BYE */
    bool is_used;    /* of a hub: it is somebody */
    bool is_parting; /* of a hub: this side has said BYE */
    bool is_gone;    /* nothing comes any more, and all know */
    char *buffer;
    size_t begin, end;    /* read, but not handled yet */
    net_taken_t *current; /* the buffer whose piece arrives now */
    char *current_at;     /* the rest of the piece */
    size_t current_left;
    uint8_t *sealed_in; /* records, where the connection is encrypted */
    size_t sealed_got;
} tcp_peer_t;

typedef struct {
    xy_net_t base;
    int epoll, event; /* the latter wakes who sleeps */
    _Atomic int sleeping;
    net_finished_t finished;
    xy_listener_t *listener; /* of a hub: who connects there becomes a peer; or NULL */
    int count;               /* of peers, on all lanes */
    tcp_peer_t peers[];
} tcp_net_t;

/* Write what the sockets take of what waits; without locks held. */
void tcp_flush_all(tcp_net_t *net);
/* A frame without bytes. */
void tcp_send_bye(tcp_net_t *net, int peer);
void tcp_send(xy_net_t *net, int to, const void *head, size_t head_size, const void *data,
              size_t size);
void tcp_give(xy_net_t *net, int to, uint64_t id, const void *buffer, size_t bytes, void *token);
void tcp_take(xy_net_t *net, int from, uint64_t id, void *buffer, size_t bytes, void *token);
/* Read once from a peer and call events; true: something has come. */
bool tcp_receive(tcp_net_t *net, int peer);
/* Close the connection; nothing comes from there any more, and nothing goes. By who polls. */
void tcp_shut(tcp_net_t *net, int peer);
/* Watch the socket of a peer, whose buffers come into being. */
xy_status_t tcp_start_peer(tcp_net_t *net, int peer);
/* Free what a peer has, but for its lock. */
void tcp_clear_peer(tcp_peer_t *p);
/* For the polling thread of a hub: somebody may have come to the listener; and those that both
 * sides have left are forgotten. */
bool tcp_hub_invite(tcp_net_t *net);
void tcp_hub_tidy(tcp_net_t *net);
void tcp_wake(xy_net_t *net);

static inline void tcp_lock(tcp_peer_t *p)
{
    pthread_mutex_lock(&p->first->lock);
}

static inline void tcp_unlock(tcp_peer_t *p)
{
    pthread_mutex_unlock(&p->first->lock);
}

/* Bytes of all pieces of a buffer but the last: at least two for each lane, if they are not small.
 */
static inline size_t tcp_piece(const tcp_net_t *net, size_t size)
{
    size_t part = size / (2 * (size_t)net->base.lanes);

    return net->base.lanes == 1 || part > TCP_PIECE ? TCP_PIECE
           : part < TCP_PIECE_LEAST                 ? TCP_PIECE_LEAST
                                                    : part;
}

static inline void tcp_put(uint8_t head[TCP_HEAD], size_t size, tcp_kind_t kind, size_t number,
                           uint64_t id)
{
    uint64_t first = (uint64_t)size | (uint64_t)kind << 32 | (uint64_t)number << 40;

    for (int i = 0; i < 8; i++) {
        head[i] = (uint8_t)(first >> 8 * i);
        head[8 + i] = (uint8_t)(id >> 8 * i);
    }
}

#endif
