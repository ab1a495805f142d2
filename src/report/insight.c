/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "report/search.h"
#include "report/timeline_internal.h"

/* ---- Sums by rank and site ---- */

/* The entry of a vector with this key, made on first use as `fresh`. NULL: no memory. */
static void *entry_of(xy_vec_t *all, xy_hash_t *index, uint64_t key, const void *fresh)
{
    uintptr_t at = (uintptr_t)xy_hash_get(index, key);

    if (at == 0) {
        if (xy_vec_append(all, fresh) != XY_OK ||
            xy_hash_set(index, key, (void *)(uintptr_t)all->count) != XY_OK)
            return NULL;
        at = all->count;
    }
    return (char *)all->data + (at - 1) * all->size;
}

static uint64_t key_of(uint32_t rank, uint32_t site, bool is_call)
{
    return (uint64_t)rank << 33 | (uint64_t)site << 1 | is_call;
}

/* ---- The critical path ---- */

typedef struct {
    const timeline_t *t;
    xy_insight_t *out;
    xy_hash_t index;
    int64_t begin; /* of the first rank */
} walk_t;

static xy_status_t add_part(walk_t *w, uint32_t rank, uint32_t site, bool is_call, int64_t ns)
{
    xy_path_part_t fresh = {.rank = rank, .site = site, .is_call = is_call}, *part;

    if (ns <= 0)
        return XY_OK;
    part = entry_of(&w->out->path, &w->index, key_of(rank, site, is_call), &fresh);
    if (part == NULL)
        return XY_ENOMEM;
    part->ns += (uint64_t)ns;
    w->out->path_ns += (uint64_t)ns;
    return XY_OK;
}

/* How many calls of the rank begin before `time`. */
static size_t calls_before(const timeline_t *t, uint32_t rank, int64_t time)
{
    const timeline_call_t *calls = timeline_calls(t, rank);
    size_t i;

    REPORT_SEARCH(i, t->rank[rank].calls, calls[i].enter < time);
    return i;
}

/* Add the rank's activity from `from` to `to`, without waiting: its calls, and computation that
 * belongs to the call behind it. */
static xy_status_t add_stretch(walk_t *w, uint32_t rank, int64_t from, int64_t to)
{
    const timeline_call_t *calls = timeline_calls(w->t, rank);
    size_t n = w->t->rank[rank].calls, i = calls_before(w->t, rank, to);
    xy_status_t st = XY_OK;

    for (; to > from && st == XY_OK; i--) {
        int64_t leave = i > 0 && calls[i - 1].leave > from ? calls[i - 1].leave : from;
        int64_t enter = i > 0 && calls[i - 1].enter > from ? calls[i - 1].enter : from;

        if (leave < to && i < n) /* up to now it was on its way to the next call */
            st = add_part(w, rank, calls[i].site, false, to - leave);
        else if (leave < to) /* behind its last call */
            leave = to;
        to = leave < to ? leave : to;
        if (st == XY_OK)
            st = add_part(w, rank, i > 0 ? calls[i - 1].site : 0, i > 0, to - enter);
        to = enter;
        if (i == 0)
            break;
    }
    return st;
}

/* The last wait of the rank that begins before `time`, or NULL. */
static const timeline_wait_t *wait_before(const timeline_t *t, uint32_t rank, int64_t time)
{
    const timeline_wait_t *waits = timeline_waits(t, rank);
    size_t i;

    REPORT_SEARCH(i, t->rank[rank].waits, waits[i].start < time);
    return i > 0 ? &waits[i - 1] : NULL;
}

/* Backwards from `time` on `rank`. Clocks of several processes may make ranks wait for each other
 * in a circle at one moment: then one of them keeps its wait. */
static xy_status_t walk_back(walk_t *w, uint32_t rank, int64_t time)
{
    uint32_t jumps = 0;
    xy_status_t st = XY_OK;

    while (time > w->begin && st == XY_OK) {
        const timeline_wait_t *wait = wait_before(w->t, rank, time);
        bool is_inside = wait != NULL && wait->end >= time;
        int64_t from = wait == NULL ? w->begin : is_inside ? wait->start : wait->end;

        if (is_inside && jumps++ <= w->t->ranks) {
            rank = wait->who;
            continue;
        }
        if (from < w->begin)
            from = w->begin;
        st = add_stretch(w, rank, from, time);
        time = from;
        jumps = 0;
    }
    return st;
}

