/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers of a rank are found by their addresses (span.h), by their request, or by the window
 * whose epoch ends them.
 */
#include "mpi/check/pending.h"

#include <string.h>
#include <sys/queue.h>

#include "mpi/check/allocations.h"
#include "mpi/check/area.h"
#include "mpi/check/check.h"
#include "mpi/check/cores.h"
#include "mpi/check/elements.h"
#include "mpi/check/facts.h"
#include "mpi/check/findings.h"
#include "mpi/check/guard.h"
#include "mpi/check/read_only.h"
#include "mpi/check/span.h"
#include "mpi/rma/rma.h"

typedef struct pending {
    check_span_t span; /* first */
    LIST_ENTRY(pending) with_request, with_window, with_receives, with_fresh, with_met;
    const mpi_request_t *request; /* NULL: of a one-sided operation, which the epoch of */
    const struct mpi_win *win;    /* ... ends, */
    int target;                   /* ... or a flush of this member */
    check_area_t area;
    mpi_type_t *type; /* held */
    const char *call;
    const void *site;
    bool is_receive, is_told;
    bool is_met;     /* its message may have come */
    bool is_fresh;   /* the program has not run since the bytes were last seen */
    bool is_hashed;  /* false: data may have come at any time */
    bool is_arrived; /* the message is in the buffer, and the program does not know yet */
    bool is_vector;  /* counts or displacements of a collective, */
    uint64_t block;  /* ... in this block of the heap; 0: in none */
    uint64_t hash;   /* of the bytes at the start, or then; not of those that are guarded */
    uint64_t parts;  /* calls that name one area together, one behind the other */
    uint64_t heap;   /* check_allocations_changes at the start */
    int guard;       /* of the whole pages of a receive buffer (guard.h) */
    ptrdiff_t apart; /* from a receive buffer to the memory that is used in its place; or 0 */
    void *memory;    /* to be freed with it */
} pending_t;

LIST_HEAD(list, pending);
typedef struct list list_t;

/* The pending operations of a rank. */
enum { CHAINS = 64 };
typedef struct {
    check_spans_t spans;
    list_t requests[CHAINS]; /* by hash of the request */
    list_t window;           /* one-sided ones */
    list_t receives;         /* of all */
    list_t fresh;            /* to be noted when the rank returns to its program */
    list_t met;              /* receives */
    list_t spares;
    int in_windows;
    int guarded;
    int unsettled;  /* receive buffers of collectives and files whose data may still come */
    uint32_t lifts; /* of guards, when those here were last raised */
    const mpi_request_t *partial; /* of a buffer that was not kept */
} ours_t;

static ours_t *ours; /* [ranks] */

/* Buffers that a rank has passed at the same place before, and that were right: most are passed
 * again and again, and variables and their types are slow to find. Blocks of the heap may have
 * changed since. A place that another frame passes the same address from is taken for the same. */
typedef struct {
    const void *site;
    const char *low, *high;
    const mpi_type_t *type;
    uint64_t changes; /* of the heap, then */
    bool is_in_heap;
} seen_t;
enum { SEEN = 256, WAYS = 2 };
static seen_t (*seen)[SEEN][WAYS]; /* [ranks], the latest first */

/* Buffers of one-sided operations per rank: an epoch may have very many, and the first will do. */
enum { WINDOW_MOST = 8192 };

xy_status_t check_pending_begin(int ranks)
{
    ours = xy_calloc((size_t)ranks, sizeof(*ours));
    seen = xy_calloc((size_t)ranks, sizeof(*seen));
    if (ours == NULL || seen == NULL)
        return xy_fail_memory("checking the program");
    return XY_OK;
}

static list_t *chain_of(ours_t *o, const mpi_request_t *request)
{
    return &o->requests[xy_hash_u64((uintptr_t)request) % CHAINS];
}

/* A receive buffer in which other ranks may have put parts of their data. */
static bool is_unsettled(const pending_t *p)
{
    return p->is_receive && !p->is_hashed && p->request != NULL && p->win == NULL;
}

