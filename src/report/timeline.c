/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "report/search.h"
#include "report/timeline_internal.h"

bool timeline_starts(const char *function)
{
    return (strncmp(function, "MPI_I", 5) == 0 && strncmp(function, "MPI_Init", 8) != 0 &&
            strncmp(function, "MPI_Intercomm", 13) != 0) ||
           strncmp(function, "MPI_Start", 9) == 0;
}

bool timeline_completes(const char *function)
{
    return strncmp(function, "MPI_Wait", 8) == 0 || strncmp(function, "MPI_Test", 8) == 0;
}

static const char *label_of(const timeline_t *t, const xy_trace_step_t *s)
{
    return t->log->labels[s->label];
}

/* The core of each row: that of the machine, where it was recorded, or the row itself. */
static void find_cores(const timeline_t *t, uint32_t *core)
{
    const xy_trace_log_t *log = t->log;

    for (uint32_t r = 0; r < log->row_count; r++)
        core[r] = r;
    for (size_t i = 0; i < log->sample_count; i++)
        if (strcmp(log->counters[log->samples[i].counter].name, XY_TRACE_CORE) == 0 &&
            log->samples[i].value >= 0 && log->samples[i].value < UINT32_MAX)
            core[log->samples[i].row] = (uint32_t)log->samples[i].value;
}

static int by_core_and_time(const void *left, const void *right)
{
    const timeline_busy_t *a = left, *b = right;

    if (a->core != b->core)
        return a->core < b->core ? -1 : 1;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* Lists when which rank computes on each core. */
static xy_status_t find_busy(timeline_t *t)
{
    const xy_trace_log_t *log = t->log;
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < log->state_count && st == XY_OK; i++) {
        const xy_trace_state_t *s = &log->states[i];

        if (s->id >= 0 && s->id < t->ranks && s->end > s->start &&
            log->kinds[s->kind].role == XY_TRACE_COMPUTE)
            st = xy_vec_append(
                &t->busy, &(timeline_busy_t){s->start, s->end, t->core[s->row], (uint32_t)s->id});
    }
    if (t->busy.count > 0)
        qsort(t->busy.data, t->busy.count, sizeof(timeline_busy_t), by_core_and_time);
    return st;
}

/* ---- Calls ---- */

/* The computation of each rank, in the order of time: indices of states. */
typedef struct {
    const xy_trace_log_t *log;
    size_t *state, count, at;
} computing_t;

static bool is_computing(const xy_trace_log_t *log, const xy_trace_state_t *s, uint32_t rank)
{
    return s->id == (int64_t)rank && log->kinds[s->kind].role == XY_TRACE_COMPUTE &&
           s->end > s->start;
}

static xy_status_t find_computing(const timeline_t *t, uint32_t rank, uint32_t row, computing_t *c)
{
    const xy_trace_row_info_t *info = &t->log->rows[row];

    *c = (computing_t){.log = t->log, .state = xy_malloc((info->state_count + 1) * sizeof(size_t))};
    if (c->state == NULL)
        return XY_ENOMEM;
    for (size_t i = 0; i < info->state_count; i++)
        if (is_computing(t->log, &t->log->states[info->first_state + i], rank))
            c->state[c->count++] = info->first_state + i;
    return XY_OK;
}

/* When the rank next computes; times only grow from call to call. */
static int64_t next_start(computing_t *c, int64_t from, int64_t otherwise)
{
    while (c->at < c->count && c->log->states[c->state[c->at]].start < from)
        c->at++;
    return c->at < c->count && c->log->states[c->state[c->at]].start < otherwise
               ? c->log->states[c->state[c->at]].start
               : otherwise;
}

static xy_status_t make_site(timeline_t *t, const xy_trace_step_t *s, uint32_t *site_p)
{
    const char *place = s->site < t->log->site_count ? t->log->sites[s->site] : "";
    const char *slash = strrchr(place, '/');
    char text[320];

    if (t->line == NULL || !t->line(place, text, sizeof(text)))
        snprintf(text, sizeof(text), "%s", slash != NULL ? slash + 1 : place);
    return xy_profile_site(t->profile, label_of(t, s), text, site_p) ? XY_OK : XY_ENOMEM;
}

