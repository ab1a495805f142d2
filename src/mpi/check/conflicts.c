/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pending operations of all ranks on windows of this process. An operation on another process
 * is sent to that process. Two operations that overlap are concurrent, whatever the order of this
 * run:
 *
 *   fences   between two of them the operations of all members
 *   groups   those of all origins, until the target ends its epoch (MPI_Win_wait)
 *   locks    those of an origin until it unlocks or flushes; an MPI_Rget until its request is
 *            complete
 *
 * Those that overlap are found by their addresses (span.h); through two windows, while the epoch of
 * the first is open. Those that end together are in one list: of the target for fences and groups,
 * of the origin for locks. Contexts of windows are never used again.
 */
#include "mpi/check/conflicts.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "mpi/check/allocations.h"
#include "mpi/check/area.h"
#include "mpi/check/check.h"
#include "mpi/check/cores.h"
#include "mpi/check/facts.h"
#include "mpi/check/findings.h"
#include "mpi/check/guard.h"
#include "mpi/check/order.h"
#include "mpi/check/pending.h"
#include "mpi/check/sides.h"
#include "mpi/check/span.h"
#include "mpi/rma/rma.h"

typedef enum { FENCES, GROUPS, LOCKS, PAST } epoch_t;

typedef struct member member_t;

typedef struct access {
    check_span_t span;           /* first */
    struct access *next, **link; /* in the list of those that end with it, or of PAST ones */
    uint64_t order;              /* of all */
    uint32_t window;
    epoch_t epoch;
    uint32_t turn;      /* fences of the origin before */
    uint32_t number;    /* of the origin's operations */
    int origin, target; /* a rank of the world, and one of the window */
    check_what_t what;
    const mpi_op_t *op; /* of MPI_Accumulate and MPI_Get_accumulate */
    check_area_t area;
    mpi_type_t *type; /* held */
    uint64_t hash;    /* of what was written, */
    uint64_t parts;   /* ... by so many calls at one place, one behind the other */
    bool is_told;
    const char *call;
    const void *site;
    bool is_exclusive; /* under an exclusive lock */
    uint64_t heard;    /* its origin knew others up to then (order.h) */
    uint64_t ended;    /* PAST: when */
    int guard;         /* of whole pages that were written, against the owner's code (guard.h) */
} access_t;

/* In the order in which they were made. */
typedef struct {
    access_t *first, **end;
} list_t;

/* The calls of a member of a window so far, and the accesses of others to its memory. */
struct member {
    uint32_t fences;
    uint32_t operations;
    xy_vec_t far;         /* of int: members of other processes that its lock epochs have reached */
    access_t run;         /* its last operations, which the others do not know yet, */
    const mpi_win_t *win; /* ... there; parts 0: none */
    /* Under the lock: */
    list_t exposed; /* of its memory: FENCES and GROUPS */
    list_t locked;  /* of its own: LOCKS */
};

/* Of members, of what they have under it, and of names. A finding that ends the job does not
 * return. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static xy_hash_t members;   /* of member_t, by window and rank in it, or in the world */
static check_spans_t spans; /* of access_t, of all windows: they may have memory in common */
static uint64_t operations; /* so far */

enum { BY_WORLD = 1 << 30 }; /* in a key: the rank is that in the world */
enum { PAST_MOST = 128 };    /* accesses that are complete */
static list_t past;
static int past_count;

static void list_append(list_t *list, access_t *a)
{
    if (list->end == NULL)
        list->end = &list->first;
    a->next = NULL;
    a->link = list->end;
    *list->end = a;
    list->end = &a->next;
}

static void list_remove(list_t *list, access_t *a)
{
    *a->link = a->next;
    if (a->next != NULL)
        a->next->link = a->link;
    else
        list->end = a->link;
}

static uint64_t key_of(uint32_t window, int rank)
{
    return (uint64_t)window << 32 | (uint32_t)rank;
}