/* A hash of the bytes that are not guarded. */
static uint64_t hash_of(const pending_t *p)
{
    const char *low, *high;
    uint64_t hash;

    if (p->guard < 0)
        return check_area_hash_parts(&p->area, p->parts);
    check_guard_range(p->guard, &low, &high);
    hash = check_area_hash_bytes(0, p->area.low, (size_t)(low - p->area.low));
    return check_area_hash_bytes(hash, high, (size_t)(p->area.high - high));
}

static void end_guard(ours_t *o, pending_t *p)
{
    o->guarded -= p->guard >= 0;
    check_guard_end(p->guard);
    p->guard = -1;
}

/* Raise the guard of a buffer and note its bytes. */
static void note(ours_t *o, pending_t *p)
{
    if (p->is_fresh)
        LIST_REMOVE(p, with_fresh);
    p->is_fresh = false;
    check_guard_renew(p->guard);
    if (check_guard_touched(p->guard) == NULL && !check_guard_is_up(p->guard))
        end_guard(o, p);
    if (p->is_hashed)
        p->hash = hash_of(p);
}

/* The same before the program runs again: at the end of the call, whose own changes are right. */
static void note_later(const mpi_rank_t *self, pending_t *p)
{
    ours_t *o = &ours[self->world];

    if (self->call.name == NULL || !mpi_is_observed(self) || check_has_threads(self)) {
        note(o, p);
        return;
    }
    if (!p->is_fresh)
        LIST_INSERT_HEAD(&o->fresh, p, with_fresh);
    p->is_fresh = true;
}

static void note_met(ours_t *o, pending_t *p)
{
    if (!p->is_met)
        LIST_INSERT_HEAD(&o->met, p, with_met);
    p->is_met = true;
}

static void forget_met(pending_t *p)
{
    if (p->is_met)
        LIST_REMOVE(p, with_met);
    p->is_met = false;
}

/* Keep `*p`, at least as long as its request or its epoch lasts. NULL: memory ran out, and what is
 * not noted is not reported. */
static pending_t *keep(const mpi_rank_t *self, const pending_t *made)
{
    ours_t *o = &ours[self->world];
    pending_t *p = LIST_FIRST(&o->spares);

    if (p != NULL)
        LIST_REMOVE(p, with_request);
    else
        p = xy_malloc(sizeof(*p));
    if (p == NULL) {
        check_guard_end(made->guard);
        o->partial = made->request;
        return NULL;
    }
    *p = *made;
    p->call = self->call.name;
    p->site = self->call.caller;
    o->guarded += p->guard >= 0;
    p->heap = check_allocations_changes();
    p->parts = 1;
    p->span = (check_span_t){.low = p->area.low, .high = p->area.high};
    mpi_type_hold(p->type);
    check_spans_add(&o->spans, &p->span);
    if (p->request != NULL)
        LIST_INSERT_HEAD(chain_of(o, p->request), p, with_request);
    if (p->win != NULL)
        LIST_INSERT_HEAD(&o->window, p, with_window);
    o->in_windows += p->win != NULL;
    o->unsettled += is_unsettled(p);
    if (p->is_receive)
        LIST_INSERT_HEAD(&o->receives, p, with_receives);
    if (p->is_receive && p->request != NULL && !mpi_is_observed(self)) /* nobody tells */
        note_met(o, p);
    note_later(self, p);
    return p;
}

/* Report an operation on memory that a pending one uses. */
static void report_overlap(const mpi_rank_t *self, const pending_t *p, const check_area_t *area,
                           bool is_receive)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_BUFFER_OVERLAP,
                             .rank = self->world,
                             .other = -1,
                             .sites = {self->call.caller, p->site}};
    const char *low = area->low > p->area.low ? area->low : p->area.low;
    char here[160], there[160];

    if (mpi_finding_is_known(&finding))
        return;
    mpi_finding_add(&finding,
                    "%s%s %s %s memory that %s%s %s %s, which is not complete; they have byte "
                    "%lld of its buffer in common",
                    mpi_call_start_of(self->call.name), self->call.name,
                    check_place_text(self->call.caller, here),
                    check_area_verb(self->call.name, is_receive), mpi_call_start_of(p->call),
                    p->call, check_place_text(p->site, there),
                    check_area_verb(p->call, p->is_receive), (long long)(low - p->area.buffer));
}

