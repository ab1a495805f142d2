/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/p2p/polling.h"

#include <stdlib.h>
#include <string.h>

mpi_polling_t *mpi_polling;
_Atomic bool mpi_polling_is_timed;

#define QUICK_SECONDS 2e-6
#define LOOP_SECONDS  2e-7 /* the way out of a call, a loop around it, the clock, and the way in */

static bool is_timed(void)
{
    return __builtin_expect(atomic_load_explicit(&mpi_polling_is_timed, memory_order_relaxed), 0);
}

xy_status_t mpi_polling_start(const mpi_job_t *job)
{
    size_t bytes = (size_t)job->capacity * sizeof(*mpi_polling);
    mpi_polling_t *all = aligned_alloc(_Alignof(mpi_polling_t), bytes);

    if (all == NULL)
        return XY_ENOMEM;
    memset((void *)all, 0, bytes);
    mpi_polling = all;
    return XY_OK;
}

void mpi_polling_stop(void)
{
    free(mpi_polling);
    mpi_polling = NULL;
}

void mpi_polling_forget(const mpi_rank_t *rank)
{
    if (mpi_polling != NULL)
        memset((void *)&mpi_polling[rank->world], 0, sizeof(*mpi_polling));
}

/* A failed probe may take no longer than the way to the next one: that is no work of the program.
 */
static void time_begin(mpi_polling_t *p)
{
    double now = xy_now(), gap = now - p->left;

    if (p->left > 0) {
        *(gap < LOOP_SECONDS ? &p->inside : &p->outside) += gap;
        p->quick += gap < QUICK_SECONDS;
    }
    p->entered = now;
}

void mpi_polling_begin(const mpi_rank_t *self, mpi_request_t *const *requests, int count, bool any)
{
    mpi_polling_t *p;

    if (mpi_polling == NULL)
        return;
    p = &mpi_polling[self->world];
    p->requests = requests;
    p->count = count;
    p->is_any = any;
    p->is_inside = true;
    p->failed++;
    if (is_timed())
        time_begin(p);
}

static void time_end(mpi_polling_t *p)
{
    p->left = xy_now();
    if (p->entered > 0)
        p->inside += p->left - p->entered;
}

void mpi_polling_end(const mpi_rank_t *self)
{
    mpi_polling_t *p;

    if (mpi_polling == NULL)
        return;
    p = &mpi_polling[self->world];
    p->is_inside = false;
    if (is_timed())
        time_end(p);
    else
        p->entered = p->left = 0;
}

void mpi_polling_other(void)
{
    if (mpi_self != NULL && is_timed())
        mpi_polling[mpi_self->world].others++;
}