static int by_length(const void *left, const void *right)
{
    const xy_path_part_t *a = left, *b = right;

    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->site < b->site ? -1 : a->site > b->site;
}

/* Finds the critical path back from the rank that ends last; parts are sorted by length. */
static xy_status_t find_path(const timeline_t *t, xy_insight_t *out)
{
    walk_t w = {.t = t, .out = out, .begin = t->rank[0].begin};
    uint32_t last = 0;
    xy_status_t st;

    for (uint32_t r = 1; r < t->ranks; r++) {
        if (t->rank[r].end > t->rank[last].end)
            last = r;
        if (t->rank[r].begin < w.begin)
            w.begin = t->rank[r].begin;
    }
    xy_hash_init(&w.index, XY_HASH_U64);
    st = walk_back(&w, last, t->rank[last].end);
    xy_hash_cleanup(&w.index);
    if (st == XY_OK && out->path.count > 0)
        qsort(out->path.data, out->path.count, sizeof(xy_path_part_t), by_length);
    return st;
}

/* ---- Late progress, small messages ---- */

static const char *function_of(const timeline_t *t, const timeline_call_t *call)
{
    return XY_VEC_AT(&t->profile->sites, xy_profile_site_t, call->site).function;
}

/* Something that the call completes could have moved before it. */
static bool was_ready(const timeline_t *t, const timeline_call_t *call)
{
    for (size_t i = call->started; i < call->end; i++)
        if (timeline_ready(t, i) < call->enter)
            return true;
    return false;
}

/* `since`: computation since the first call that started what this one completes. */
static xy_status_t add_late(const timeline_t *t, uint32_t rank, const timeline_call_t *call,
                            int64_t since, xy_hash_t *index)
{
    xy_late_t fresh = {.rank = rank, .site = call->site}, *late;
    int64_t ns = call->rest < since ? call->rest : since;

    if (call->started >= call->first || ns <= 0 || !was_ready(t, call))
        return XY_OK;
    late = entry_of(&t->profile->insight->late, index, key_of(rank, call->site, false), &fresh);
    if (late == NULL)
        return XY_ENOMEM;
    late->calls++;
    late->ns += (uint64_t)ns;
    return XY_OK;
}

/* Adds the calls of a rank that complete transfers late, with the computation since their start. */
static xy_status_t find_late(const timeline_t *t, uint32_t rank, xy_hash_t *index)
{
    const timeline_call_t *calls = timeline_calls(t, rank);
    xy_status_t st = XY_OK;
    int64_t since = 0;

    for (size_t i = 0; i < t->rank[rank].calls && st == XY_OK; i++) {
        bool is_first = i > 0 && timeline_starts(function_of(t, &calls[i - 1])) &&
                        (i < 2 || !timeline_starts(function_of(t, &calls[i - 2])));

        since = (is_first ? 0 : since) + calls[i].compute;
        if (timeline_completes(function_of(t, &calls[i])))
            st = add_late(t, rank, &calls[i], since, index);
    }
    return st;
}

/* The only message that a call sends, or NULL. */
static const xy_trace_step_t *small_of(const timeline_t *t, const timeline_call_t *call)
{
    const xy_trace_step_t *s = &t->log->steps[call->first];

    return call->end == call->first + 1 && s->kind == XY_TRACE_STEP_SENT &&
                   s->bytes <= XY_SMALL_BYTES
               ? s
               : NULL;
}

