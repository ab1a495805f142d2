/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings: messages from one worker to another. One single-producer, single-consumer ring per ordered
 * pair of workers; a packet is two cache lines, and a small message fits in the first with its
 * flag, so that it crosses in one cache-line transfer.
 *
 *   mpi_packet_t *packet = mpi_ring_reserve(worker, to);
 *   packet->kind = XMPI_PACKET_DONE; packet->pointer = request;
 *   mpi_ring_commit(worker, to, packet);
 *
 * The consumer's poll function hands each packet to the handler of its kind.
 *
 * No ring stays full forever. A rank that finds one full polls its worker's own rings until there
 * is room; these polls handle packets, and handlers may answer. A handler never waits: the packet
 * it handles would hold up the ring it came from, and two handlers on two workers would wait for
 * each other. When a ring is full, a handler puts its packets into a second ring behind it, in the
 * producer's memory (the *spill*), from which the producer's polls move them. While there is a
 * spill, `out` names it, so that packets stay in order and reserve is the same for both.
 */
#ifndef XY_MPI_RUNTIME_PACKET_H
#define XY_MPI_RUNTIME_PACKET_H

#include <stdatomic.h>
#include <stdint.h>

#include "match/match.h"
#include "mpi/runtime/rank.h"

typedef enum {
    XMPI_PACKET_EAGER, /* a message whose bytes are in the packet or in a buffer the receiver frees
                        */
    XMPI_PACKET_RTS, /* a message whose bytes stay with the sender: `pointer` is its send request */
    XMPI_PACKET_OFFER,  /* an eager message whose bytes are still in the sender's buffer: message.c
                         */
    XMPI_PACKET_DONE,   /* `pointer`: a send request of this worker whose bytes were taken */
    XMPI_PACKET_CANCEL, /* `pointer`: a send request; drop its message if it was not received */
    XMPI_PACKET_COLL,   /* a step of a collective: `pointer` is its communicator's shared part */
    XMPI_PACKET_COPY,   /* `pointer`: a receive, and its `partner`, whose bytes wait for a copy
                         */
    XMPI_PACKET_MATCH,  /* worker `to` has got a large message: match it if its ranks are busy */
    XMPI_PACKET_START,  /* rank `to` was spawned: begin it; `pointer` is its origin */
    XMPI_PACKET_KINDS
} mpi_packet_kind_t;

enum { XMPI_PACKET_INLINE = 88, XMPI_RING_PACKETS = 256 };

typedef struct {
    _Atomic uint32_t turn; /* release by the producer, acquire by the consumer: lap + 1 when full */
    uint8_t kind;
    uint8_t flags;
    union {
        uint16_t signature; /* p2p: of the sender's datatype */
        uint16_t step;      /* collectives: phase and round */
    };
    int32_t to; /* world rank (p2p) or worker part (collectives) */
    xy_envelope_t envelope;
    uint64_t bytes;
    void *pointer;
    union {
        char data[XMPI_PACKET_INLINE];
        uint64_t words[XMPI_PACKET_INLINE / 8];
    };
} mpi_packet_t;

_Static_assert(sizeof(mpi_packet_t) == 128, "a packet is two cache lines");

typedef struct mpi_ring {
    _Alignas(128) mpi_packet_t packets[XMPI_RING_PACKETS];
    _Alignas(128) uint32_t tail;   /* producer's */
    uint32_t head_seen;            /* producer's copy of head */
    _Atomic(xy_worker_t *) reader; /* the consumer's thread; of a spill, the producer's */
    struct mpi_ring *spill;        /* producer's: the ring behind this one, or NULL */
    unsigned offers_off;           /* producer's: so many messages are not offered (message.c), */
    unsigned offers_next;          /* and so many after the next offer that is not taken */
    _Alignas(128) uint32_t next;   /* consumer's */
    _Alignas(128) _Atomic uint32_t head; /* published by the consumer, release; producer acquires */
} mpi_ring_t;

/* The next packet, to be filled. Fill it quickly and commit: the consumer looks at its line all the
 * time, and takes it away between two stores that are far apart. */
void mpi_ring_make_room(mpi_worker_t *worker, int to);

static inline mpi_packet_t *mpi_ring_reserve(mpi_worker_t *worker, int to)
{
    mpi_ring_t *ring = worker->out[to];

    if (__builtin_expect(ring->tail - ring->head_seen == XMPI_RING_PACKETS, 0)) {
        mpi_ring_make_room(worker, to);
        ring = worker->out[to];
    }
    return &ring->packets[ring->tail % XMPI_RING_PACKETS];
}

/* May the next packet to worker `to` be reserved without waiting? */
static inline bool mpi_ring_has_room(mpi_worker_t *worker, int to)
{
    mpi_ring_t *ring = worker->out[to];

    /* The acquire pairs with the release in drain(), as in mpi_ring_wait_room. */
    if (ring->tail - ring->head_seen == XMPI_RING_PACKETS)
        ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
    return ring->tail - ring->head_seen < XMPI_RING_PACKETS;
}

/* The value of `turn` of a full packet at `position`. */
static inline uint32_t mpi_ring_turn(uint32_t position)
{
    return position / XMPI_RING_PACKETS + 1;
}

static inline void mpi_ring_commit(mpi_worker_t *worker, int to, mpi_packet_t *packet)
{
    mpi_ring_t *ring = worker->out[to];

    /* The release pairs with the acquire in drain(): the packet's contents go with it. */
    atomic_store_explicit(&packet->turn, mpi_ring_turn(ring->tail), memory_order_release);
    ring->tail++;
    atomic_signal_fence(memory_order_seq_cst); /* a reader that moves looks after it has set this */
    xy_worker_notify(atomic_load_explicit(&ring->reader, memory_order_relaxed));
}

/* A handler: called on the consuming worker; the packet is valid during the call (layer.h). */
typedef void (*mpi_packet_fn)(mpi_worker_t *worker, int from, mpi_packet_t *packet);

/* Handle what arrived for `worker` while its ranks compute: by its own thread as it leaves the
 * gate, or by a communication core (gate.h). Stops at packets that only the worker itself may
 * handle. */
void mpi_ring_drain_at_gate(mpi_worker_t *worker);

/* Handle what has arrived, and help others if there is nothing to do. */
bool mpi_poll(xy_worker_t *base);
/* The pool's poll function: the same where ranks do not move. */
bool mpi_poll_fixed(xy_worker_t *base);
/* For one worker of those on a core (move.h): what has arrived for it, without help for others; and
 * that help, for which it is the turn of `is_idle`, or of all HELP_EVERY. */
bool mpi_worker_poll(mpi_worker_t *worker);
bool mpi_worker_help(mpi_worker_t *worker);
/* From now on mpi_worker_t.progress_ns counts the time of polls that found something to do: packets
 * and mail of the worker, and work for others. Empty ones are waiting. Nests; any thread. A worker
 * that nobody asks does not look at the clock. */
void mpi_progress_time_start(mpi_worker_t *worker);
void mpi_progress_time_stop(mpi_worker_t *worker);

/* Free the spills of `worker`, at the end of the job. */
void mpi_ring_spills_destroy(mpi_worker_t *worker);

#endif