/* With the lock held. NULL: memory ran out, and nothing is compared. */
static member_t *find_member(uint32_t window, int rank)
{
    uint64_t key = key_of(window, rank);
    member_t *m = xy_hash_get(&members, key);

    if (m != NULL)
        return m;
    m = xy_calloc(1, sizeof(*m));
    if (m != NULL)
        m->far = XY_VEC_INIT(int);
    if (m != NULL && xy_hash_set(&members, key, m) != XY_OK) {
        xy_free(m);
        return NULL;
    }
    return m;
}

/* Its content belongs to its rank. Contexts are never used again, and members are never freed. */
static member_t *member_of(const mpi_win_t *win)
{
    static _Thread_local struct {
        uint32_t window;
        int rank;
        member_t *member;
    } last;

    if (last.member == NULL || last.window != win->comm->context || last.rank != win->rank) {
        pthread_mutex_lock(&lock);
        last.member = find_member(win->comm->context, win->rank);
        if (last.member != NULL) /* else its operations seem to be over for other windows */
            (void)xy_hash_set(&members, key_of(win->comm->context, BY_WORLD | win->owner->world),
                              last.member);
        pthread_mutex_unlock(&lock);
        last.window = win->comm->context;
        last.rank = win->rank;
    }
    return last.member;
}

/* May both happen in any order? What is in the list is not over. */
static bool is_open(const access_t *a, const access_t *b)
{
    if (a->epoch == PAST)
        return a->window == b->window && a->origin != b->origin && !b->is_exclusive &&
               b->heard < a->ended;
    return a->window == b->window && a->epoch == b->epoch &&
           (a->epoch != FENCES || a->turn == b->turn);
}

/* Operations that compute: others, MPI_REPLACE among them, are used together in algorithms. */
static bool computes(const access_t *a)
{
    return a->op != NULL && a->op->kind != XMPI_OP_KIND_REPLACE &&
           a->op->kind != XMPI_OP_KIND_NO_OP;
}

/* Accumulates of one origin are done in their order. */
static bool has_other_operation(const access_t *a, const access_t *b)
{
    return computes(a) && computes(b) && a->op->kind != b->op->kind && a->origin != b->origin;
}

/* Integers of one size are the same to a sum. */
static bool is_same_element(const mpi_type_t *a, const mpi_type_t *b)
{
    bool are_integers = a->basic >= XMPI_BASIC_INT8 && a->basic <= XMPI_BASIC_UINT64 &&
                        b->basic >= XMPI_BASIC_INT8 && b->basic <= XMPI_BASIC_UINT64;

    return a->basic == b->basic || (are_integers && a->size == b->size);
}

/* Accumulates are atomic for each element, where both have the same ones. */
static bool has_other_elements(const access_t *a, const access_t *b)
{
    return computes(a) && computes(b) && a->type->is_predefined && b->type->is_predefined &&
           a->origin != b->origin && !is_same_element(a->type, b->type);
}

/* May `later`, of another window, come before the end of `a`? A fence of the window of `a` that a
 * member has not entered is not over for anybody. */
static bool is_beside(const access_t *a, const access_t *later)
{
    const member_t *there;

    if (a->epoch == PAST)
        return a->origin != later->origin && later->heard < a->ended;
    if (a->epoch != FENCES)
        return true;
    there = xy_hash_get(&members, key_of(a->window, BY_WORLD | later->origin));
    return there != NULL && there->fences <= a->turn;
}

/* `b` is later in this run. */
static bool is_conflict(const access_t *a, const access_t *b)
{
    if (a->window != b->window)
        return (a->what != CHECK_READ || b->what != CHECK_READ) && is_beside(a, b) &&
               check_area_overlaps(&a->area, &b->area);
    if (a->target != b->target || !is_open(a, b))
        return false;
    if (a->what == b->what && a->what != CHECK_WRITE && !has_other_operation(a, b) &&
        !has_other_elements(a, b))
        return false;
    return check_area_overlaps(&a->area, &b->area);
}

