/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/runtime_live.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t since;

uint64_t mpi_live_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t mpi_live_since(void)
{
    return since;
}

/* Forget times of an earlier observation. */
static void reset(mpi_live_t *live)
{
    atomic_store_explicit(&live->entered, 0, memory_order_relaxed);
    atomic_store_explicit(&live->left, 0, memory_order_relaxed);
}

xy_status_t mpi_live_begin(mpi_job_t *job)
{
    for (int r = 0; r < job->size; r++) {
        mpi_rank_t *rank = &job->ranks[r];

        if (!mpi_rank_is_here(job, r) ||
            (__atomic_load_n(&rank->observed, __ATOMIC_RELAXED) & XMPI_LOOK_LIVE) != 0)
            continue;
        if (rank->live == NULL) {
            mpi_live_t *live = aligned_alloc(XMPI_LINES, sizeof(*live));

            if (live == NULL)
                return xy_fail_memory("looking at ranks");
            memset((void *)live, 0, sizeof(*live));
            rank->live = live;
        }
        reset(rank->live);
        mpi_rank_observe(rank, XMPI_LOOK_LIVE); /* releases the pointer to those who read it */
    }
    if (since == 0)
        since = mpi_live_now();
    return XY_OK;
}

void mpi_live_end(mpi_job_t *job)
{
    since = 0;
    for (int r = 0; r < job->size; r++) {
        __atomic_fetch_and(&job->ranks[r].observed, (uint8_t)~XMPI_LOOK_LIVE, __ATOMIC_RELAXED);
        __atomic_fetch_and(&job->ranks[r].watched, (uint8_t)~XMPI_LOOK_LIVE, __ATOMIC_RELAXED);
    }
}

/* The counters of a rank that someone looks at; NULL: nobody does. The acquire pairs with the
 * release of mpi_live_begin. */
static mpi_live_t *live_of(const mpi_rank_t *self)
{
    return (__atomic_load_n(&self->watched, __ATOMIC_ACQUIRE) & XMPI_LOOK_LIVE) != 0 ? self->live
                                                                                     : NULL;
}

/* By one thread only. */
static void add(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

void mpi_live_enter(mpi_rank_t *self)
{
    mpi_live_t *live = live_of(self);

    if (live == NULL)
        return;
    atomic_store_explicit(&live->entered, mpi_live_now(), memory_order_relaxed);
    add(&live->calls, 1);
}

void mpi_live_leave(mpi_rank_t *self)
{
    mpi_live_t *live = live_of(self);

    if (live != NULL)
        atomic_store_explicit(&live->left, mpi_live_now(), memory_order_relaxed);
}

void mpi_live_sent(mpi_rank_t *self, uint64_t messages, uint64_t bytes)
{
    mpi_live_t *live = live_of(self);

    if (live == NULL)
        return;
    add(&live->messages, messages);
    add(&live->bytes, bytes);
}
