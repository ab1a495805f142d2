/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings: what one worker tells another. One single-producer, single-consumer ring per ordered pair
 * of workers; a cell is two cache lines, and a small message fits in the first with its flag, so
 * that it crosses in one cache-line transfer.
 *
 *   mpi_cell_t *cell = mpi_ring_reserve(worker, to);
 *   cell->kind = XMPI_CELL_DONE; cell->pointer = request;
 *   mpi_ring_commit(worker, to, cell);
 *
 * The consumer's poll function hands each cell to the handler of its kind. reserve polls this
 * worker's own rings while the other's is full, so two workers never block each other.
 */
#ifndef XY_MPI_RUNTIME_PACKET_H
#define XY_MPI_RUNTIME_PACKET_H

#include <stdatomic.h>
#include <stdint.h>

#include "mpi/runtime/match.h"
#include "mpi/runtime/rank.h"

typedef enum {
    XMPI_CELL_EAGER, /* a message whose bytes are in the cell or in a buffer the receiver frees */
    XMPI_CELL_RTS,   /* a message whose bytes stay with the sender: `pointer` is its send request */
    XMPI_CELL_DONE,  /* `pointer`: a send request of this worker whose bytes were taken */
    XMPI_CELL_CANCEL, /* `pointer`: a send request; drop its message if nobody took it */
    XMPI_CELL_COLL,   /* a step of a collective: `pointer` is its communicator's shared part */
    XMPI_CELL_COPY, /* `pointer`: a receive, and its `extra` a send, whose bytes wait for a copy */
    XMPI_CELL_LOOK, /* worker `to` has got a large message: match it if its ranks are busy */
    XMPI_CELL_KINDS
} mpi_cell_kind_t;

enum { XMPI_CELL_INLINE = 88, XMPI_RING_CELLS = 256 };

typedef struct {
    _Atomic uint32_t turn; /* release by the producer, acquire by the consumer: lap + 1 when full */
    uint16_t kind;
    uint16_t flags;
    int32_t to; /* world rank (p2p) or worker part (collectives) */
    mpi_envelope_t envelope;
    uint64_t bytes;
    void *pointer;
    union {
        char data[XMPI_CELL_INLINE];
        uint64_t words[XMPI_CELL_INLINE / 8];
    };
} mpi_cell_t;

_Static_assert(sizeof(mpi_cell_t) == 128, "a cell is two cache lines");

typedef struct mpi_ring {
    _Alignas(128) mpi_cell_t cells[XMPI_RING_CELLS];
    _Alignas(128) uint32_t tail;         /* producer's */
    uint32_t head_seen;                  /* producer's copy of head */
    xy_worker_t *reader;                 /* the consumer's thread */
    _Alignas(128) uint32_t next;         /* consumer's */
    uint32_t busy;                       /* consumer's: handlers running, nested through reserve */
    _Alignas(128) _Atomic uint32_t head; /* published by the consumer, release; producer acquires */
} mpi_ring_t;

/* The next cell, to be filled. Fill it quickly and commit: the consumer looks at its line all the
 * time, and takes it away between two stores that are far apart. */
void mpi_ring_wait_room(mpi_worker_t *worker, mpi_ring_t *ring);

static inline mpi_cell_t *mpi_ring_reserve(mpi_worker_t *worker, int to)
{
    mpi_ring_t *ring = worker->out[to];

    if (__builtin_expect(ring->tail - ring->head_seen == XMPI_RING_CELLS, 0))
        mpi_ring_wait_room(worker, ring);
    return &ring->cells[ring->tail % XMPI_RING_CELLS];
}

/* What `turn` of the cell at `position` is when it is full. */
static inline uint32_t mpi_ring_turn(uint32_t position)
{
    return position / XMPI_RING_CELLS + 1;
}

static inline void mpi_ring_commit(mpi_worker_t *worker, int to, mpi_cell_t *cell)
{
    mpi_ring_t *ring = worker->out[to];

    /* The release pairs with the acquire in drain(): the cell's contents go with it. */
    atomic_store_explicit(&cell->turn, mpi_ring_turn(ring->tail), memory_order_release);
    ring->tail++;
    xy_worker_ring(ring->reader);
}

/* Handlers, one per kind, called on the consuming worker. The cell is valid during the call. */
typedef void (*mpi_cell_fn)(mpi_worker_t *worker, int from, mpi_cell_t *cell);
extern const mpi_cell_fn mpi_cell_handlers[XMPI_CELL_KINDS];

/* Take what is about messages out of the rings of `worker`: its own thread, or a guest (gate.h).
 * Stops at cells that only the worker itself may handle. */
void mpi_ring_drain_messages(mpi_worker_t *worker);

/* The pool's poll function. */
bool mpi_poll(xy_worker_t *thread);

#endif