void check_pending_twice(const mpi_rank_t *self, int first, int second)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_BUFFER_OVERLAP,
                             .rank = self->world,
                             .other = -1,
                             .sites = {self->call.caller, NULL}};
    char here[160];

    if (mpi_finding_is_known(&finding))
        return;
    mpi_finding_add(&finding, "%s%s %s receives blocks %d and %d into the same memory",
                    mpi_call_start_of(self->call.name), self->call.name,
                    check_place_text(self->call.caller, here), first, second);
}

/* Nonblocking calls whose request is the program's own. */
static bool is_kept(const mpi_rank_t *self, const mpi_request_t *request)
{
    return request != NULL && (check_facts_of(self->call.name)->starts ||
                               (request->is_persistent && request->kind <= XMPI_KIND_RECV));
}

static const char *side_of(const pending_t *p)
{
    if (p->is_vector)
        return "array of counts or displacements";
    if (p->win != NULL)
        return p->is_receive ? "result buffer" : "origin buffer";
    if (strncmp(p->call, "MPI_File_", 9) == 0)
        return p->is_receive ? "read buffer" : "write buffer";
    return p->is_receive ? "receive buffer" : "send buffer";
}

/* Report a buffer that was changed while its operation was pending. */
static void report_change(const pending_t *p, const mpi_rank_t *self)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_BUFFER_CHANGED,
                             .rank = self->world,
                             .other = -1,
                             .sites = {p->site, self->call.caller}};
    char start[160], end[160];

    if (mpi_finding_is_known(&finding))
        return;
    mpi_finding_add(&finding, "the %s of %s%s %s was changed before %s %s", side_of(p),
                    mpi_call_start_of(p->call), p->call, check_place_text(p->site, start),
                    self->call.name != NULL ? self->call.name : "the end",
                    check_place_text(self->call.caller, end));
}

static void check_hash(pending_t *p, const mpi_rank_t *self)
{
    if (p->is_told || p->is_fresh || hash_of(p) == p->hash)
        return;
    p->is_told = true;
    report_change(p, self);
}

/* Report a guarded buffer that the program touched while its operation was pending. */
static void report_touch(const pending_t *p, const mpi_rank_t *self)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_BUFFER_TOUCHED,
                             .rank = self->world,
                             .other = -1,
                             .sites = {check_guard_touched(p->guard), p->site}};
    char touched[160], start[160], end[160];

    if (mpi_finding_is_known(&finding))
        return;
    mpi_finding_add(&finding, "the %s of %s%s %s was used %s, before %s %s", side_of(p),
                    mpi_call_start_of(p->call), p->call, check_place_text(p->site, start),
                    check_place_text(finding.sites[0], touched),
                    self->call.name != NULL ? self->call.name : "the end",
                    check_place_text(self->call.caller, end));
}

static void check_touch(pending_t *p, const mpi_rank_t *self)
{
    if (p->is_told || check_guard_touched(p->guard) == NULL)
        return;
    p->is_told = true;
    report_touch(p, self);
}

/* The number of the block of the heap that has the address and is in use; 0: none. */
static uint64_t block_of(const char *address)
{
    check_block_t block;

    return check_allocations_find(address, &block) && block.freed == NULL ? block.number : 0;
}

/* Is the buffer freed, or its function left? Libraries copy vectors, and may lose them. */
static bool is_gone(const pending_t *p, const mpi_rank_t *self)
{
    if (p->is_vector)
        return check_elements_left(self, p->area.low) || block_of(p->area.low) != p->block;
    return (p->heap != check_allocations_changes() || check_elements_left(self, p->area.low)) &&
           check_allocations_pending(self, &p->area, p->call, p->site);
}

