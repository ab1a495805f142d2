/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Do the members agree about a collective? What they do not agree about would mix up their data in
 * silence, so the job ends, with the one report that there is.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/coll/star.h"

enum { TEXT = 160 };

static bool is_agreement(const coll_claim_t *c)
{
    return c->kind->collective == XY_COLL_COUNT;
}

/* "MPI_Barrier" or "MPI_Ibarrier"; an agreement has the name of the call that asks for it. */
static const char *name_of(const coll_claim_t *c, char text[TEXT])
{
    if (is_agreement(c))
        return (const char *)(uintptr_t)c->bytes;
    if (!c->is_nonblocking)
        return c->kind->name;
    snprintf(text, TEXT, "MPI_I%s", c->kind->name + strlen("MPI_"));
    text[5] = (char)tolower((unsigned char)text[5]);
    return text;
}

/* "rank 2 calls MPI_Bcast with root 1". */
static void describe(const mpi_coll_t *coll, const coll_claim_t *c, bool is_about_bytes,
                     char text[TEXT])
{
    const int *ranks = coll->group->ranks;
    char name[TEXT], detail[48] = "";

    if (is_about_bytes && !is_agreement(c))
        snprintf(detail, sizeof(detail), " with %llu bytes", (unsigned long long)c->bytes);
    else if (c->kind->is_rooted)
        snprintf(detail, sizeof(detail), " with root %d", c->root);
    snprintf(text, TEXT, "rank %d calls %s%s", ranks ? ranks[c->rank] : c->rank, name_of(c, name),
             detail);
}

void coll_disagree(const mpi_coll_t *coll, uint64_t number, const coll_claim_t *a,
                   const coll_claim_t *b)
{
    static _Atomic bool is_reported; /* several workers may find it at the same time */
    bool is_same = a->kind == b->kind && a->is_nonblocking == b->is_nonblocking;
    char text_a[TEXT], text_b[TEXT];

    /* The same function may be named by another copy of its name. */
    if (is_same && is_agreement(a) &&
        strcmp((const char *)(uintptr_t)a->bytes, (const char *)(uintptr_t)b->bytes) == 0)
        return;
    describe(coll, a, is_same && a->root == b->root, text_a);
    describe(coll, b, is_same && a->root == b->root, text_b);
    if (!atomic_exchange(&is_reported, true))
        xy_fail(XY_EINVAL,
                "ranks disagree about collective %llu of a communicator of %d ranks: %s, %s; all "
                "members must make the same calls in the same order",
                (unsigned long long)number + 1, coll->size, text_a, text_b);
    mpi_job->abort(1);
}

void coll_compare_scheduled(mpi_coll_t *coll, uint64_t number, const coll_claim_t *direct)
{
    coll_claim_t other;

    if (coll_engine_scheduled()->find(coll, number, &other))
        coll_disagree(coll, number, &other, direct);
}

/* What local group `index` knows of a collective that is not over there: of the slots of those that
 * meet, then of the stars. False: of none in slot `i`. */
static bool claim_of(const mpi_coll_t *coll, int index, int i, uint64_t *number_p,
                     coll_claim_t *claim_p)
{
    const coll_local_t *local = coll->local[index];
    const coll_slot_t *slot = &local->slots[i];

    if (i >= COLL_SLOTS)
        return coll_star_claim(local, i - COLL_SLOTS, number_p, claim_p);
    *number_p = coll_number_of(slot->seq, slot->mode);
    *claim_p =
        (coll_claim_t){slot->kind, slot->bytes, slot->root, slot->first, (slot->mode & 1) != 0};
    return slot->kind != NULL;
}

/* Do local groups `a` and `b` wait for different things? All workers are asleep. */
static void compare_groups(const mpi_coll_t *coll, int a, int b)
{
    uint64_t number, other_number;
    coll_claim_t claim, other;

    for (int i = 0; i < COLL_SLOTS + STAR_SLOTS; i++)
        for (int j = 0; j < COLL_SLOTS + STAR_SLOTS && claim_of(coll, a, i, &number, &claim); j++)
            if (claim_of(coll, b, j, &other_number, &other) &&
                coll_is_same_number(number, other_number) &&
                (claim.kind != other.kind || claim.root != other.root ||
                 claim.bytes != other.bytes || claim.is_nonblocking != other.is_nonblocking))
                coll_disagree(coll, number, &claim, &other);
}

/* A group that waits in a star has perhaps sent nothing to the one that it disagrees with. */
static void compare_waiting(const mpi_waiter_t *waiter)
{
    const mpi_coll_t *coll = NULL;

    for (int i = 0; waiter->count > 0 && i < waiter->waits_count; i++) {
        const mpi_request_t *request = waiter->waits[i];

        if (request != mpi_request_of(MPI_REQUEST_NULL) && request->kind == XMPI_KIND_COLL &&
            request->comm != NULL && request->comm->coll != coll) {
            coll = request->comm->coll;
            for (int p = 0; p < coll->locals; p++)
                compare_groups(coll, coll->local_of[request->comm->rank], p);
        }
    }
}

/* One that waits for a direct collective has perhaps seen its number taken by a scheduled one of
 * another rank, when it could no longer compare them. */
static void compare_with_schedules(const mpi_waiter_t *waiter)
{
    for (int i = 0; waiter->count > 0 && i < waiter->waits_count; i++) {
        const coll_call_t *call = coll_call_of_request(waiter->waits[i]);

        if (call != NULL && call->schedule == NULL &&
            atomic_load_explicit(&call->comm->coll->open_schedules, memory_order_acquire) > 0) {
            coll_claim_t claim = coll_claim_of(call);

            coll_compare_scheduled(call->comm->coll, call->number, &claim);
        }
    }
}

static void for_all_waiters(void (*fn)(const mpi_waiter_t *waiter))
{
    for (int r = 0; r < mpi_job->size; r++) {
        fn(&mpi_job->ranks[r].own);
        for (const mpi_thread_t *t = mpi_job->ranks[r].threads; t != NULL; t = t->next)
            fn(&t->waiter);
    }
}

/* No rank can move. */
void coll_compare_stuck(void)
{
    for_all_waiters(compare_waiting);
    for_all_waiters(compare_with_schedules);
}