/* Is one of them complete? */
static bool is_past(const access_t *a, const access_t *b)
{
    return a->epoch == PAST || b->epoch == PAST;
}

/* The advice at the end of a report about two operations. */
static const char *cure_of(const access_t *now, const access_t *before)
{
    if (now->window != before->window)
        return "end the epoch of the first before the second, or use one window";
    if (now->what == CHECK_UPDATE && before->what == CHECK_UPDATE)
        return "accumulates that meet must have the same operation and type";
    if (is_past(now, before))
        return "send a message between them, lock it exclusively, or use MPI_Accumulate";
    if (now->epoch == FENCES)
        return "put MPI_Win_fence between them, or use MPI_Accumulate";
    if (now->epoch == LOCKS && now->origin != before->origin)
        return "lock it exclusively, or use MPI_Accumulate";
    return "put a flush or the end of the epoch between them, or use MPI_Accumulate";
}

/* Report two operations that use the same memory without an order; `win` is the window of one. */
static void report_conflict(access_t *now, access_t *before, const mpi_win_t *win)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_RMA_CONFLICT,
                             .rank = now->origin,
                             .other = before->origin,
                             .sites = {now->site, before->site}};
    const char *low = now->area.low > before->area.low ? now->area.low : before->area.low;
    int target = now->window == win->comm->context ? now->target : before->target;
    char here[160], there[160], by[48] = "", byte[64] = "";

    now->is_told = before->is_told = true;
    if (mpi_finding_is_known(&finding))
        return;
    if (before->origin != now->origin)
        snprintf(by, sizeof(by), " of rank %d", before->origin);
    if (win->shared->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        snprintf(byte, sizeof(byte), " (byte %lld of its window)",
                 (long long)(low - win->shared->places[target].base));
    mpi_finding_add(&finding, "%s %s and %s%s %s use the same memory of rank %d %s%s; %s",
                    now->call, check_place_text(now->site, here), before->call, by,
                    check_place_text(before->site, there), mpi_comm_world_rank(win->comm, target),
                    now->window != before->window ? "through two windows"
                    : is_past(now, before)        ? "in epochs without an order"
                                                  : "in one epoch",
                    byte, cure_of(now, before));
}

static epoch_t epoch_of(const mpi_win_t *win)
{
    return win->access <= RMA_ACCESS_FENCE_USED ? FENCES
           : win->access == RMA_ACCESS_START    ? GROUPS
                                                : LOCKS;
}

/* Reads with a request may end before their epoch does, and what was written is compared. */
static bool stays(const access_t *a)
{
    return a->what != CHECK_WRITE && !check_facts_of(a->call)->is_rget;
}

/* Does it have the conflicts of another that stays in the list as long? */
static bool is_repeated(const access_t *now, const access_t *before)
{
    return stays(now) && stays(before) && now->what == before->what &&
           now->origin == before->origin && now->target == before->target && is_open(now, before) &&
           now->op == before->op && now->type == before->type &&
           (now->type->is_contiguous
                ? now->area.low >= before->area.low && now->area.high <= before->area.high
                : now->area.buffer == before->area.buffer && now->area.count == before->area.count);
}

/* Is memory compared with what it was when the operation was done? Under locks the owner may store
 * to what others read, where they poll. */
static bool is_compared(const access_t *a)
{
    return a->what == CHECK_WRITE || (a->what == CHECK_READ && a->epoch != LOCKS);
}

/* Other ranks, and calls of the owner, lift the guard where they use the memory. */
static void guard_pages(access_t *a, const mpi_win_t *win)
{
    const mpi_rank_t *owner = &mpi_job->ranks[mpi_comm_world_rank(win->comm, a->target)];

    if (a->type->is_contiguous && !check_has_threads(owner) && owner->world != a->origin &&
        win->shared->flavor != MPI_WIN_FLAVOR_SHARED)
        a->guard = check_guard_set(owner, a->area.low, a->area.high);
}