/* Nearly no computation is between them, so that one message could carry both. */
static xy_status_t find_small(const timeline_t *t, uint32_t rank, xy_hash_t *index)
{
    const timeline_call_t *calls = timeline_calls(t, rank);

    for (size_t i = 1; i < t->rank[rank].calls; i++) {
        const timeline_call_t *call = &calls[i], *before = &calls[i - 1];
        const xy_trace_step_t *s = small_of(t, call), *last = small_of(t, before);
        xy_small_t fresh = {.rank = rank, .site = call->site}, *small;

        if (s == NULL || last == NULL || s->peer != last->peer || call->site != before->site ||
            call->compute > call->leave - call->enter)
            continue;
        small =
            entry_of(&t->profile->insight->small, index, key_of(rank, call->site, false), &fresh);
        if (small == NULL)
            return XY_ENOMEM;
        small->messages++;
        small->bytes += s->bytes;
        small->ns += (uint64_t)(call->leave - call->enter);
    }
    return XY_OK;
}

static int by_late(const void *left, const void *right)
{
    const xy_late_t *a = left, *b = right;

    return a->ns != b->ns ? (a->ns > b->ns ? -1 : 1) : a->rank < b->rank ? -1 : a->rank > b->rank;
}

static int by_small(const void *left, const void *right)
{
    const xy_small_t *a = left, *b = right;

    return a->ns != b->ns ? (a->ns > b->ns ? -1 : 1) : a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Finds late progress and small messages of all ranks, most time first. */
static xy_status_t find_rest(const timeline_t *t, xy_insight_t *out)
{
    xy_hash_t late, small;
    xy_status_t st = XY_OK;

    xy_hash_init(&late, XY_HASH_U64);
    xy_hash_init(&small, XY_HASH_U64);
    for (uint32_t r = 0; r < t->ranks && st == XY_OK; r++) {
        st = find_late(t, r, &late);
        if (st == XY_OK)
            st = find_small(t, r, &small);
    }
    xy_hash_cleanup(&late);
    xy_hash_cleanup(&small);
    if (st == XY_OK && out->late.count > 0)
        qsort(out->late.data, out->late.count, sizeof(xy_late_t), by_late);
    if (st == XY_OK && out->small.count > 0)
        qsort(out->small.data, out->small.count, sizeof(xy_small_t), by_small);
    return st;
}

/* ---- All of it ---- */

static xy_status_t list_calls(const timeline_t *t, xy_insight_t *out)
{
    xy_status_t st = XY_OK;

    for (uint32_t r = 0; r < t->ranks; r++)
        for (size_t i = 0; i < t->rank[r].calls && st == XY_OK; i++) {
            const timeline_call_t *call = &timeline_calls(t, r)[i];

            st = xy_vec_append(&out->calls,
                               &(xy_trace_call_t){call->enter, call->leave, r, call->site});
        }
    return st;
}

xy_status_t timeline_find_insight(timeline_t *t)
{
    xy_insight_t *out = xy_calloc(1, sizeof(*out));
    xy_status_t st;

    if (out == NULL)
        return XY_ENOMEM;
    out->path = XY_VEC_INIT(xy_path_part_t);
    out->late = XY_VEC_INIT(xy_late_t);
    out->small = XY_VEC_INIT(xy_small_t);
    out->calls = XY_VEC_INIT(xy_trace_call_t);
    out->waits = XY_VEC_INIT(xy_trace_wait_t);
    t->profile->insight = out;
    out->site_of = xy_calloc(t->log->step_count + 1, sizeof(*out->site_of));
    if (out->site_of == NULL)
        return XY_ENOMEM;
    for (size_t i = 0; i < t->calls.count; i++) {
        const timeline_call_t *call = &XY_VEC_AT(&t->calls, timeline_call_t, i);

        out->site_of[call->first - 1] = call->site;
    }
    st = list_calls(t, out);
    if (st == XY_OK)
        st = find_path(t, out);
    return st == XY_OK ? find_rest(t, out) : st;
}

void xy_insight_destroy(xy_insight_t *insight)
{
    if (insight == NULL)
        return;
    xy_vec_cleanup(&insight->path);
    xy_vec_cleanup(&insight->late);
    xy_vec_cleanup(&insight->small);
    xy_vec_cleanup(&insight->calls);
    xy_vec_cleanup(&insight->waits);
    xy_free(insight->site_of);
    xy_free(insight);
}