static void add_step(timeline_call_t *call, const xy_trace_step_t *s)
{
    if (s->kind == XY_TRACE_STEP_COLLECTIVE) {
        call->members = s->members;
        call->bytes += s->bytes * s->element;
    } else {
        call->bytes += s->bytes;
    }
}

/* Appends the call that starts at step `at`, with its computation before and its messages; `left`
 * becomes its end. */
static xy_status_t add_call(timeline_t *t, size_t at, size_t end, computing_t *computing,
                            int64_t *left)
{
    const xy_trace_step_t *s = &t->log->steps[at];
    int64_t next = end < t->log->step_count && t->log->steps[end].rank == s->rank
                       ? t->log->steps[end].time
                       : t->log->end;
    timeline_call_t call = {.enter = s->time, .first = at + 1, .end = end, .started = at + 1};
    xy_status_t st = make_site(t, s, &call.site);

    call.compute = call.enter - *left; /* or asleep */
    call.leave = next_start(computing, call.enter, next);
    for (size_t i = call.first; i < end; i++)
        add_step(&call, &t->log->steps[i]);
    *left = call.leave;
    return st == XY_OK ? xy_vec_append(&t->calls, &call) : st;
}

/* Operations of nonblocking calls belong to the next call that completes something. */
static void note_started(timeline_t *t, size_t *started)
{
    timeline_call_t *call = &XY_VEC_AT(&t->calls, timeline_call_t, t->calls.count - 1);
    const char *function = label_of(t, &t->log->steps[call->first - 1]);

    if (timeline_starts(function) && *started == SIZE_MAX)
        *started = call->first;
    if (timeline_completes(function) && *started != SIZE_MAX) {
        call->started = *started;
        *started = SIZE_MAX;
    }
}

static bool begins_counting(const char *label)
{
    return strncmp(label, "MPI_Init", 8) == 0 && strcmp(label, "MPI_Initialized") != 0;
}

/* From the end of MPI_Init, which is not counted itself. */
static xy_status_t add_rank(timeline_t *t, size_t first, size_t end)
{
    const xy_trace_step_t *steps = t->log->steps;
    timeline_rank_t *rank = &t->rank[steps[first].rank];
    computing_t computing;
    int64_t left = steps[first].time;
    size_t started = SIZE_MAX;
    xy_status_t st = find_computing(t, steps[first].rank, steps[first].row, &computing);

    rank->row = steps[first].row;
    rank->first_call = t->calls.count;
    for (size_t i = first; i < end && st == XY_OK;) {
        size_t next = i + 1;

        while (next < end && steps[next].kind != XY_TRACE_STEP_CALL)
            next++;
        if (steps[i].kind == XY_TRACE_STEP_CALL && begins_counting(label_of(t, &steps[i]))) {
            left = next_start(&computing, steps[i].time, next < end ? steps[next].time : left);
            rank->begin = left;
            rank->first_call = t->calls.count;
        } else if (steps[i].kind == XY_TRACE_STEP_CALL) {
            st = add_call(t, i, next, &computing, &left);
            if (st == XY_OK)
                note_started(t, &started);
        }
        i = next;
    }
    if (rank->begin == 0)
        rank->begin = steps[first].time;
    rank->end = left;
    rank->calls = t->calls.count - rank->first_call;
    xy_free(computing.state);
    return st;
}

static xy_status_t add_ranks(timeline_t *t)
{
    const xy_trace_log_t *log = t->log;
    xy_status_t st = XY_OK;

    for (size_t i = 0, end; i < log->step_count && st == XY_OK; i = end) {
        for (end = i; end < log->step_count && log->steps[end].rank == log->steps[i].rank;)
            end++;
        st = add_rank(t, i, end);
    }
    return st;
}

