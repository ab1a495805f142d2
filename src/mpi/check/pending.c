/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/check/pending.h"

#include <string.h>

#include "mpi/check/allocations.h"
#include "mpi/check/area.h"
#include "mpi/check/check.h"
#include "mpi/check/cores.h"
#include "mpi/check/elements.h"
#include "mpi/check/findings.h"
#include "mpi/check/guard.h"

typedef struct {
    const mpi_request_t *request; /* NULL: of a one-sided operation, which the epoch of */
    const struct mpi_win *win;    /* ... ends */
    check_area_t area;
    mpi_type_t *type; /* held */
    const char *call;
    const void *site;
    bool is_receive, is_told;
    bool is_hashed;  /* false: data may have come at any time */
    bool is_arrived; /* the message is in the buffer, and the program does not know yet */
    uint64_t hash;   /* of the bytes at the start, or then */
    int guard;       /* of the whole pages of a receive buffer (guard.h) */
} pending_t;

static xy_vec_t *lists; /* [ranks] of pending_t */

/* Buffers that a rank has passed at the same place before, and that were right: most are passed
 * again and again, and variables and their types are slow to find. Blocks of the heap may have
 * changed since. A place that another frame passes the same address from is taken for the same. */
typedef struct {
    const void *site;
    const char *low, *high;
    const mpi_type_t *type;
    uint64_t changes; /* of the heap, then */
} seen_t;
enum { SEEN = 256 };
static seen_t (*seen)[SEEN]; /* [ranks] */

/* Buffers of one-sided operations per rank: an epoch may have very many, and the first will do. */
enum { WINDOW_MOST = 1024 };

xy_status_t check_pending_begin(int ranks)
{
    lists = xy_calloc((size_t)ranks, sizeof(*lists));
    seen = xy_calloc((size_t)ranks, sizeof(*seen));
    if (lists == NULL || seen == NULL)
        return xy_fail_memory("checking the program");
    for (int r = 0; r < ranks; r++)
        lists[r] = XY_VEC_INIT(pending_t);
    return XY_OK;
}

static pending_t *at(const xy_vec_t *list, size_t i)
{
    return &XY_VEC_AT(list, pending_t, i);
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

/* Nonblocking calls whose request is the program's own. */
static bool is_kept(const mpi_rank_t *self, const mpi_request_t *request)
{
    static const char *const names[] = {
        "MPI_Isend",    "MPI_Issend",   "MPI_Irsend",  "MPI_Irecv",    "MPI_Imrecv", "MPI_Isend_c",
        "MPI_Issend_c", "MPI_Irsend_c", "MPI_Irecv_c", "MPI_Imrecv_c", NULL};

    if (request == NULL)
        return false;
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(self->call.name, names[i]) == 0)
            return true;
    return request->is_persistent && request->kind <= XMPI_KIND_RECV;
}

static const char *side_of(const pending_t *p)
{
    if (p->win != NULL)
        return p->is_receive ? "result" : "origin";
    if (strncmp(p->call, "MPI_File_", 9) == 0)
        return p->is_receive ? "read" : "write";
    return p->is_receive ? "receive" : "send";
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
    mpi_finding_add(&finding, "the %s buffer of %s%s %s was changed before %s %s", side_of(p),
                    mpi_call_start_of(p->call), p->call, check_place_text(p->site, start),
                    self->call.name != NULL ? self->call.name : "the end",
                    check_place_text(self->call.caller, end));
}