/* One operation against those that overlap. */
typedef struct {
    const access_t *now;
    access_t *conflict; /* the first that was made */
    bool is_repeated;
} search_t;

static bool compare(check_span_t *span, void *argument)
{
    access_t *before = (access_t *)span;
    search_t *search = argument;

    search->is_repeated = is_repeated(search->now, before);
    if ((search->conflict == NULL || before->order < search->conflict->order) &&
        is_conflict(before, search->now))
        search->conflict = before;
    return !search->is_repeated;
}

/* Keep a copy of an operation in the list that ends it. */
static void keep(const access_t *now, list_t *list)
{
    access_t *a = xy_malloc(sizeof(*a));

    if (a == NULL)
        return; /* it is not compared */
    *a = *now;
    a->order = operations++;
    a->span = (check_span_t){.low = a->area.low, .high = a->area.high};
    mpi_type_hold(a->type);
    list_append(list, a);
    check_spans_add(&spans, &a->span);
}

/* Compare it with the others, and keep it: counters that all ranks update come once per rank.
 * `rank`: of the origin in the window. */
static void add(access_t *now, const mpi_win_t *win, int rank)
{
    member_t *target = find_member(now->window, now->target);
    member_t *ender = now->epoch == LOCKS ? find_member(now->window, rank) : target;
    search_t search = {.now = now};

    if (target == NULL || ender == NULL)
        return;
    check_spans_each(spans, now->area.low, now->area.high, compare, &search);
    if (search.is_repeated)
        return;
    if (search.conflict != NULL && now->origin < search.conflict->origin)
        report_conflict(search.conflict, now, win); /* in any order of the run, one report */
    else if (search.conflict != NULL)
        report_conflict(now, search.conflict, win);
    now->guard = -1;
    if (is_compared(now) && now->parts == 0)
        now->hash = check_area_hash(&now->area);
    now->parts += now->parts == 0;
    if (now->what == CHECK_WRITE && !now->is_told)
        guard_pages(now, win);
    keep(now, now->epoch == LOCKS ? &ender->locked : &ender->exposed);
}

/* ---- Runs ---- */

/* Most operations are small and one of many, as in a loop over an array. The rank gathers those
 * that follow each other in memory, and the others know them when it makes another one, or
 * completes them. Whole pages may be guarded, and requests end operations one by one. */
static bool may_run(const access_t *a)
{
    enum { SMALL = 4096 };

    return a->type->is_contiguous && a->area.high - a->area.low < SMALL &&
           !check_facts_of(a->call)->has_request;
}

static bool continues(const access_t *now, const access_t *run)
{
    return run->parts > 0 && check_area_follows(&run->area, run->parts, &now->area) &&
           now->target == run->target && now->epoch == run->epoch && now->turn == run->turn &&
           now->site == run->site && now->call == run->call && now->op == run->op &&
           now->is_exclusive == run->is_exclusive &&
           (now->epoch != LOCKS || now->heard == run->heard) && may_run(now);
}

static member_t **running; /* [running_count], ranks: the member that has a run; or NULL */
static int running_count;

/* Tell the others. */
static void publish(member_t *member)
{
    access_t now = member->run;

    member->run.parts = 0;
    running[now.origin] = NULL;
    pthread_mutex_lock(&lock);
    add(&now, member->win, member->win->rank);
    pthread_mutex_unlock(&lock);
    mpi_type_release(now.type);
}

void check_conflicts_call(const mpi_rank_t *self)
{
    member_t *member = running != NULL && self->world < running_count ? running[self->world] : NULL;

    if (member != NULL && self->call.name != NULL && self->call.name != member->run.call)
        publish(member);
}

