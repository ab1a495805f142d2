/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Root causes of waits.
 *
 * Rank a waits for rank b since both have last met, at t:
 *
 *   a   t | works, waits ....| waits for b |
 *   b   t | works, waits . . . . . . . . . | comes
 *
 * So the wait is as long as b has worked longer than a, and waited longer than a. The first part is
 * blamed on b, the second one on the causes of the waits of b in that time, which have been found:
 * waits are looked at in the order of their ends.
 */
#include <stdlib.h>

#include "report/search.h"
#include "report/timeline_internal.h"

enum { CALLS_BACK = 64 };

uint32_t timeline_site_at(const timeline_t *t, uint32_t rank, int64_t time)
{
    const timeline_call_t *calls = timeline_calls(t, rank);
    size_t i;

    REPORT_SEARCH(i, t->rank[rank].calls, calls[i].leave < time);
    return i < t->rank[rank].calls ? calls[i].site : 0;
}

/* The call up to which the rank works longest between `from` and `to`, where it enters one. */
static uint32_t site_of_work(const timeline_t *t, uint32_t rank, int64_t from, int64_t to)
{
    const timeline_call_t *calls = timeline_calls(t, rank);
    uint32_t site = timeline_site_at(t, rank, to);
    int64_t most = 0;
    size_t i;

    REPORT_SEARCH(i, t->rank[rank].calls, calls[i].enter <= to);
    for (int back = 0; back < CALLS_BACK && i > 0 && calls[i - 1].enter > from; back++, i--) {
        int64_t start = calls[i - 1].enter - calls[i - 1].compute;
        int64_t work = calls[i - 1].enter - (start > from ? start : from);

        if (work > most) {
            most = work;
            site = calls[i - 1].site;
        }
    }
    return site;
}

/* The first wait of a rank that ends after `time`. */
static size_t wait_after(const timeline_t *t, uint32_t rank, int64_t time)
{
    const timeline_wait_t *waits = timeline_waits(t, rank);
    size_t i;

    REPORT_SEARCH(i, t->rank[rank].waits, waits[i].end <= time);
    return i;
}

/* How long the rank waits between two times. */
static int64_t waited(const timeline_t *t, uint32_t rank, int64_t from, int64_t to)
{
    const timeline_wait_t *waits = timeline_waits(t, rank);
    int64_t sum = 0;

    for (size_t i = wait_after(t, rank, from); i < t->rank[rank].waits && waits[i].start < to; i++)
        sum += (waits[i].end < to ? waits[i].end : to) -
               (waits[i].start > from ? waits[i].start : from);
    return sum;
}

/* Adds to the causes of a wait. What does not fit is added to the least. */
static void add_root(timeline_wait_t *w, const timeline_root_t *more, double share)
{
    int at = 0;

    for (int i = 0; i < TIMELINE_ROOTS; i++) {
        if (w->root[i].share > 0 && w->root[i].rank == more->rank &&
            w->root[i].site == more->site) {
            w->root[i].share += share;
            w->root[i].end = more->end;
            return;
        }
        if (w->root[i].share < w->root[at].share)
            at = i;
    }
    w->root[at] = (timeline_root_t){more->rank, more->site, more->end, w->root[at].share + share};
}

/* The causes of the waits of a rank between two times, which are `all` together. What has no causes
 * yet, by clocks of two processes, stays with the rank. Returns the share that has. */
static double add_causes(const timeline_t *t, timeline_wait_t *w, int64_t all, double share)
{
    const timeline_wait_t *waits = timeline_waits(t, w->who);
    double added = 0;

    for (size_t i = wait_after(t, w->who, w->met);
         i < t->rank[w->who].waits && waits[i].start < w->end; i++) {
        int64_t start = waits[i].start > w->met ? waits[i].start : w->met;
        int64_t end = waits[i].end < w->end ? waits[i].end : w->end;
        double part = share * (double)(end - start) / (double)all;

        for (int k = 0; k < TIMELINE_ROOTS && waits[i].root[0].share > 0; k++)
            if (waits[i].root[k].share > 0)
                add_root(w, &waits[i].root[k], part * waits[i].root[k].share);
        added += waits[i].root[0].share > 0 ? part : 0;
    }
    return added;
}

/* Find the causes of a wait: the ranks that worked meanwhile, and the causes of their waits. */
static void find_roots(const timeline_t *t, uint32_t rank, timeline_wait_t *w)
{
    int64_t others = waited(t, w->who, w->met, w->end);
    int64_t more_waits = others - waited(t, rank, w->met, w->start);
    int64_t more_work = w->end - w->start - more_waits;
    timeline_root_t own = {.rank = w->who, .end = w->end};
    double share = 0;

    if (more_waits > 0)
        share =
            add_causes(t, w, others,
                       more_work > 0 ? (double)more_waits / (double)(more_waits + more_work) : 1);
    if (share < 1) {
        own.site = site_of_work(t, w->who, w->met, w->end);
        add_root(w, &own, 1 - share);
    }
}