static void check_hash(pending_t *p, const mpi_rank_t *self)
{
    if (p->is_told || check_area_hash(&p->area) == p->hash)
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
    mpi_finding_add(&finding, "the %s buffer of %s%s %s was used %s, before %s %s", side_of(p),
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

static void end_one(pending_t *gone, const mpi_rank_t *self, bool looks)
{
    check_guard_lift(gone->guard);
    if (looks)
        check_touch(gone, self);
    if (looks && gone->is_hashed && (!gone->is_receive || gone->is_arrived))
        check_hash(gone, self);
    check_guard_end(gone->guard);
    mpi_type_release(gone->type);
}

/* Complete the operation of the request, or all operations of the window; `looks`: compare their
 * bytes. A finding may end the job, so the list is consistent before one is reported. */
static void end(const mpi_rank_t *self, const mpi_request_t *request, const struct mpi_win *win,
                bool looks)
{
    xy_vec_t *list = &lists[self->world];

    for (size_t i = 0; i < list->count;) {
        pending_t gone = *at(list, i);

        if (win != NULL ? gone.win != win : gone.request != request) {
            i++;
            continue;
        }
        *at(list, i) = *at(list, list->count - 1);
        xy_vec_pop(list);
        end_one(&gone, self, looks);
    }
}

void check_pending_finish(mpi_request_t *request)
{
    end(request->owner, request, NULL, true);
}

/* What the program has freed may be sent, or received, later than it knows. */
void check_pending_forget(const mpi_request_t *request)
{
    end(request->owner, request, NULL, false);
}

/* Does another pending operation use these bytes, and does one of the two receive? Blocks of one
 * call are compared if one is sent from, the other received into. */
static const pending_t *find_overlap(const mpi_rank_t *self, const mpi_request_t *request,
                                     const check_area_t *area, bool is_receive)
{
    const xy_vec_t *list = &lists[self->world];

    for (size_t i = 0; i < list->count; i++) {
        const pending_t *p = at(list, i);
        bool is_same_call = request != NULL && p->request == request;

        if ((is_same_call ? is_receive != p->is_receive : is_receive || p->is_receive) &&
            check_area_overlaps(&p->area, area))
            return p;
    }
    return NULL;
}

void check_pending_memory(const mpi_rank_t *self, const check_area_t *area, bool is_receive)
{
    uint64_t which = (uintptr_t)self->call.caller ^ xy_hash_u64((uintptr_t)area->low);
    seen_t *before = &seen[self->world][xy_hash_u64(which) % SEEN];
    uint64_t changes = check_allocations_changes();
    bool is_same = before->site == self->call.caller && before->low == area->low &&
                   before->high == area->high && before->type == area->type;

    if (is_same && before->changes == changes)
        return;
    *before = (seen_t){self->call.caller, area->low, area->high, area->type, changes};
    check_allocations_look(self, area, is_receive, is_same);
    if (!is_same)
        check_elements_look(self, area);
}

/* Check the buffer of an operation and note it as pending; guard receives of contiguous data. */
static void start(mpi_rank_t *self, const mpi_transfer_t *t, const mpi_request_t *request,
                  bool is_receive, bool is_hashed)
{
    check_area_t area = check_area_make(t->buffer, t->count, t->type);
    const pending_t *other;
    pending_t *p;

    if (area.low == area.high)
        return;
    check_pending_memory(self, &area, is_receive);
    other = find_overlap(self, request, &area, is_receive);
    if (other != NULL)
        report_overlap(self, other, &area, is_receive);
    p = request != NULL ? xy_vec_push(&lists[self->world]) : NULL;
    if (p == NULL)
        return; /* what is not noted is not reported */
    *p = (pending_t){.request = request,
                     .area = area,
                     .type = t->type,
                     .call = self->call.name,
                     .site = self->call.caller,
                     .is_receive = is_receive,
                     .is_hashed = is_hashed,
                     .hash = is_hashed ? check_area_hash(&area) : 0,
                     .guard = -1};
    mpi_type_hold(t->type);
    if (is_receive && other == NULL && t->type->is_contiguous && !check_has_threads(self) &&
        request->kind != XMPI_KIND_FILE) /* the kernel does not lift it */
        p->guard = check_guard_set(self, area.low, area.high);
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

static void arrive(pending_t *p)
{
    p->is_arrived = true;
    check_guard_lift(p->guard);
    p->hash = check_area_hash(&p->area);
    check_guard_renew(p->guard);
}

static bool may_arrive(const pending_t *p)
{
    return p->is_receive && p->is_hashed && !p->is_arrived;
}

void check_pending_arrive(mpi_rank_t *rank)
{
    const xy_vec_t *list = &lists[rank->world];

    for (size_t i = 0; i < list->count; i++)
        if (may_arrive(at(list, i)) && at(list, i)->request->is_done)
            arrive(at(list, i));
}

void check_pending_arrived(const mpi_request_t *receive)
{
    const xy_vec_t *list = &lists[receive->owner->world];

    for (size_t i = 0; i < list->count; i++)
        if (may_arrive(at(list, i)) && at(list, i)->request == receive)
            arrive(at(list, i));
}

/* Bytes behind a guard that is up are as they were. */
void check_pending_look(mpi_rank_t *self)
{
    const xy_vec_t *list = &lists[self->world];

    for (size_t i = 0; i < list->count; i++) {
        pending_t *p = at(list, i);

        check_touch(p, self);
        if (p->is_receive && p->is_hashed && !check_guard_is_up(p->guard) &&
            (p->win != NULL || p->is_arrived || !p->request->is_done))
            check_hash(p, self);
    }
}

/* ---- One-sided operations ---- */

static bool is_full(const xy_vec_t *list)
{
    return list->count >= WINDOW_MOST;
}

/* What a get of this process has read is there already. */
void check_pending_window(mpi_rank_t *self, const struct mpi_win *win, const mpi_transfer_t *t,
                          bool is_receive, bool is_far)
{
    check_area_t area = check_area_make(t->buffer, t->count, t->type);
    xy_vec_t *list = &lists[self->world];
    const pending_t *other =
        is_receive || !is_full(list) ? find_overlap(self, NULL, &area, is_receive) : NULL;
    pending_t *p;

    if (other != NULL && other->win != NULL && other->site != self->call.caller)
        report_overlap(self, other, &area, is_receive);
    p = is_full(list) ? NULL : xy_vec_push(list);
    if (p == NULL)
        return; /* what is not noted is not reported */
    *p = (pending_t){.win = win,
                     .area = area,
                     .type = t->type,
                     .call = self->call.name,
                     .site = self->call.caller,
                     .is_receive = is_receive,
                     .is_hashed = !is_receive || !is_far,
                     .is_arrived = !is_far,
                     .guard = -1};
    if (p->is_hashed)
        p->hash = check_area_hash(&area);
    mpi_type_hold(t->type);
    if (is_receive && !is_far && other == NULL && t->type->is_contiguous &&
        !check_has_threads(self))
        p->guard = check_guard_set(self, area.low, area.high);
}

void check_pending_bind(const mpi_rank_t *self, const struct mpi_win *win,
                        const mpi_request_t *request)
{
    const xy_vec_t *list = &lists[self->world];

    for (size_t i = 0; i < list->count; i++) {
        pending_t *p = at(list, i);

        if (p->request == NULL && p->win == win && p->site == self->call.caller &&
            p->call == self->call.name)
            p->request = request;
    }
}

void check_pending_settle(const mpi_rank_t *self, const struct mpi_win *win)
{
    end(self, NULL, win, true);
}