static bool bring_run(const char *run, size_t length, void *argument)
{
    const ptrdiff_t *apart = argument;

    memcpy((char *)(uintptr_t)run, run + *apart, length);
    return true;
}

/* An operation is complete; `looks`: has the program changed its bytes? A finding may end the job,
 * so nothing leads to the record before one is reported. */
static void end(pending_t *p, const mpi_rank_t *self, bool looks)
{
    ours_t *o = &ours[self->world];

    check_spans_remove(&o->spans, &p->span);
    if (p->request != NULL)
        LIST_REMOVE(p, with_request);
    if (p->win != NULL)
        LIST_REMOVE(p, with_window);
    o->in_windows -= p->win != NULL;
    o->unsettled -= is_unsettled(p);
    if (p->is_receive)
        LIST_REMOVE(p, with_receives);
    check_guard_lift(p->guard);
    if (looks)
        check_touch(p, self);
    if (looks && is_gone(p, self))
        looks = false;
    if (looks && p->is_hashed && (!p->is_receive || p->is_arrived || p->apart != 0))
        check_hash(p, self);
    if (looks && p->apart != 0)
        check_area_each(&p->area, bring_run, &p->apart);
    if (p->request == NULL || p->request->is_done) /* else data may still come */
        xy_free(p->memory);
    if (p->is_fresh)
        LIST_REMOVE(p, with_fresh);
    forget_met(p);
    end_guard(o, p);
    mpi_type_release(p->type);
    LIST_INSERT_HEAD(&o->spares, p, with_request);
}

static void end_of_request(const mpi_request_t *request, bool looks)
{
    const mpi_rank_t *self = request->owner;

    for (pending_t *p = LIST_FIRST(chain_of(&ours[self->world], request)), *next; p != NULL;
         p = next) {
        next = LIST_NEXT(p, with_request);
        if (p->request == request)
            end(p, self, looks);
    }
}

void check_pending_finish(mpi_request_t *request)
{
    end_of_request(request, true);
}

/* Forget a freed request, which may be sent or received later than the program knows. */
void check_pending_forget(const mpi_request_t *request)
{
    end_of_request(request, false);
}

/* A search for a pending operation that uses some of these bytes, where one of the two receives.
 * Blocks of one call are compared if one is sent from, the other received into. */
typedef struct {
    const mpi_rank_t *self;
    const mpi_request_t *request;
    const check_area_t *area;
    bool is_receive;
    const pending_t *found;
} search_t;

static bool meets(check_span_t *span, void *argument)
{
    const pending_t *p = (const pending_t *)span;
    search_t *s = argument;
    bool is_same_call = s->request != NULL && p->request == s->request;

    if ((is_same_call ? s->is_receive != p->is_receive : s->is_receive || p->is_receive) &&
        check_area_overlaps(&p->area, s->area) && !(p->is_vector && is_gone(p, s->self)))
        s->found = p;
    return s->found == NULL;
}

static const pending_t *find_overlap(const mpi_rank_t *self, const mpi_request_t *request,
                                     const check_area_t *area, check_use_t use)
{
    search_t search = {
        .self = self, .request = request, .area = area, .is_receive = use != CHECK_USE_ORIGIN};

    check_spans_each(ours[self->world].spans, area->low, area->high, meets, &search);
    return search.found;
}

/* The record of a buffer at the place of the call, first in its set; `*is_same_p`: it was there. */
static seen_t *seen_of(const mpi_rank_t *self, const check_area_t *area, bool *is_same_p)
{
    uint64_t which = (uintptr_t)self->call.caller ^ xy_hash_u64((uintptr_t)area->low);
    seen_t *set = seen[self->world][xy_hash_u64(which) % SEEN], found = {.site = NULL};
    int way = 0;

    while (way < WAYS - 1 && (set[way].site != self->call.caller || set[way].low != area->low))
        way++;
    found = set[way];
    *is_same_p = found.site == self->call.caller && found.low == area->low &&
                 found.high == area->high && found.type == area->type;
    for (; way > 0; way--)
        set[way] = set[way - 1];
    set[0] = found;
    return set;
}

