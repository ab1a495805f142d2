/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/runtime/device.h"
#include "mpi/runtime/trace.h"

typedef struct {
    /* generation << 32 | next chunk, or CLOSED in place of the chunk while the owner may write the
     * fields below: a helper that saw an older ticket then takes nothing. Release by the owner
     * after the fields, acquire by helpers before they read them. */
    _Alignas(128) _Atomic uint64_t ticket;
    _Atomic(mpi_chunk_fn) fn;
    _Atomic(void *) arg;
    _Atomic int64_t chunks;             /* 0: no job */
    bool is_open;                       /* the owner's */
    _Alignas(128) _Atomic int64_t done; /* chunks done; release, acquired by the owner */
} slot_t;

#define CLOSED UINT64_C(0xffffffff)

static slot_t *slots; /* one per worker */
static int slot_count;
static _Alignas(128) _Atomic int open_slots;

xy_status_t mpi_parallel_init(int workers)
{
    slots = aligned_alloc(128, (size_t)workers * sizeof(*slots));
    if (slots == NULL)
        return XY_ENOMEM;
    memset((void *)slots, 0, (size_t)workers * sizeof(*slots));
    for (int w = 0; w < workers; w++)
        atomic_init(&slots[w].ticket, CLOSED);
    slot_count = workers;
    return XY_OK;
}

void mpi_parallel_cleanup(void)
{
    free((void *)slots);
    slots = NULL;
    slot_count = 0;
}

/* Take and do the next chunk of `s`, if it still has the job that the ticket says. */
static bool take_chunk(slot_t *s)
{
    uint64_t ticket = atomic_load_explicit(&s->ticket, memory_order_acquire);
    int64_t chunk = (int64_t)(uint32_t)ticket;
    mpi_chunk_fn fn = atomic_load_explicit(&s->fn, memory_order_relaxed);
    void *arg = atomic_load_explicit(&s->arg, memory_order_relaxed);

    /* The acquire pairs with the release below: a worker that sees the chunks of the next job sees
     * that this one was closed, and its swap fails. */
    if (chunk >= atomic_load_explicit(&s->chunks, memory_order_acquire))
        return false;
    /* Success proves that the fields read above belong to this generation. */
    if (!atomic_compare_exchange_strong_explicit(&s->ticket, &ticket, ticket + 1,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return true; /* another worker was faster; look again */
    fn(arg, chunk);
    atomic_fetch_add_explicit(&s->done, 1, memory_order_release);
    return true;
}

bool mpi_parallel_help(int worker)
{
    bool found = false;
    mpi_trace_t *trace = mpi_job->worker[worker].trace;
    mpi_trace_state_t before;

    if (__builtin_expect(atomic_load_explicit(&open_slots, memory_order_relaxed) == 0, 1))
        return false;
    before = mpi_trace_begin(trace, "help");
    for (int i = 1; i < slot_count; i++)
        while (take_chunk(&slots[(worker + i) % slot_count]))
            found = true;
    mpi_trace_end(trace, before);
    return found;
}

/* Share chunks with idle workers, take part in them, and return when all are done. */
static void run_shared(slot_t *s, mpi_chunk_fn fn, void *arg, int64_t chunks)
{
    uint64_t generation = (atomic_load_explicit(&s->ticket, memory_order_relaxed) >> 32) + 1;
    unsigned looks = 0;

    s->is_open = true;
    atomic_store_explicit(&s->fn, fn, memory_order_relaxed);
    atomic_store_explicit(&s->arg, arg, memory_order_relaxed);
    atomic_store_explicit(&s->done, 0, memory_order_relaxed);
    atomic_store_explicit(&s->chunks, chunks, memory_order_release);
    atomic_store_explicit(&s->ticket, generation << 32, memory_order_release);
    atomic_fetch_add_explicit(&open_slots, 1, memory_order_release);
    /* Communication cores have nothing else to do: wake them. Other workers help if awake. */
    for (int w = slot_count - mpi_job->comm_workers; w < slot_count; w++)
        if (&slots[w] != s)
            xy_worker_notify(mpi_job->worker[w].base);
    while (take_chunk(s))
        continue;
    atomic_fetch_sub_explicit(&open_slots, 1, memory_order_relaxed);
    while (atomic_load_explicit(&s->done, memory_order_acquire) != chunks)
        xy_back_off(&looks);
    atomic_store_explicit(&s->ticket, generation << 32 | CLOSED, memory_order_relaxed);
    s->is_open = false;
}

void mpi_parallel_run(mpi_chunk_fn fn, void *arg, int64_t chunks)
{
    const xy_worker_t *self = xy_worker_self(); /* NULL: the thread of the network */
    slot_t *s = self != NULL ? &slots[xy_worker_index(self)] : NULL;

    if (chunks > 1 && chunks < (int64_t)CLOSED && slot_count > 1 && s != NULL && !s->is_open) {
        run_shared(s, fn, arg, chunks);
        return;
    }
    for (int64_t i = 0; i < chunks; i++)
        fn(arg, i);
}

typedef struct {
    char *to;
    const char *from;
    size_t bytes;
} copy_t;

static void copy_chunk(void *arg, int64_t chunk)
{
    const copy_t *c = arg;
    size_t offset = (size_t)chunk * XMPI_CHUNK;
    size_t left = c->bytes - offset;

    memcpy(c->to + offset, c->from + offset, left < XMPI_CHUNK ? left : XMPI_CHUNK);
}

void mpi_copy(void *to, const void *from, size_t bytes)
{
    copy_t c = {to, from, bytes};

    if (__builtin_expect(mpi_device_is_used, 0) && mpi_device_copy(to, from, bytes))
        return;
    if (bytes < 2 * XMPI_CHUNK)
        memcpy(to, from, bytes);
    else
        mpi_parallel_run(copy_chunk, &c, (int64_t)((bytes + XMPI_CHUNK - 1) / XMPI_CHUNK));
}
