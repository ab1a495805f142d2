/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/runtime/trace.h"

typedef struct {
    /* generation << 32 | next piece, or CLOSED in place of the piece while the owner may write the
     * fields below: a helper that saw an older ticket then takes nothing. Release by the owner
     * after the fields, acquire by helpers before they read them. */
    _Alignas(128) _Atomic uint64_t ticket;
    _Atomic(mpi_piece_fn) fn;
    _Atomic(void *) arg;
    _Atomic int64_t pieces;             /* 0: no job */
    bool is_open;                       /* the owner's */
    _Alignas(128) _Atomic int64_t done; /* pieces done; release, acquired by the owner */
} slot_t;

#define CLOSED UINT64_C(0xffffffff)

static slot_t *slots; /* one per worker */
static int slot_count;
static _Alignas(128) _Atomic int open_slots;

xy_status_t mpi_work_init(int workers)
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

void mpi_work_cleanup(void)
{
    free((void *)slots);
    slots = NULL;
    slot_count = 0;
}

/* Take and do the next piece of `s`, if it still has the job that the ticket says. */
static bool take_piece(slot_t *s)
{
    uint64_t ticket = atomic_load_explicit(&s->ticket, memory_order_acquire);
    int64_t piece = (int64_t)(uint32_t)ticket;
    mpi_piece_fn fn = atomic_load_explicit(&s->fn, memory_order_relaxed);
    void *arg = atomic_load_explicit(&s->arg, memory_order_relaxed);

    /* The acquire pairs with the release below: whoever sees the pieces of the next job sees that
     * this one was closed, and its swap fails. */
    if (piece >= atomic_load_explicit(&s->pieces, memory_order_acquire))
        return false;
    /* Success proves that the fields read above belong to this generation. */
    if (!atomic_compare_exchange_strong_explicit(&s->ticket, &ticket, ticket + 1,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return true; /* somebody was faster; look again */
    fn(arg, piece);
    atomic_fetch_add_explicit(&s->done, 1, memory_order_release);
    return true;
}

bool mpi_work_help(int worker)
{
    bool found = false;
    mpi_trace_t *trace = mpi_job->worker[worker].trace;
    mpi_trace_state_t before;

    if (__builtin_expect(atomic_load_explicit(&open_slots, memory_order_relaxed) == 0, 1))
        return false;
    before = mpi_trace_begin(trace, "help");
    for (int i = 1; i < slot_count; i++)
        while (take_piece(&slots[(worker + i) % slot_count]))
            found = true;
    mpi_trace_end(trace, before);
    return found;
}

static void run_shared(slot_t *s, mpi_piece_fn fn, void *arg, int64_t pieces)
{
    uint64_t generation = (atomic_load_explicit(&s->ticket, memory_order_relaxed) >> 32) + 1;

    s->is_open = true;
    atomic_store_explicit(&s->fn, fn, memory_order_relaxed);
    atomic_store_explicit(&s->arg, arg, memory_order_relaxed);
    atomic_store_explicit(&s->done, 0, memory_order_relaxed);
    atomic_store_explicit(&s->pieces, pieces, memory_order_release);
    atomic_store_explicit(&s->ticket, generation << 32, memory_order_release);
    atomic_fetch_add_explicit(&open_slots, 1, memory_order_release);
    /* Communication cores have nothing else to do: out of bed. Other workers help if awake. */
    for (int w = slot_count - mpi_job->comm_workers; w < slot_count; w++)
        if (&slots[w] != s)
            xy_worker_ring(mpi_job->worker[w].thread);
    while (take_piece(s))
        continue;
    atomic_fetch_sub_explicit(&open_slots, 1, memory_order_relaxed);
    while (atomic_load_explicit(&s->done, memory_order_acquire) != pieces)
        xy_relax();
    atomic_store_explicit(&s->ticket, generation << 32 | CLOSED, memory_order_relaxed);
    s->is_open = false;
}

void mpi_work_run(mpi_piece_fn fn, void *arg, int64_t pieces)
{
    slot_t *s = &slots[xy_worker_index(xy_worker_self())];

    if (pieces > 1 && pieces < (int64_t)CLOSED && slot_count > 1 && !s->is_open) {
        run_shared(s, fn, arg, pieces);
        return;
    }
    for (int64_t i = 0; i < pieces; i++)
        fn(arg, i);
}

typedef struct {
    char *to;
    const char *from;
    size_t bytes;
} copy_t;

static void copy_piece(void *arg, int64_t piece)
{
    const copy_t *c = arg;
    size_t offset = (size_t)piece * XMPI_PIECE;
    size_t left = c->bytes - offset;

    memcpy(c->to + offset, c->from + offset, left < XMPI_PIECE ? left : XMPI_PIECE);
}

void mpi_copy(void *to, const void *from, size_t bytes)
{
    copy_t c = {to, from, bytes};

    if (bytes < 2 * XMPI_PIECE)
        memcpy(to, from, bytes);
    else
        mpi_work_run(copy_piece, &c, (int64_t)((bytes + XMPI_PIECE - 1) / XMPI_PIECE));
}