bool check_pending_memory(const mpi_rank_t *self, const check_area_t *area, bool is_receive)
{
    uint64_t changes = check_allocations_changes();
    bool is_same;
    seen_t *before = seen_of(self, area, &is_same);

    if (is_same && before->changes == changes)
        return before->is_in_heap;
    *before = (seen_t){self->call.caller, area->low, area->high, area->type, changes, false};
    before->is_in_heap = check_allocations_look(self, area, is_receive, is_same);
    if (!is_same)
        check_elements_look(self, area, before->is_in_heap);
    if (!is_same && !before->is_in_heap)
        check_read_only_look(self, area, is_receive);
    return before->is_in_heap;
}

/* Check the buffer of an operation and note it as pending; guard receives of contiguous data.
 * NULL: it is not noted. */
static pending_t *start(mpi_rank_t *self, const mpi_transfer_t *t, const mpi_request_t *request,
                        bool is_receive, bool is_hashed)
{
    check_area_t area = check_area_make(t->buffer, t->count, t->type);
    const pending_t *other;
    bool is_in_heap, is_guarded;

    if (area.low == area.high)
        return NULL;
    is_in_heap = check_pending_memory(self, &area, is_receive);
    other = find_overlap(self, request, &area, is_receive ? CHECK_USE_RESULT : CHECK_USE_ORIGIN);
    if (other != NULL)
        report_overlap(self, other, &area, is_receive);
    if (request == NULL)
        return NULL;
    is_guarded = is_receive && other == NULL && t->type->is_contiguous &&
                 !check_has_threads(self) &&
                 request->kind != XMPI_KIND_FILE; /* the kernel does not lift it */
    return keep(self, &(pending_t){.request = request,
                                   .area = area,
                                   .type = t->type,
                                   .guard = is_guarded ? check_guard_take(self, area.low, area.high,
                                                                          is_in_heap)
                                                       : -1,
                                   .is_receive = is_receive,
                                   .is_hashed = is_hashed});
}

void check_pending_start(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t *request,
                         bool is_receive)
{
    start(self, t, is_kept(self, request) ? request : NULL, is_receive, true);
}

void check_pending_block(mpi_rank_t *self, const mpi_transfer_t *t, const mpi_request_t *request,
                         bool is_receive)
{
    start(self, t, request, is_receive, !is_receive);
}

void check_pending_vector(mpi_rank_t *self, const mpi_transfer_t *t, const mpi_request_t *request)
{
    pending_t *p = start(self, t, request, false, true);

    if (p == NULL)
        return;
    p->is_vector = true;
    p->block = block_of(p->area.low);
}

static bool take_run(const char *run, size_t length, void *argument)
{
    const ptrdiff_t *apart = argument;

    memcpy((char *)(uintptr_t)run + *apart, run, length);
    return true;
}

/* From the bytes [low, high) to memory of the library, at the same place of a cache line. 0: there
 * is none. */
static ptrdiff_t find_apart(const char *low, const char *high, void **memory_p)
{
    enum { MOST = 1 << 16, LINE = 64 };
    char *memory = high - low > MOST ? NULL : xy_malloc((size_t)(high - low) + LINE);

    if (memory == NULL)
        return 0;
    *memory_p = memory;
    memory += ((uintptr_t)low - (uintptr_t)memory) % LINE;
    return (ptrdiff_t)((uintptr_t)memory - (uintptr_t)low);
}

/* The bytes that the call leaves as they are keep their values. */
static void set_apart(const mpi_rank_t *self, pending_t *p, ptrdiff_t apart)
{
    ours[self->world].unsettled -= is_unsettled(p);
    p->is_hashed = true;
    note_later(self, p);
    p->apart = apart;
    check_area_each(&p->area, take_run, &p->apart);
}

static bool can_be_apart(const pending_t *p)
{
    return p->guard < 0 && !mpi_is_on_device(p->area.low);
}

