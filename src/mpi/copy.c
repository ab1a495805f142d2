/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/copy.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Sharing costs two cache-line transfers for each piece; these sizes keep that under one percent.
 */
enum { SHARE_FROM = 256 << 10, PIECE = 64 << 10 };

typedef struct {
    /* generation << 32 | next piece. Release by the owner after the fields below, acquire by
     * helpers before they read them. */
    _Alignas(128) _Atomic uint64_t ticket;
    _Atomic(char *) to;
    _Atomic(const char *) from;
    _Atomic size_t bytes;
    _Alignas(
        128) _Atomic size_t done; /* pieces copied by helpers; release, acquired by the owner */
} slot_t;

static slot_t *slots; /* one per worker */
static int slot_count;
static _Alignas(128) _Atomic int open_slots;

xy_status_t mpi_copy_init(int workers)
{
    slots = aligned_alloc(128, (size_t)workers * sizeof(*slots));
    if (slots == NULL)
        return XY_ENOMEM;
    memset((void *)slots, 0, (size_t)workers * sizeof(*slots));
    slot_count = workers;
    return XY_OK;
}

void mpi_copy_cleanup(void)
{
    free((void *)slots);
    slots = NULL;
    slot_count = 0;
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static size_t piece_count(size_t bytes)
{
    return (bytes + PIECE - 1) / PIECE;
}

/* Take and copy the next piece of `s` if it still is the job the ticket says. */
static bool take_piece(slot_t *s)
{
    uint64_t ticket = atomic_load_explicit(&s->ticket, memory_order_acquire);
    size_t piece = (uint32_t)ticket;
    size_t bytes = atomic_load_explicit(&s->bytes, memory_order_relaxed);
    char *to = atomic_load_explicit(&s->to, memory_order_relaxed);
    const char *from = atomic_load_explicit(&s->from, memory_order_relaxed);
    size_t offset = piece * PIECE;

    if (offset >= bytes)
        return false;
    /* Success proves that the fields read above belong to this generation. */
    if (!atomic_compare_exchange_strong_explicit(&s->ticket, &ticket, ticket + 1,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return true; /* somebody was faster; look again */
    memcpy(to + offset, from + offset, bytes - offset < PIECE ? bytes - offset : PIECE);
    atomic_fetch_add_explicit(&s->done, 1, memory_order_release);
    return true;
}

bool mpi_copy_help(int worker)
{
    bool found = false;

    if (__builtin_expect(atomic_load_explicit(&open_slots, memory_order_relaxed) == 0, 1))
        return false;
    for (int i = 1; i < slot_count; i++)
        while (take_piece(&slots[(worker + i) % slot_count]))
            found = true;
    return found;
}

static void copy_shared(slot_t *s, char *to, const char *from, size_t bytes)
{
    uint64_t generation = (atomic_load_explicit(&s->ticket, memory_order_relaxed) >> 32) + 1;

    atomic_store_explicit(&s->to, to, memory_order_relaxed);
    atomic_store_explicit(&s->from, from, memory_order_relaxed);
    atomic_store_explicit(&s->bytes, bytes, memory_order_relaxed);
    atomic_store_explicit(&s->done, 0, memory_order_relaxed);
    atomic_store_explicit(&s->ticket, generation << 32, memory_order_release);
    atomic_fetch_add_explicit(&open_slots, 1, memory_order_relaxed);
    while (take_piece(s))
        continue;
    atomic_fetch_sub_explicit(&open_slots, 1, memory_order_relaxed);
    while (atomic_load_explicit(&s->done, memory_order_acquire) != piece_count(bytes))
        relax();
    atomic_store_explicit(&s->bytes, 0, memory_order_relaxed);
}

void mpi_copy(void *to, const void *from, size_t bytes)
{
    if (bytes >= SHARE_FROM && xy_pool_idle(mpi_job->pool) > 0)
        copy_shared(&slots[xy_worker_index(xy_worker_self())], to, from, bytes);
    else
        memcpy(to, from, bytes);
}