/* Gather it. False: it is for the others to know. */
static bool gather(member_t *member, const mpi_win_t *win, const access_t *now)
{
    access_t *run = &member->run;

    if (continues(now, run)) {
        if (is_compared(run))
            run->hash = check_area_hash_more(run->hash, run->parts, &now->area);
        run->parts++;
        run->area.count += now->area.count;
        run->area.high = now->area.high;
        return true;
    }
    if (running[now->origin] != NULL)
        publish(running[now->origin]);
    if (!may_run(now))
        return false;
    *run = *now;
    member->win = win;
    running[now->origin] = member;
    run->parts = 1;
    if (is_compared(run))
        run->hash = check_area_hash(&run->area);
    mpi_type_hold(run->type);
    return true;
}

/* The complete operations of an origin: on a target, or RMA_EVERYWHERE. A flush that is local
 * ends those that return something. */
typedef struct {
    int target;
    bool is_local;
} extent_t;

/* ---- Other processes ---- */

/* Have the lock epochs of the member reached it, and are they open? */
static bool is_reached(const member_t *member, int target)
{
    for (size_t i = 0; i < member->far.count; i++)
        if (XY_VEC_AT(&member->far, int, i) == target)
            return true;
    return false;
}

static void note_far(member_t *member, int target)
{
    if (!is_reached(member, target))
        (void)xy_vec_append(&member->far,
                            &target); /* else it seems to continue, and may be reported */
}

static rma_told_t told_of(const mpi_rank_t *self)
{
    rma_told_t told = {.site = (uint64_t)(uintptr_t)self->call.caller};

    snprintf(told.call, sizeof(told.call), "%s", self->call.name);
    return told;
}

/* Send an operation on another process to that process, which looks for conflicts there. */
static void tell(mpi_rank_t *self, mpi_win_t *win, member_t *member, const access_t *now,
                 int64_t count)
{
    rma_told_t told = told_of(self);

    told.address = now->area.buffer;
    told.count = count;
    told.type = now->type;
    told.op = now->op;
    told.epoch = now->epoch;
    told.what = now->what;
    told.turn = now->turn;
    told.number = now->number;
    told.is_written = rma_far_is_small((uint64_t)count * now->type->size);
    rma_far_tell(win, now->target, &told);
    if (now->epoch == LOCKS)
        note_far(member, now->target);
}

/* The operations of the member in epochs of locks are complete within `extent`. */
static void tell_over(mpi_win_t *win, member_t *member, const extent_t *extent)
{
    rma_told_t told;
    size_t kept = 0;

    if (member->far.count == 0)
        return;
    told = told_of(win->owner);
    told.is_over = true;
    told.what = extent->is_local;
    for (size_t i = 0; i < member->far.count; i++) {
        int target = XY_VEC_AT(&member->far, int, i);
        bool is_over = extent->target == RMA_EVERYWHERE || extent->target == target;

        if (is_over)
            rma_far_tell(win, target, &told);
        if (!is_over || extent->is_local)
            XY_VEC_AT(&member->far, int, kept++) = target;
    }
    while (member->far.count > kept)
        xy_vec_pop(&member->far);
}

/* The same text, for ever. */
static const char *keep_name(const char *call)
{
    static xy_vec_t names = XY_VEC_INIT(char *);
    char *copy;

    for (size_t i = 0; i < names.count; i++)
        if (strcmp(XY_VEC_AT(&names, char *, i), call) == 0)
            return XY_VEC_AT(&names, char *, i);
    copy = xy_strdup(call);
    if (copy == NULL || xy_vec_append(&names, &copy) != XY_OK) {
        xy_free(copy);
        return "an operation";
    }
    return copy;
}

/* Memory carries what ranks tell each other, too. */
static void note_order(const mpi_rank_t *self, const mpi_win_t *win, const access_t *a)
{
    if (a->what != CHECK_READ)
        check_order_write(mpi_comm_world_rank(win->comm, a->target));
    if (check_facts_of(a->call)->returns)
        check_order_hear_all(self);
}