/* ---- Who meets whom ---- */

/* The n-th collective of a member on a communicator is the n-th of all. */
static xy_status_t join(timeline_t *t, xy_hash_t *counts, size_t step)
{
    const xy_trace_step_t *s = &t->log->steps[step];
    uint64_t comm = (uint64_t)s->context << 32 | s->first;
    uint64_t own = xy_hash_u64(comm) ^ ((uint64_t)s->rank + 1) * UINT64_C(0x9e3779b97f4a7c15);
    uintptr_t n = (uintptr_t)xy_hash_get(counts, own) + 1;
    uint64_t key = xy_hash_u64(comm) ^ (uint64_t)n * UINT64_C(0xbf58476d1ce4e5b9);
    uintptr_t at = (uintptr_t)xy_hash_get(&t->index, key);
    timeline_meeting_t *m;

    if (xy_hash_set(counts, own, (void *)n) != XY_OK)
        return XY_ENOMEM;
    if (at == 0) {
        timeline_meeting_t fresh = {.last = INT64_MIN, .root_time = INT64_MIN, .root = s->rank};

        if (xy_vec_append(&t->meetings, &fresh) != XY_OK ||
            xy_hash_set(&t->index, key, (void *)(uintptr_t)t->meetings.count) != XY_OK)
            return XY_ENOMEM;
        at = t->meetings.count;
    }
    m = &XY_VEC_AT(&t->meetings, timeline_meeting_t, at - 1);
    if (s->time > m->last)
        m->last = s->time;
    m->entries++;
    if (s->member == s->peer) {
        m->root_time = s->time;
        m->root = s->rank;
    }
    t->meeting_of[step] = at;
    return xy_vec_append(&t->entries, &(timeline_entry_t){s->time, at - 1, s->rank});
}

