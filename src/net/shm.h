/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shm transport: each process has a segment with one ring for each process that writes to it.
 * Another transport beside it (`far`: tcp, or an installed MPI) carries messages to a process whose
 * segment cannot be opened; each direction uses one of the two only. Its sockets (`bell`) are the
 * doorbell of sleepers, and detect processes that are gone.
 *
 *   sleeper                                  sender
 *   S1 sleepers := sleepers + 1, rung := 0   T1 publish a record
 *   S2 fence                                 T2 fence
 *   S3 look at the rings; found: no sleep    T3 sleepers == 0? done
 *   S4 sleep on the sockets                  T4 exchange rung with 1; was 0: ring
 *
 * Of S3 and T3 at least one sees the other side. `rung` saves the second ring for one sleep. A
 * thread that removes a ring polls: it sets `rung` to 0, since another thread may sleep on without
 * having noticed, and then looks at the rings.
 */
#ifndef XY_NET_SHM_H
#define XY_NET_SHM_H

#include <pthread.h>

#include "net/net_private.h"
#include "net/net_queue.h"
#include "net/shm_ring.h"

/* The beginning of a segment. */
typedef struct {
    uint64_t token; /* that its owner has told: this is the right one */
    _Alignas(128) _Atomic uint32_t sleepers;
    _Atomic uint32_t rung;
    _Alignas(128) char rings[];
} shm_segment_t;

typedef struct {
    pthread_mutex_t lock;   /* of all up to `is_full` */
    shm_segment_t *segment; /* of that process; NULL: it is reached through `far` */
    long pid;               /* its number, where it has a segment */
    shm_end_t out;
    net_queue_t queue;       /* takes: of what comes through the ring */
    bool is_broken;          /* nothing is written any more */
    _Atomic bool is_full;    /* memory ran out: a message to it is lost */
    _Atomic bool has_output; /* that waits for room */
    bool writes_here;        /* its data comes in `in` */
    /* The rest belongs to the thread that polls. */
    shm_end_t in;
    net_taken_t *current; /* the message that arrives now */
    bool is_leaving;      /* it has said BYE */
    bool is_gone;         /* nothing comes any more, and all know */
} shm_peer_t;

typedef struct {
    xy_net_t base;
    xy_net_t *far, *bell;   /* `bell` is `far` or belongs to it */
    xy_net_memory_t memory; /* of: */
    shm_segment_t *segment;
    size_t segment_size;
    uint64_t ring_size;
    bool has_far;     /* someone's messages come from `far` or go there */
    bool is_all_near; /* nobody's do so, in no process */
    bool is_closing;
    _Atomic unsigned looks; /* for something */
    _Atomic bool is_rung;   /* the sockets may have something */
    net_finished_t finished;
    shm_peer_t peers[];
} shm_net_t;

/* Something was written to a ring of that process, or read of its own: end its sleep. */
void shm_ring(shm_net_t *net, int to);
/* Write what the rings take of what waits. */
void shm_flush_all(shm_net_t *net);
void shm_send(xy_net_t *net, int to, const void *head, size_t head_size, const void *data,
              size_t size);
void shm_send_bye(shm_net_t *net, int to);
void shm_give(xy_net_t *net, int to, uint64_t id, const void *buffer, size_t bytes, void *token);
void shm_take(xy_net_t *net, int from, uint64_t id, void *buffer, size_t bytes, void *token);
/* Read what a ring has, up to a few records; true: something has come. */
bool shm_receive(shm_net_t *net, int from);
/* A process is gone: what it has left in its ring comes first. */
void shm_lose(shm_net_t *net, int process, const char *why);
void shm_free_peer(shm_peer_t *peer);

#endif