/* When ranks have met last, while the calls of one rank are looked at in order. */
typedef struct {
    xy_hash_t of_rank, of_comm; /* time + 1 */
    int64_t all;                /* in a collective of all ranks */
} met_t;

static int64_t met_before(const xy_hash_t *hash, uint64_t key)
{
    return (int64_t)(uintptr_t)xy_hash_get(hash, key) - 1;
}

/* The key of its communicator. */
static uint64_t comm_of(const xy_trace_step_t *s)
{
    return ((uint64_t)s->context << 32 | s->first) + 1;
}

/* When the rank of a wait in this call has last met the rank that it waits for. */
static int64_t find_met(const timeline_t *t, const met_t *met, const timeline_call_t *call,
                        const timeline_wait_t *w, int64_t begin)
{
    int64_t time = met->all > begin ? met->all : begin,
            other = met_before(&met->of_rank, (uint64_t)w->who + 1);

    time = other > time ? other : time;
    for (size_t i = call->started; i < call->end && w->part == XY_PART_COLLECTIVE; i++)
        if (t->log->steps[i].kind == XY_TRACE_STEP_COLLECTIVE) {
            other = met_before(&met->of_comm, comm_of(&t->log->steps[i]));
            time = other > time ? other : time;
        }
    return time < w->start ? time : w->start;
}

/* The rank has met others in a call. */
static xy_status_t note_met(const timeline_t *t, met_t *met, const timeline_call_t *call)
{
    xy_status_t st = XY_OK;

    for (size_t i = call->started; i < call->end && st == XY_OK; i++) {
        const xy_trace_step_t *s = &t->log->steps[i];
        int64_t time = call->leave;

        if (s->kind == XY_TRACE_STEP_COLLECTIVE) {
            time = XY_VEC_AT(&t->meetings, timeline_meeting_t, t->meeting_of[i] - 1).last;
            time = time < call->leave ? time : call->leave;
            st = xy_hash_set(&met->of_comm, comm_of(s), (void *)(uintptr_t)(time + 1));
            if (s->members == t->ranks)
                met->all = time;
        } else if (s->message > 0 &&
                   (s->kind == XY_TRACE_STEP_RECEIVED ||
                    (s->kind == XY_TRACE_STEP_SENT && s->bytes > TIMELINE_EAGER))) {
            st = xy_hash_set(&met->of_rank, (uint64_t)s->peer + 1, (void *)(uintptr_t)(time + 1));
        }
    }
    return st;
}

/* Finds when the ranks of each wait have last met. */
static xy_status_t find_meetings_before(timeline_t *t, uint32_t r)
{
    const timeline_rank_t *rank = &t->rank[r];
    met_t met = {.all = INT64_MIN};
    xy_status_t st = XY_OK;
    size_t at = rank->first_wait;

    xy_hash_init(&met.of_rank, XY_HASH_U64);
    xy_hash_init(&met.of_comm, XY_HASH_U64);
    for (size_t i = 0; i < rank->calls && st == XY_OK; i++) {
        const timeline_call_t *call = &timeline_calls(t, r)[i];

        for (; at < rank->first_wait + rank->waits; at++) {
            timeline_wait_t *w = &XY_VEC_AT(&t->waits, timeline_wait_t, at);

            if (w->call != rank->first_call + i)
                break;
            w->met = find_met(t, &met, call, w, rank->begin);
        }
        st = note_met(t, &met, call);
    }
    xy_hash_cleanup(&met.of_rank);
    xy_hash_cleanup(&met.of_comm);
    return st;
}

typedef struct {
    timeline_wait_t *wait;
    uint32_t rank;
} ending_t;

static int by_end(const void *left, const void *right)
{
    const timeline_wait_t *a = ((const ending_t *)left)->wait, *b = ((const ending_t *)right)->wait;

    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return a < b ? -1 : a > b; /* of one rank in the order of time */
}

xy_status_t timeline_find_causes(timeline_t *t)
{
    ending_t *order = xy_malloc((t->waits.count + 1) * sizeof(*order));
    xy_status_t st = order != NULL ? XY_OK : XY_ENOMEM;
    size_t n = 0;

    for (uint32_t r = 0; r < t->ranks && st == XY_OK; r++) {
        st = find_meetings_before(t, r);
        for (size_t i = 0; i < t->rank[r].waits; i++)
            order[n++] =
                (ending_t){&XY_VEC_AT(&t->waits, timeline_wait_t, t->rank[r].first_wait + i), r};
    }
    if (st == XY_OK && n > 0) {
        qsort(order, n, sizeof(*order), by_end);
        for (size_t i = 0; i < n; i++)
            find_roots(t, order[i].rank, order[i].wait);
    }
    xy_free(order);
    return st;
}