/* Note an operation on a window and compare it with the pending ones. */
static void on_operation(mpi_rank_t *self, mpi_win_t *win, int target, const void *address,
                         int64_t count, mpi_type_t *type, const mpi_op_t *op)
{
    member_t *member;
    access_t now = {.window = win->comm->context,
                    .epoch = epoch_of(win),
                    .op = op,
                    .origin = self->world,
                    .target = target,
                    .what = check_facts_of(self->call.name)->what,
                    .area = check_area_make(address, count, type),
                    .type = type,
                    .call = self->call.name,
                    .site = self->call.caller};

    check_sides_use(self, win, target);
    if (mpi_checks.buffers && !rma_is_far(win, target) && now.area.low < now.area.high)
        check_sides_look(self, win, target, &now.area);
    member = mpi_checks.windows ? member_of(win) : NULL;
    if (member == NULL)
        return;
    now.number = ++member->operations;
    if (now.area.low == now.area.high)
        return;
    now.turn = member->fences;
    if (rma_is_far(win, target)) {
        tell(self, win, member, &now, count);
        return;
    }
    now.is_exclusive = win->shared->targets[target].owner == win->rank;
    now.heard = check_order_heard(self);
    if (running == NULL || self->world >= running_count || check_has_threads(self) ||
        !gather(member, win, &now)) {
        pthread_mutex_lock(&lock);
        add(&now, win, win->rank);
        pthread_mutex_unlock(&lock);
    }
    note_order(self, win, &now);
}

/* The call that completes something: by whom, and where. */
typedef struct {
    const mpi_win_t *win;
    int rank;
    const char *call;
    const void *site;
} end_t;

static end_t end_of(const mpi_win_t *win)
{
    return (end_t){win, win->owner->world, win->owner->call.name, win->owner->call.caller};
}

/* The owner of the memory has stored to what another has put there, before that was over. */
static void report_store(access_t *a, const end_t *end)
{
    int owner = mpi_comm_world_rank(end->win->comm, a->target);
    mpi_finding_t finding = {.kind = XMPI_FINDING_RMA_CONFLICT,
                             .rank = owner,
                             .other = a->origin,
                             .sites = {end->site, a->site}};
    char here[160], there[160], by[48] = "";

    a->is_told = true;
    if (mpi_finding_is_known(&finding))
        return;
    if (end->rank != owner)
        snprintf(by, sizeof(by), " of rank %d", end->rank);
    mpi_finding_add(
        &finding,
        "its own code has changed memory of its window that %s of rank %d %s %s, before "
        "%s%s %s",
        a->call, a->origin, check_place_text(a->site, there),
        a->what == CHECK_READ ? "read" : "wrote to", end->call, by,
        check_place_text(end->site, here));
}

/* The owner's code has used pages that were written, and the guard knows where. */
static void report_touch(access_t *a, const end_t *end)
{
    int owner = mpi_comm_world_rank(end->win->comm, a->target);
    mpi_finding_t finding = {.kind = XMPI_FINDING_RMA_CONFLICT,
                             .rank = owner,
                             .other = a->origin,
                             .sites = {check_guard_touched(a->guard), a->site}};
    char here[160], there[160], at_end[160];

    a->is_told = true;
    if (mpi_finding_is_known(&finding))
        return;
    mpi_finding_add(&finding,
                    "its own code has used memory of its window %s that %s of rank %d %s wrote to, "
                    "before %s %s",
                    check_place_text(finding.sites[0], here), a->call, a->origin,
                    check_place_text(a->site, there), end->call,
                    check_place_text(end->site, at_end));
}

static void look_for_store(access_t *a, const end_t *end)
{
    check_guard_lift(a->guard);
    if (!a->is_told && check_guard_touched(a->guard) != NULL)
        report_touch(a, end);
    if (is_compared(a) && !a->is_told && check_area_hash_parts(&a->area, a->parts) != a->hash)
        report_store(a, end);
}

/* Is it over, for all or at its target, with the fence that begins this turn? For MPI_Win_wait:
 * GROUPS. */