void *check_pending_apart(const mpi_request_t *request, void *buffer)
{
    ours_t *o = &ours[request->owner->world];
    const char *low = NULL, *high = NULL;
    pending_t *p, *first = NULL; /* it ends last */
    ptrdiff_t apart;

    LIST_FOREACH(p, chain_of(o, request), with_request)
    {
        if (p->request != request || !p->is_receive)
            continue;
        if (!can_be_apart(p))
            return buffer;
        low = low == NULL || p->area.low < low ? p->area.low : low;
        high = high == NULL || p->area.high > high ? p->area.high : high;
        first = p;
    }
    if (buffer == NULL || first == NULL || o->partial == request)
        return buffer;
    apart = find_apart(low, high, &first->memory);
    LIST_FOREACH(p, chain_of(o, request), with_request)
    if (apart != 0 && p->request == request && p->is_receive)
        set_apart(request->owner, p, apart);
    return (char *)buffer + apart;
}

const void *check_pending_part(mpi_rank_t *self, const mpi_transfer_t *t,
                               const mpi_request_t *whole, bool is_receive)
{
    pending_t *p = start(self, t, whole, is_receive, !is_receive);
    ptrdiff_t apart;

    if (p == NULL || !is_receive || t->buffer == NULL || !can_be_apart(p) ||
        strstr(whole->call.name, "eighbor") == NULL) /* others may be freed while they are active */
        return t->buffer;
    apart = find_apart(p->area.low, p->area.high, &p->memory);
    if (apart != 0)
        set_apart(self, p, apart);
    return (const char *)t->buffer + apart;
}

/* One that the program has touched is reported at the end of the whole. */
void check_pending_part_over(const mpi_request_t *whole, const void *buffer)
{
    for (pending_t *p = LIST_FIRST(chain_of(&ours[whole->owner->world], whole)), *next; p != NULL;
         p = next) {
        next = LIST_NEXT(p, with_request);
        if (p->request == whole && p->is_receive && p->area.buffer == buffer &&
            check_guard_touched(p->guard) == NULL)
            end(p, whole->owner, false);
    }
}

static void arrive(const mpi_rank_t *self, pending_t *p)
{
    p->is_arrived = true;
    check_guard_lift(p->guard);
    note_later(self, p);
}

static void settle(const mpi_rank_t *self, ours_t *o)
{
    pending_t *p;

    LIST_FOREACH(p, &o->receives, with_receives)
    if (is_unsettled(p) && p->request->is_done) {
        o->unsettled--;
        p->is_hashed = true;
        arrive(self, p);
    }
}

/* The library has used memory that is guarded. */
static void raise_guards(ours_t *o)
{
    pending_t *p;

    o->lifts = check_guard_lifts();
    LIST_FOREACH(p, &o->receives, with_receives)
    if (p->guard >= 0 && p->is_hashed && check_guard_touched(p->guard) == NULL)
        check_guard_renew(p->guard);
}

void check_pending_call(const mpi_rank_t *self)
{
    ours_t *o = &ours[self->world];

    if (o->unsettled > 0)
        settle(self, o);
    if (self->call.name != NULL)
        return;
    while (!LIST_EMPTY(&o->fresh))
        note(o, LIST_FIRST(&o->fresh));
    if (o->guarded > 0 && o->lifts != check_guard_lifts())
        raise_guards(o);
}

static bool may_arrive(const pending_t *p)
{
    return p->is_receive && p->is_hashed && !p->is_arrived && p->apart == 0;
}

void check_pending_meet(const mpi_request_t *receive)
{
    ours_t *o = &ours[receive->owner->world];
    pending_t *p;

    LIST_FOREACH(p, chain_of(o, receive), with_request)
    if (p->request == receive) {
        check_guard_lift(p->guard);
        note_met(o, p);
    }
}

void check_pending_arrive(mpi_rank_t *rank)
{
    for (pending_t *p = LIST_FIRST(&ours[rank->world].met), *next; p != NULL; p = next) {
        next = LIST_NEXT(p, with_met);
        if (!p->request->is_done)
            continue;
        forget_met(p);
        if (may_arrive(p))
            arrive(rank, p);
    }
}

