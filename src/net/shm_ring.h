/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring of records in shared memory, from one process to another.
 *
 *   word (kind, bytes), id   (16 bytes)   then the bytes, up to a multiple of 64
 *
 * A record is there when its word is not 0. The writer clears the word behind a record before it
 * sets the record's own, so that old bytes of the previous round are never taken for a record. A
 * record does not wrap: the rest before the end is skipped. The reader reads one line that the
 * writer has filled, and nothing else is shared on the way; only a writer that finds the ring full
 * reads the position of the reader.
 *
 * One thread at a time writes, and one at a time reads.
 */
#ifndef XY_NET_SHM_RING_H
#define XY_NET_SHM_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHM_LINE = 64, SHM_HEAD = 16 };

typedef enum { SHM_KIND_SKIP = 1, SHM_KIND_SHORT, SHM_KIND_DATA, SHM_KIND_BYE } shm_kind_t;

typedef struct {
    _Atomic uint64_t word;
    uint64_t id;
    char bytes[];
} shm_record_t;

typedef struct {
    _Alignas(128) _Atomic uint64_t read; /* how far the reader is */
    _Atomic uint32_t wants_room;         /* the writer waits for it */
    _Alignas(128) char bytes[];
} shm_ring_t;

typedef struct {
    shm_ring_t *ring;
    uint64_t size; /* of its bytes, a power of two */
    uint64_t at;   /* counts on for ever */
    uint64_t read; /* of the ring, when last looked at */
} shm_end_t;

static inline shm_record_t *shm_record(const shm_end_t *end, uint64_t at)
{
    return (shm_record_t *)(void *)(end->ring->bytes + (at & (end->size - 1)));
}

static inline uint64_t shm_step(size_t bytes)
{
    return (SHM_HEAD + (uint64_t)bytes + SHM_LINE - 1) & ~(uint64_t)(SHM_LINE - 1);
}

/* The largest record that always finds room some day. */
static inline size_t shm_most(uint64_t size)
{
    return (size_t)size / 2 - 2 * SHM_LINE;
}

static inline void shm_publish(shm_end_t *end, uint64_t step, shm_kind_t kind, size_t bytes)
{
    shm_record_t *record = shm_record(end, end->at);

    end->at += step;
    atomic_store_explicit(&shm_record(end, end->at)->word, 0, memory_order_relaxed);
    atomic_store_explicit(&record->word, (uint64_t)kind << 32 | bytes, memory_order_release);
}

/* The writer: where a record of so many bytes goes; NULL: there is no room. */
static inline shm_record_t *shm_begin(shm_end_t *end, size_t bytes)
{
    uint64_t step = shm_step(bytes), rest = end->size - (end->at & (end->size - 1));
    uint64_t skip = step > rest ? rest : 0;

    if (end->at + skip + step + SHM_LINE - end->read > end->size) {
        end->read = atomic_load_explicit(&end->ring->read, memory_order_acquire);
        if (end->at + skip + step + SHM_LINE - end->read > end->size)
            return NULL;
    }
    if (skip > 0)
        shm_publish(end, skip, SHM_KIND_SKIP, 0);
    return shm_record(end, end->at);
}

/* ... and there it is. */
static inline void shm_end(shm_end_t *end, shm_kind_t kind, size_t bytes)
{
    shm_publish(end, shm_step(bytes), kind, bytes);
}

/* Any thread of the reader's process: is something there? */
static inline bool shm_is_filled(const shm_ring_t *ring, uint64_t size)
{
    uint64_t at = atomic_load_explicit(&ring->read, memory_order_relaxed) & (size - 1);
    const shm_record_t *record = (const shm_record_t *)(const void *)(ring->bytes + at);

    return atomic_load_explicit(&record->word, memory_order_relaxed) != 0;
}

/* The reader: the next record, or NULL. */
static inline const shm_record_t *shm_look(shm_end_t *end, shm_kind_t *kind_p, size_t *bytes_p)
{
    for (;;) {
        const shm_record_t *record = shm_record(end, end->at);
        uint64_t word = atomic_load_explicit(&record->word, memory_order_acquire);

        if (word == 0)
            return NULL;
        *kind_p = (shm_kind_t)(word >> 32);
        *bytes_p = (uint32_t)word;
        if (*kind_p != SHM_KIND_SKIP)
            return record;
        end->at += end->size - (end->at & (end->size - 1));
    }
}

/* ... has been read. */
static inline void shm_next(shm_end_t *end, size_t bytes)
{
    end->at += shm_step(bytes);
    atomic_store_explicit(&end->ring->read, end->at, memory_order_release);
}

#endif