static bool is_of(const access_t *a, epoch_t epoch, uint32_t turn)
{
    return a->epoch == epoch && (epoch != FENCES || a->turn == turn);
}

/* Has the code of the owner used the memory of accesses of the list? */
static void look(const list_t *list, const end_t *end, epoch_t epoch, uint32_t turn)
{
    for (access_t *a = list->first; a != NULL; a = a->next)
        if (is_of(a, epoch, turn))
            look_for_store(a, end);
}

static void drop(list_t *list, access_t *a)
{
    list_remove(list, a);
    check_spans_remove(&spans, &a->span);
    check_guard_end(a->guard);
    mpi_type_release(a->type);
    xy_free(a);
}

/* Remove the operations of groups, or those of fences before a turn. */
static void forget(list_t *list, epoch_t epoch, uint32_t turn)
{
    for (access_t *a = list->first, *next; a != NULL; a = next) {
        next = a->next;
        if (a->epoch == epoch && (epoch != FENCES || a->turn < turn))
            drop(list, a);
    }
}

/* An MPI_Rget has read what it wanted. */
static void forget_read(list_t *list, uint32_t number)
{
    access_t *a = list->first;

    while (a != NULL && a->number != number)
        a = a->next;
    if (a != NULL)
        drop(list, a);
}

/* An MPI_Rget whose request is pending. The window may be freed before; then its epochs have ended.
 */
typedef struct {
    mpi_win_t *win;
    member_t *member;
    int target;
    uint32_t number;
} fetch_t;

/* An MPI_Rget is complete: forget its read, here or in the process of the target. */
static void on_fetched(mpi_request_t *request)
{
    fetch_t *fetch = request->extra;
    rma_told_t told;

    if (is_reached(fetch->member, fetch->target)) {
        told = told_of(request->owner);
        told.is_over = true;
        told.number = fetch->number;
        rma_far_tell(fetch->win, fetch->target, &told);
    } else {
        pthread_mutex_lock(&lock);
        forget_read(&fetch->member->locked, fetch->number);
        pthread_mutex_unlock(&lock);
    }
    xy_free(fetch);
}

/* Bind an operation to its request; the end of an MPI_Rget ends its read. */
static void on_request(mpi_win_t *win, int target, mpi_request_t *request)
{
    member_t *member = member_of(win);
    fetch_t *fetch;

    check_pending_bind(win->owner, win, request);
    if (member == NULL || !mpi_checks.windows || !check_facts_of(win->owner->call.name)->is_rget)
        return;
    fetch = xy_malloc(sizeof(*fetch));
    if (fetch == NULL)
        return; /* it seems to continue, and may be reported */
    *fetch = (fetch_t){win, member, target, member->operations};
    request->extra = fetch;
    request->release = on_fetched;
}

/* A search for a completed access whose conflicts a later one has, too. */
typedef struct {
    const access_t *later;
    access_t *found;
} old_t;

static bool is_old(check_span_t *span, void *argument)
{
    access_t *a = (access_t *)span;
    old_t *old = argument;
    const access_t *b = old->later;

    if (a->epoch == PAST && a->origin == b->origin && a->target == b->target &&
        a->window == b->window && a->what == b->what && a->op == b->op && a->type == b->type &&
        a->area.buffer == b->area.buffer && a->area.count == b->area.count)
        old->found = a;
    return old->found == NULL;
}

/* Keep a completed access: a slower rank may still conflict with it, unless something orders the
 * two. The latest ones suffice. */
static void keep_past(list_t *list, access_t *a)
{
    old_t old = {.later = a};

    check_spans_each(spans, a->area.low, a->area.high, is_old, &old);
    if (old.found != NULL) {
        past_count--;
        drop(&past, old.found);
    }
    list_remove(list, a);
    check_guard_end(a->guard);
    a->guard = -1;
    a->epoch = PAST;
    a->ended = check_order_now();
    list_append(&past, a);
    if (++past_count > PAST_MOST) {
        past_count--;
        drop(&past, past.first);
    }
}

