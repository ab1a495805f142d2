/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Find the partners of waiting ranks in a snapshot.
 *
 * A rank in a collective waits for the members that have not called it yet: those that have called
 * fewer on the same communicator. The root of a wait is found by going from each rank to the one
 * that it waits for, while that one waits as well:
 *
 *   0 -> 1 -> 2 (computes)         2 is the root of both
 */
#include <string.h>

#include "report/live.h"
#include "report/search.h"

/* The first entry of a context. */
static size_t first_of(const xy_live_t *live, uint32_t context)
{
    const xy_live_calls_t *all = live->calls.data;
    size_t i;

    REPORT_SEARCH(i, live->calls.count, all[i].context < context);
    return i;
}

/* Find the members that a rank waits for: those that have called fewer collectives. */
static void find_missing(const xy_live_t *live, xy_live_rank_t *r)
{
    const xy_live_calls_t *all = live->calls.data;

    r->partners = 0;
    for (size_t i = first_of(live, r->context);
         i < live->calls.count && all[i].context == r->context && all[i].number <= r->number; i++) {
        if (all[i].rank == r->rank)
            continue;
        if (r->partners < XY_LIVE_PARTNERS)
            r->partner[r->partners] = all[i].rank;
        r->partners++;
    }
}

static xy_live_rank_t *find(const xy_live_t *live, int32_t rank)
{
    xy_live_rank_t *all = live->ranks.data;
    size_t i;

    REPORT_SEARCH(i, live->ranks.count, all[i].rank < rank);
    return i < live->ranks.count && all[i].rank == rank ? &all[i] : NULL;
}

/* The first partner of a rank; NULL: it does not wait, or for any of several. */
static xy_live_rank_t *next_of(const xy_live_t *live, const xy_live_rank_t *r)
{
    return r->state == XY_LIVE_WAIT && r->partners > 0 && r->partner[0] >= 0
               ? find(live, r->partner[0])
               : NULL;
}

/* With two steps at once, a circle is noticed: it has no root. */
static xy_live_rank_t *root_of(const xy_live_t *live, xy_live_rank_t *from)
{
    xy_live_rank_t *slow = from, *fast = from;

    for (;;) {
        for (int i = 0; i < 2; i++) {
            xy_live_rank_t *next = next_of(live, fast);

            if (next == NULL)
                return fast;
            fast = next;
        }
        slow = next_of(live, slow);
        if (slow == fast)
            return NULL;
    }
}

/* Partners of ranks in one collective are the same, so that most are found once. */
void xy_live_settle(xy_live_t *live)
{
    xy_live_rank_t *all = live->ranks.data;
    const xy_live_rank_t *last = NULL;

    for (size_t i = 0; i < live->ranks.count; i++) {
        xy_live_rank_t *r = &all[i];

        if (!r->is_collective || r->partners > 0)
            continue;
        if (last != NULL && last->context == r->context && last->number == r->number) {
            r->partners = last->partners;
            memcpy(r->partner, last->partner, sizeof(r->partner));
        } else {
            find_missing(live, r);
            last = r;
        }
    }
    for (size_t i = 0; i < live->ranks.count; i++) {
        xy_live_rank_t *root = all[i].state == XY_LIVE_WAIT ? root_of(live, &all[i]) : NULL;

        all[i].root = root != NULL && root != &all[i] ? root->rank : XY_LIVE_NOBODY;
        if (all[i].root != XY_LIVE_NOBODY)
            root->waiters++;
    }
}

static uint64_t time_of(const xy_live_t *live, uint32_t process)
{
    for (size_t i = 0; i < live->processes.count; i++)
        if (XY_VEC_AT(&live->processes, xy_live_process_t, i).number == process)
            return XY_VEC_AT(&live->processes, xy_live_process_t, i).time;
    return 0;
}

static double rate(uint64_t before, uint64_t now, double seconds)
{
    return now >= before ? (double)(now - before) / seconds : 0;
}

void xy_live_rates(xy_live_t *live, const xy_live_t *before)
{
    xy_live_rank_t *all = live->ranks.data;
    uint32_t process = UINT32_MAX;
    uint64_t then = 0, now = 0;

    for (size_t i = 0; i < live->ranks.count; i++) {
        const xy_live_rank_t *old = find(before, all[i].rank);

        if (all[i].process != process) {
            process = all[i].process;
            then = time_of(before, process);
            now = time_of(live, process);
        }
        if (old == NULL || then == 0 || now <= then)
            continue;
        all[i].call_rate = rate(old->calls, all[i].calls, 1e-9 * (double)(now - then));
        all[i].message_rate = rate(old->messages, all[i].messages, 1e-9 * (double)(now - then));
        all[i].byte_rate = rate(old->bytes, all[i].bytes, 1e-9 * (double)(now - then));
    }
}