static int by_meeting_and_time(const void *left, const void *right)
{
    const timeline_entry_t *a = left, *b = right;

    if (a->meeting != b->meeting)
        return a->meeting < b->meeting ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Sorts who has entered collectives, so that each has its members in the order of time. */
static void order_entries(timeline_t *t)
{
    size_t first = 0;

    if (t->entries.count > 0)
        qsort(t->entries.data, t->entries.count, sizeof(timeline_entry_t), by_meeting_and_time);
    for (size_t i = 0; i < t->meetings.count; i++) {
        timeline_meeting_t *m = &XY_VEC_AT(&t->meetings, timeline_meeting_t, i);

        m->first = first;
        first += m->entries;
    }
}

/* Finds times of all messages, and joins the steps of each collective. */
static xy_status_t find_meetings(timeline_t *t)
{
    xy_status_t st = XY_OK;
    xy_hash_t counts;
    int64_t entered = 0;

    xy_hash_init(&counts, XY_HASH_U64);
    for (size_t i = 0; i < t->log->step_count && st == XY_OK; i++) {
        const xy_trace_step_t *s = &t->log->steps[i];

        if (s->kind == XY_TRACE_STEP_CALL)
            entered = s->time;
        else if (s->kind == XY_TRACE_STEP_SENT && s->message > 0)
            t->sent[s->message] = s->time;
        else if (s->kind == XY_TRACE_STEP_RECEIVED && s->message > 0)
            t->received[s->message] = s->time < entered ? s->time : entered;
        else if (s->kind == XY_TRACE_STEP_COLLECTIVE)
            st = join(t, &counts, i);
    }
    xy_hash_cleanup(&counts);
    order_entries(t);
    return st;
}

/* ---- Waits ---- */

/* The messages of such a call are asking for the lock, and getting it. */
static bool is_lock(const timeline_t *t, const timeline_call_t *call)
{
    return strncmp(label_of(t, &t->log->steps[call->first - 1]), "MPI_Win_lock", 12) == 0;
}

static bool is_synchronous(const timeline_t *t, const timeline_call_t *call)
{
    return strcmp(label_of(t, &t->log->steps[call->first - 1]), "MPI_Ssend") == 0;
}

/* A probe waits for the message that its rank receives next: that step, or SIZE_MAX. */
static size_t probed(const timeline_t *t, const timeline_call_t *call)
{
    const xy_trace_step_t *steps = t->log->steps;
    const char *label = label_of(t, &steps[call->first - 1]);

    if (strcmp(label, "MPI_Probe") != 0 && strcmp(label, "MPI_Mprobe") != 0)
        return SIZE_MAX;
    for (size_t i = call->end; i < t->log->step_count && steps[i].rank == steps[i - 1].rank; i++)
        if (steps[i].kind == XY_TRACE_STEP_RECEIVED)
            return i;
    return SIZE_MAX;
}

int64_t timeline_ready(const timeline_t *t, size_t step)
{
    const xy_trace_step_t *s = &t->log->steps[step];

    if (s->kind == XY_TRACE_STEP_RECEIVED && s->message > 0)
        return t->sent[s->message];
    if (s->kind == XY_TRACE_STEP_COLLECTIVE)
        return XY_VEC_AT(&t->meetings, timeline_meeting_t, t->meeting_of[step] - 1).last;
    return INT64_MAX;
}

/* Find the member that a collective waits for, and until when. From a root data moves without the
 * other members in virtual time. A member that leaves before the last has come has waited for those
 * before it. */
static int64_t until_met(const timeline_t *t, const timeline_call_t *call,
                         const timeline_meeting_t *m, uint32_t *who_p)
{
    const timeline_entry_t *entries = (const timeline_entry_t *)t->entries.data + m->first;
    const char *function = label_of(t, &t->log->steps[call->first - 1]);
    size_t i;

    if (m->root_time != INT64_MIN && t->log->clock == XY_TRACE_VIRTUAL &&
        (strcmp(function, "MPI_Bcast") == 0 || strncmp(function, "MPI_Scatter", 11) == 0)) {
        *who_p = m->root;
        return m->root_time;
    }
    REPORT_SEARCH(i, m->entries, entries[i].time <= call->leave + t->slack);
    if (i == 0)
        return call->enter;
    *who_p = entries[i - 1].rank;
    return entries[i - 1].time;
}

/* Until when the call waits because of a step, or its beginning. */
static int64_t until(const timeline_t *t, const timeline_call_t *call, size_t step,
                     timeline_wait_t *wait)
{
    const xy_trace_step_t *s = &t->log->steps[step];

    wait->who = s->peer;
    if (s->kind == XY_TRACE_STEP_RECEIVED && s->message > 0) {
        wait->part = is_lock(t, call) ? XY_PART_LOCK : XY_PART_LATE_SENDER;
        return t->sent[s->message];
    }
    if (s->kind == XY_TRACE_STEP_SENT && s->message > 0 &&
        (s->bytes > TIMELINE_EAGER || is_synchronous(t, call))) {
        wait->part = XY_PART_LATE_RECEIVER; /* if it has stayed until then */
        return t->received[s->message] <= call->leave ? t->received[s->message] : call->enter;
    }
    if (s->kind == XY_TRACE_STEP_COLLECTIVE) {
        wait->part = XY_PART_COLLECTIVE;
        return until_met(t, call,
                         &XY_VEC_AT(&t->meetings, timeline_meeting_t, t->meeting_of[step] - 1),
                         &wait->who);
    }
    return call->enter;
}

/* From `from` on nothing keeps a rank in its call but its core, while others compute there. */
static xy_status_t add_core_waits(timeline_t *t, uint32_t rank, size_t at, int64_t *from)
{
    int64_t leave = XY_VEC_AT(&t->calls, timeline_call_t, at).leave;
    const timeline_busy_t *busy = t->busy.data;
    uint32_t core = t->core[t->rank[rank].row];
    xy_status_t st = XY_OK;
    size_t i;

    REPORT_SEARCH(i, t->busy.count,
                  busy[i].core < core || (busy[i].core == core && busy[i].end <= *from));
    for (; st == XY_OK && i < t->busy.count && busy[i].core == core && busy[i].start < leave; i++) {
        timeline_wait_t w = {.start = busy[i].start > *from ? busy[i].start : *from,
                             .end = busy[i].end < leave ? busy[i].end : leave,
                             .who = busy[i].rank,
                             .call = at,
                             .part = XY_PART_CORE};

        if (busy[i].rank == rank || w.end <= w.start)
            continue;
        st = xy_vec_append(&t->waits, &w);
        *from = w.end;
    }
    return st;
}

/* Add its waits in the order of their ends: each takes over where the one before ends. */
static xy_status_t add_waits(timeline_t *t, uint32_t rank, size_t at)
{
    timeline_call_t *call = &XY_VEC_AT(&t->calls, timeline_call_t, at);
    int64_t from = call->enter;
    size_t probe = probed(t, call);
    bool is_nonblocking =
        strncmp(XY_VEC_AT(&t->profile->sites, xy_profile_site_t, call->site).function, "MPI_I",
                5) == 0;

    for (bool is_over = is_nonblocking; !is_over;) {
        timeline_wait_t best = {.end = INT64_MAX};

        for (size_t k = call->started; k <= call->end; k++) {
            size_t i = k < call->end ? k : probe;
            timeline_wait_t w = {.start = from, .call = at};

            w.end = i != SIZE_MAX ? until(t, call, i, &w) : from;
            if (w.end > call->leave)
                w.end = call->leave;
            if (w.end > from && w.end < best.end && w.who != rank && w.who < t->ranks)
                best = w;
        }
        is_over = best.end == INT64_MAX;
        if (!is_over && xy_vec_append(&t->waits, &best) != XY_OK)
            return XY_ENOMEM;
        from = is_over ? from : best.end;
    }
    if (add_core_waits(t, rank, at, &from) != XY_OK)
        return XY_ENOMEM;
    call->rest = call->leave - from;
    return XY_OK;
}

/* Finds the waits of all ranks, in order of their calls. */
static xy_status_t find_waits(timeline_t *t)
{
    xy_status_t st = XY_OK;

    for (uint32_t r = 0; r < t->ranks && st == XY_OK; r++) {
        timeline_rank_t *rank = &t->rank[r];

        rank->first_wait = t->waits.count;
        for (size_t i = 0; i < rank->calls && st == XY_OK; i++)
            st = add_waits(t, r, rank->first_call + i);
        rank->waits = t->waits.count - rank->first_wait;
    }
    return st;
}

/* ---- The profile ---- */

/* Returns the profile record of a call's site, members and size class, created if it is new; NULL
 * without memory. */
static xy_profile_record_t *record_of(timeline_t *t, xy_hash_t *index, uint32_t rank,
                                      const timeline_call_t *call)
{
    xy_profile_record_t key = {.rank = rank,
                               .site = call->site,
                               .members = call->members,
                               .size_class = xy_profile_class(call->bytes)};
    uint64_t hash = xy_hash_u64((uint64_t)rank << 32 | call->site) ^
                    ((uint64_t)call->members << 8 | key.size_class) * UINT64_C(0xbf58476d1ce4e5b9);
    uintptr_t at = (uintptr_t)xy_hash_get(index, hash);

    if (at == 0) {
        if (xy_vec_append(&t->profile->records, &key) != XY_OK ||
            xy_hash_set(index, hash, (void *)(uintptr_t)t->profile->records.count) != XY_OK)
            return NULL;
        at = t->profile->records.count;
    }
    return &XY_VEC_AT(&t->profile->records, xy_profile_record_t, at - 1);
}

/* Adds the causes of a wait to those of its record; the largest one goes to the page. */
static void blame(const timeline_wait_t *w, xy_blame_t all[XY_PROFILE_BLAMES],
                  xy_trace_wait_t *found)
{
    for (int i = 0; i < TIMELINE_ROOTS; i++) {
        const timeline_root_t *root = &w->root[i];
        int64_t ns = (int64_t)(root->share * (double)(w->end - w->start) + 0.5);

        if (root->share <= 0)
            continue;
        if (w->part != XY_PART_CORE) /* that is nobody's fault */
            xy_profile_blame(all, (int32_t)root->rank, root->site, (uint64_t)ns);
        if (ns > found->root_ns) {
            found->root = root->rank;
            found->root_place = root->site;
            found->root_end = root->end;
            found->root_ns = ns;
        }
    }
}

/* Adds a call with its waits and their root causes to a record; `wait` advances past them. */
static xy_status_t add_to_record(const timeline_t *t, xy_profile_record_t *r,
                                 const timeline_rank_t *rank, size_t at, size_t *wait)
{
    const timeline_call_t *call = &XY_VEC_AT(&t->calls, timeline_call_t, at);
    int64_t rest = call->leave - call->enter;

    r->calls++;
    r->bytes += call->bytes;
    r->compute += (uint64_t)call->compute;
    for (; *wait < rank->first_wait + rank->waits; ++*wait) {
        const timeline_wait_t *w = &XY_VEC_AT(&t->waits, timeline_wait_t, *wait);

        xy_trace_wait_t found = {
            .start = w->start, .end = w->end, .rank = r->rank, .kind = w->part, .who = w->who};

        if (w->call != at)
            break;
        r->part[w->part] += (uint64_t)(w->end - w->start);
        rest -= w->end - w->start;
        found.place = timeline_site_at(t, w->who, w->end);
        blame(w, r->blame, &found);
        if (xy_vec_append(&t->profile->insight->waits, &found) != XY_OK)
            return XY_ENOMEM;
    }
    r->part[XY_PART_LIBRARY] += rest > 0 ? (uint64_t)rest : 0;
    return XY_OK;
}

/* Builds the records of the profile from all calls. */
static xy_status_t add_records(timeline_t *t)
{
    xy_status_t st = XY_OK;
    xy_hash_t index;

    xy_hash_init(&index, XY_HASH_U64);
    for (uint32_t r = 0; r < t->ranks && st == XY_OK; r++) {
        const timeline_rank_t *rank = &t->rank[r];
        size_t wait = rank->first_wait;

        XY_VEC_AT(&t->profile->ranks, xy_profile_rank_t, r) = (xy_profile_rank_t){
            t->core[rank->row], rank->end > rank->begin ? (uint64_t)(rank->end - rank->begin) : 0};
        for (size_t i = 0; i < rank->calls && st == XY_OK; i++) {
            size_t at = rank->first_call + i;
            xy_profile_record_t *record =
                record_of(t, &index, r, &XY_VEC_AT(&t->calls, timeline_call_t, at));

            st = record != NULL ? add_to_record(t, record, rank, at, &wait) : XY_ENOMEM;
        }
    }
    xy_hash_cleanup(&index);
    return st;
}

/* Counts messages and bytes of each pair of ranks. */
static xy_status_t add_pairs(timeline_t *t)
{
    xy_status_t st = XY_OK;
    xy_hash_t index;

    xy_hash_init(&index, XY_HASH_U64);
    for (size_t i = 0; i < t->log->step_count && st == XY_OK; i++) {
        const xy_trace_step_t *s = &t->log->steps[i];
        uint64_t key = (uint64_t)s->rank << 32 | s->peer;
        uintptr_t at;

        if (s->kind != XY_TRACE_STEP_SENT || s->peer >= t->ranks)
            continue;
        at = (uintptr_t)xy_hash_get(&index, key);
        if (at == 0) {
            xy_profile_pair_t fresh = {s->rank, s->peer, 0, 0};

            st = xy_vec_append(&t->profile->pairs, &fresh);
            at = t->profile->pairs.count;
            if (st == XY_OK)
                st = xy_hash_set(&index, key, (void *)at);
        }
        if (st == XY_OK) {
            XY_VEC_AT(&t->profile->pairs, xy_profile_pair_t, at - 1).bytes += s->bytes;
            XY_VEC_AT(&t->profile->pairs, xy_profile_pair_t, at - 1).messages++;
        }
    }
    xy_hash_cleanup(&index);
    return st;
}

/* Free all that the timeline owns. */
static void cleanup(timeline_t *t)
{
    xy_free(t->rank);
    xy_free(t->sent);
    xy_free(t->received);
    xy_free(t->meeting_of);
    xy_free(t->core);
    xy_vec_cleanup(&t->calls);
    xy_vec_cleanup(&t->waits);
    xy_vec_cleanup(&t->meetings);
    xy_vec_cleanup(&t->entries);
    xy_vec_cleanup(&t->busy);
    xy_hash_cleanup(&t->index);
}

/* Builds the timeline and the profile from a log. */
static xy_status_t build(timeline_t *t)
{
    xy_status_t st = XY_OK;

    t->rank = xy_calloc(t->ranks, sizeof(*t->rank));
    t->sent = xy_calloc(t->log->message_count + 1, sizeof(*t->sent));
    t->received = xy_calloc(t->log->message_count + 1, sizeof(*t->received));
    t->meeting_of = xy_calloc(t->log->step_count + 1, sizeof(*t->meeting_of));
    t->core = xy_calloc(t->log->row_count + 1, sizeof(*t->core));
    if (t->rank == NULL || t->sent == NULL || t->received == NULL || t->meeting_of == NULL ||
        t->core == NULL)
        st = XY_ENOMEM;
    else
        find_cores(t, t->core);
    for (size_t i = 0; i < t->log->source_count; i++)
        if (2 * (int64_t)t->log->sources[i].error > t->slack)
            t->slack = 2 * (int64_t)t->log->sources[i].error;
    if (st == XY_OK)
        st = find_busy(t);
    if (st == XY_OK)
        st = add_ranks(t);
    if (st == XY_OK)
        st = find_meetings(t);
    if (st == XY_OK)
        st = find_waits(t);
    if (st == XY_OK)
        st = timeline_find_causes(t);
    if (st == XY_OK)
        st = timeline_find_insight(t);
    if (st == XY_OK)
        st = add_records(t);
    return st == XY_OK ? add_pairs(t) : st;
}

xy_status_t xy_profile_from_trace(const xy_trace_log_t *log, xy_site_fn line,
                                  xy_profile_t **profile_p)
{
    timeline_t t = {.log = log,
                    .line = line,
                    .calls = XY_VEC_INIT(timeline_call_t),
                    .waits = XY_VEC_INIT(timeline_wait_t),
                    .meetings = XY_VEC_INIT(timeline_meeting_t),
                    .entries = XY_VEC_INIT(timeline_entry_t),
                    .busy = XY_VEC_INIT(timeline_busy_t)};
    xy_status_t st;

    for (size_t i = 0; i < log->step_count; i++)
        if (log->steps[i].rank >= t.ranks)
            t.ranks = log->steps[i].rank + 1;
    if (t.ranks == 0 || t.ranks > XY_PROFILE_RANKS_MAX)
        return xy_fail(XY_EINVAL, "%s has no calls of ranks; record a run with 'mpiexec --trace'",
                       log->path);
    st = xy_profile_create(log->title, t.ranks, &t.profile);
    if (st != XY_OK)
        return st;
    xy_hash_init(&t.index, XY_HASH_U64);
    t.profile->is_virtual = log->clock == XY_TRACE_VIRTUAL;
    t.profile->has_roots = true;
    st = build(&t);
    cleanup(&t);
    if (st != XY_OK) {
        xy_profile_destroy(t.profile);
        return xy_fail_memory("reading a trace");
    }
    *profile_p = t.profile;
    return XY_OK;
}