/* Is it over with a flush, or with an unlock, of this extent? */
static bool is_within(const access_t *a, const extent_t *extent)
{
    return (extent->target == RMA_EVERYWHERE || a->target == extent->target) &&
           (!extent->is_local || check_facts_of(a->call)->returns);
}

/* Operations that `member` has locked for are complete. */
static void end_locks(member_t *member, const end_t *end, const extent_t *extent)
{
    for (access_t *a = member->locked.first, *next; a != NULL; a = next) {
        next = a->next;
        if (!is_within(a, extent))
            continue;
        look_for_store(a, end);
        if (mpi_job->processes == 1 && !a->is_exclusive)
            keep_past(&member->locked, a);
        else
            drop(&member->locked, a);
    }
}

/* The member has completed its operations: at a fence all members do. */
static void on_settle(mpi_win_t *win, int target, bool is_local)
{
    const extent_t extent = {target, is_local};
    member_t *member = member_of(win);
    end_t end = end_of(win);

    check_pending_settle(win->owner, win, target);
    if (member == NULL || !mpi_checks.windows)
        return;
    pthread_mutex_lock(&lock);
    forget(&member->exposed, FENCES, member->fences);
    if (epoch_of(win) == FENCES)
        look(&member->exposed, &end, FENCES, member->fences++);
    end_locks(member, &end, &extent);
    pthread_mutex_unlock(&lock);
    tell_over(win, member, &extent);
}

static void on_exposed(mpi_win_t *win)
{
    end_t end = end_of(win);
    member_t *member;

    pthread_mutex_lock(&lock);
    member = find_member(win->comm->context, win->rank);
    if (member != NULL) {
        look(&member->exposed, &end, GROUPS, 0);
        forget(&member->exposed, GROUPS, 0);
    }
    pthread_mutex_unlock(&lock);
}

static void on_meet(const mpi_comm_t *comm)
{
    check_order_meet(comm->owner, comm, true);
}

/* `win` is that of the target. */
static void on_told(mpi_win_t *win, int from, int origin, const rma_told_t *told)
{
    int world = mpi_comm_world_rank(win->comm, origin);
    const void *site = mpi_network_site(from, told->site);
    access_t now = {.window = win->comm->context,
                    .epoch = (epoch_t)told->epoch,
                    .turn = told->turn,
                    .number = told->number,
                    .op = told->op,
                    .origin = world,
                    .target = win->rank,
                    .what = (check_what_t)told->what,
                    .type = told->type,
                    .is_told = !told->is_written,
                    .site = site};
    member_t *member;

    pthread_mutex_lock(&lock);
    now.call = keep_name(told->call);
    member = find_member(now.window, origin);
    if (!told->is_over) {
        now.area = check_area_make(told->address, told->count, told->type);
        add(&now, win, origin);
    } else if (member != NULL && told->number > 0) {
        forget_read(&member->locked, told->number);
    } else if (member != NULL) {
        end_locks(member, &(end_t){win, world, now.call, site},
                  &(extent_t){win->rank, told->what != 0});
    }
    pthread_mutex_unlock(&lock);
}

void check_conflicts_begin(void)
{
    static const rma_watch_t watch = {.operation = on_operation,
                                      .side = check_sides_note,
                                      .request = on_request,
                                      .settle = on_settle,
                                      .exposed = on_exposed,
                                      .meet = on_meet,
                                      .told = on_told};

    xy_hash_init(&members, XY_HASH_U64);
    running = xy_calloc((size_t)mpi_job->numbers, sizeof(*running)); /* NULL: there are no runs */
    check_sides_begin(mpi_job->numbers);
    running_count = mpi_job->numbers;
    for (int r = 0; r < mpi_job->size; r++)
        mpi_rank_watch(&mpi_job->ranks[r], XMPI_LOOK_RECORD);
    rma_watch = &watch;
}