void check_pending_arrived(const mpi_request_t *receive)
{
    pending_t *p;

    LIST_FOREACH(p, chain_of(&ours[receive->owner->world], receive), with_request)
    if (p->request == receive && may_arrive(p))
        arrive(receive->owner, p);
}

void check_pending_look(mpi_rank_t *self)
{
    pending_t *p;

    LIST_FOREACH(p, &ours[self->world].receives, with_receives)
    {
        check_touch(p, self);
        if (p->is_hashed &&
            (p->win != NULL || p->is_arrived || p->apart != 0 || !p->request->is_done))
            check_hash(p, self);
    }
}

/* ---- One-sided operations ---- */

/* Does the operation continue the one before of the same call, as in a loop over an array? Then
 * they are one. Whole pages may be guarded, and requests end operations one by one. */
static bool extend_last(const mpi_rank_t *self, const mpi_win_t *win, int target,
                        const check_area_t *area, bool is_receive)
{
    enum { SMALL = 4096 };
    ours_t *o = &ours[self->world];
    pending_t *p = LIST_FIRST(&o->window);

    if (p == NULL || !check_area_follows(&p->area, p->parts, area) || p->win != win ||
        p->target != target || p->site != self->call.caller || p->call != self->call.name ||
        p->is_receive != is_receive || p->request != NULL || p->is_told || p->is_fresh ||
        p->guard >= 0 || area->high - area->low >= SMALL ||
        p->heap != check_allocations_changes() || check_facts_of(p->call)->has_request)
        return false;
    if (p->is_hashed)
        p->hash = check_area_hash_more(p->hash, p->parts, area);
    p->parts++;
    p->area.count += area->count;
    p->area.high = area->high;
    check_spans_extend(o->spans, &p->span, area->high);
    return true;
}

/* The data of a get of this process are there already. */
void check_pending_window(mpi_rank_t *self, const mpi_win_t *win, int target,
                          const mpi_transfer_t *t, check_use_t use)
{
    check_area_t area = check_area_make(t->buffer, t->count, t->type);
    bool is_far = rma_is_far(win, target), is_receive = use != CHECK_USE_ORIGIN,
         is_full = ours[self->world].in_windows >= WINDOW_MOST, is_guarded;
    const pending_t *other;

    other = is_receive || !is_full ? find_overlap(self, NULL, &area, use) : NULL;
    if (other != NULL && other->win != NULL && other->site != self->call.caller)
        report_overlap(self, other, &area, is_receive);
    if (is_full || (other == NULL && extend_last(self, win, target, &area, is_receive)))
        return;
    is_guarded = use == CHECK_USE_RESULT && !is_far && other == NULL && t->type->is_contiguous &&
                 !check_has_threads(self);
    keep(self,
         &(pending_t){.win = win,
                      .target = target,
                      .area = area,
                      .type = t->type,
                      .guard = is_guarded ? check_guard_take(self, area.low, area.high, false) : -1,
                      .is_receive = is_receive,
                      .is_hashed = !is_receive || !is_far,
                      .is_arrived = !is_far});
}

void check_pending_bind(const mpi_rank_t *self, const mpi_win_t *win, const mpi_request_t *request)
{
    ours_t *o = &ours[self->world];
    pending_t *p;

    /* They come first. */
    for (p = LIST_FIRST(&o->window); p != NULL && p->request == NULL && p->win == win &&
                                     p->site == self->call.caller && p->call == self->call.name;
         p = LIST_NEXT(p, with_window)) {
        p->request = request;
        LIST_INSERT_HEAD(chain_of(o, request), p, with_request);
    }
}

void check_pending_settle(const mpi_rank_t *self, const mpi_win_t *win, int target)
{
    for (pending_t *p = LIST_FIRST(&ours[self->world].window), *next; p != NULL; p = next) {
        next = LIST_NEXT(p, with_window);
        if (p->win == win && (target == RMA_EVERYWHERE || p->target == target))
            end(p, self, true);
    }
}
