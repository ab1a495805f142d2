/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One list has the pending operations of all ranks on windows of this process. An operation on
 * another process is sent to that process. Two operations of the list that overlap are concurrent,
 * whatever the order of this run:
 *
 *   fences   between two of them the operations of all members
 *   groups   those of all origins, until the target ends its epoch (MPI_Win_wait)
 *   locks    those of an origin until it unlocks or flushes; an MPI_Rget until its request is
 *            complete
 *
 * Windows are known by the contexts of their communicators, which are never used again.
 */
#include "mpi/check/conflicts.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "mpi/check/area.h"
#include "mpi/check/check.h"
#include "mpi/check/cores.h"
#include "mpi/check/findings.h"
#include "mpi/check/guard.h"
#include "mpi/check/order.h"
#include "mpi/check/pending.h"
#include "mpi/rma/rma.h"

typedef enum { READ, WRITE, UPDATE } what_t;
typedef enum { FENCES, GROUPS, LOCKS, PAST } epoch_t;

typedef struct {
    uint32_t window;
    epoch_t epoch;
    uint32_t turn;      /* fences of the origin before */
    uint32_t number;    /* of the origin's operations */
    int origin, target; /* a rank of the world, and one of the window */
    what_t what;
    const mpi_op_t *op; /* of MPI_Accumulate and MPI_Get_accumulate */
    check_area_t area;
    mpi_type_t *type; /* held */
    uint64_t hash;    /* of what was written */
    bool is_told;
    const char *call;
    const void *site;
    bool is_exclusive; /* under an exclusive lock */
    uint64_t ended;    /* PAST: when (order.h) */
    int guard;         /* of whole pages that were written, against the owner's code (guard.h) */
} access_t;

/* Of the list, of members and of names. A finding that ends the job does not return. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static xy_vec_t list = XY_VEC_INIT(access_t);

enum { PAST_MOST = 128 }; /* accesses that are complete */

/* What a member has called so far. */
typedef struct {
    uint32_t fences;
    uint32_t operations;
    xy_vec_t far; /* of int: members of other processes that its lock epochs have reached */
} member_t;

static xy_hash_t members; /* of member_t, by window and rank */

static access_t *at(size_t i)
{
    return &XY_VEC_AT(&list, access_t, i);
}

static uint64_t key_of(const mpi_win_t *win)
{
    return (uint64_t)win->comm->context << 32 | (uint32_t)win->owner->world;
}

/* With the lock held. */
static member_t *member_new(uint64_t key)
{
    member_t *m = xy_calloc(1, sizeof(*m));

    if (m != NULL)
        m->far = XY_VEC_INIT(int);
    if (m != NULL && xy_hash_set(&members, key, m) != XY_OK) {
        xy_free(m);
        return NULL;
    }
    return m;
}

/* What it has belongs to its rank. NULL: memory ran out, and nothing is compared. */
static member_t *member_of(const mpi_win_t *win)
{
    member_t *m;

    pthread_mutex_lock(&lock);
    m = xy_hash_get(&members, key_of(win));
    if (m == NULL)
        m = member_new(key_of(win));
    pthread_mutex_unlock(&lock);
    return m;
}

static what_t what_of(const char *call)
{
    if (strncmp(call, "MPI_Put", 7) == 0 || strncmp(call, "MPI_Rput", 8) == 0)
        return WRITE;
    if (strcmp(call, "MPI_Get") == 0 || strcmp(call, "MPI_Get_c") == 0 ||
        strncmp(call, "MPI_Rget", 8) == 0)
        return strncmp(call, "MPI_Rget_", 9) == 0 && call[9] == 'a' ? UPDATE : READ;
    return UPDATE;
}

/* May both happen in any order? What is in the list is not over. */
static bool is_open(const access_t *a, const access_t *b)
{
    if (a->epoch == PAST)
        return a->window == b->window && a->origin != b->origin && !b->is_exclusive &&
               check_order_heard(&mpi_job->ranks[b->origin]) < a->ended;
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

static bool is_conflict(const access_t *a, const access_t *b)
{
    if (a->target != b->target || !is_open(a, b))
        return false;
    if (a->what == b->what && a->what != WRITE && !has_other_operation(a, b))
        return false;
    return check_area_overlaps(&a->area, &b->area);
}

static const char *cure_of(const access_t *now, const access_t *before)
{
    if (now->what == UPDATE && before->what == UPDATE)
        return "accumulates that meet must have the same operation";
    if (before->epoch == PAST)
        return "send a message between them, lock it exclusively, or use MPI_Accumulate";
    if (now->epoch == FENCES)
        return "put MPI_Win_fence between them, or use MPI_Accumulate";
    if (now->epoch == LOCKS && now->origin != before->origin)
        return "lock it exclusively, or use MPI_Accumulate";
    return "put a flush or the end of the epoch between them, or use MPI_Accumulate";
}

/* Report two operations that use the same memory of a window without an order. */
static void report_conflict(access_t *now, access_t *before, const mpi_win_t *win)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_RMA_CONFLICT,
                             .rank = now->origin,
                             .other = before->origin,
                             .sites = {now->site, before->site}};
    const char *low = now->area.low > before->area.low ? now->area.low : before->area.low;
    char here[160], there[160], by[48] = "", byte[64] = "";

    now->is_told = before->is_told = true;
    if (mpi_finding_is_known(&finding))
        return;
    if (before->origin != now->origin)
        snprintf(by, sizeof(by), " of rank %d", before->origin);
    if (win->shared->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        snprintf(byte, sizeof(byte), " (byte %lld of its window)",
                 (long long)(low - win->shared->places[now->target].base));
    mpi_finding_add(&finding, "%s %s and %s%s %s use the same memory of rank %d %s%s; %s",
                    now->call, check_place_text(now->site, here), before->call, by,
                    check_place_text(before->site, there),
                    mpi_comm_world_rank(win->comm, now->target),
                    before->epoch == PAST ? "in epochs without an order" : "in one epoch", byte,
                    cure_of(now, before));
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
    return a->what != WRITE && strncmp(a->call, "MPI_Rget", 8) != 0;
}

/* Does it have the conflicts of another that stays in the list as long? */
static bool is_repeated(const access_t *now, const access_t *before)
{
    return stays(now) && stays(before) && now->what == before->what &&
           now->origin == before->origin && now->target == before->target && is_open(now, before) &&
           now->op == before->op && now->area.buffer == before->area.buffer &&
           now->area.count == before->area.count && now->type == before->type;
}

/* Is memory compared with what it was when the operation was done? Under locks the owner may store
 * to what others read, where they poll. */
static bool is_compared(const access_t *a)
{
    return a->what == WRITE || (a->what == READ && a->epoch != LOCKS);
}

/* Other ranks, and calls of the owner, lift the guard where they use the memory. */
static void guard_pages(access_t *a, const mpi_win_t *win)
{
    const mpi_rank_t *owner = &mpi_job->ranks[mpi_comm_world_rank(win->comm, a->target)];

    if (a->type->is_contiguous && !check_has_threads(owner) && owner->world != a->origin &&
        win->shared->flavor != MPI_WIN_FLAVOR_SHARED)
        a->guard = check_guard_set(owner, a->area.low, a->area.high);
}

/* On one core ranks take turns; elsewhere the clock decides, or chance. */
static bool comes_in_any_order(void)
{
    return check_is_parallel() || mpi_job->clock != NULL;
}

/* Compare it with the others, and keep it: counters that all ranks update come once per rank. */
static void add(access_t *now, const mpi_win_t *win)
{
    for (size_t i = 0; i < list.count; i++) {
        if (at(i)->area.high <= now->area.low || at(i)->area.low >= now->area.high)
            continue; /* most are elsewhere */
        if (is_repeated(now, at(i)))
            return;
        if (is_conflict(at(i), now)) {
            if (comes_in_any_order() && now->origin < at(i)->origin)
                report_conflict(at(i), now, win);
            else
                report_conflict(now, at(i), win);
            break;
        }
    }
    now->guard = -1;
    if (is_compared(now))
        now->hash = check_area_hash(&now->area);
    if (now->what == WRITE && !now->is_told)
        guard_pages(now, win);
    if (xy_vec_append(&list, now) == XY_OK) /* else it is not compared */
        mpi_type_hold(now->type);
}

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

/* All that the member has done in epochs of locks is complete. */
static void tell_over(mpi_win_t *win, member_t *member)
{
    rma_told_t told = told_of(win->owner);

    told.is_over = true;
    for (size_t i = 0; i < member->far.count; i++)
        rma_far_tell(win, XY_VEC_AT(&member->far, int, i), &told);
    while (member->far.count > 0)
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

/* The buffers that the call of this thread has named before its operation. */
enum { SIDES = 2 };
static _Thread_local struct {
    mpi_transfer_t sides[SIDES];
    bool is_receive[SIDES];
    int count;
    const mpi_rank_t *self;
    const void *site;
} named;

/* They are in use from now on. */
static void use_buffers(mpi_rank_t *self, const mpi_win_t *win, int target)
{
    bool is_same = named.self == self && named.site == self->call.caller; /* else one has failed */

    for (int i = 0; i < named.count && is_same; i++)
        check_pending_window(self, win, &named.sides[i], named.is_receive[i],
                             rma_is_far(win, target));
    named.count = 0;
}

/* Memory carries what ranks tell each other, too. */
static void note_order(const mpi_rank_t *self, const mpi_win_t *win, const access_t *a)
{
    if (a->what != READ)
        check_order_write(mpi_comm_world_rank(win->comm, a->target));
    if (a->what == READ || (strncmp(a->call, "MPI_Accumulate", 14) != 0 &&
                            strncmp(a->call, "MPI_Racc", 8) != 0 && a->what == UPDATE))
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
                    .what = what_of(self->call.name),
                    .area = check_area_make(address, count, type),
                    .type = type,
                    .call = self->call.name,
                    .site = self->call.caller};

    use_buffers(self, win, target);
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
    pthread_mutex_lock(&lock);
    add(&now, win);
    pthread_mutex_unlock(&lock);
    note_order(self, win, &now);
}

/* What was called when something is complete: by whom, and where. */
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
        a->call, a->origin, check_place_text(a->site, there), a->what == READ ? "read" : "wrote to",
        end->call, by, check_place_text(end->site, here));
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
    if (is_compared(a) && !a->is_told && check_area_hash(&a->area) != a->hash)
        report_store(a, end);
}

/* `number`: a turn of fences, or the rank that has locked. */
typedef bool (*is_over_fn)(const access_t *a, const mpi_win_t *win, uint32_t number);

/* Between the fence that began this turn and the next, at this target. */
static bool is_fenced_here(const access_t *a, const mpi_win_t *win, uint32_t turn)
{
    return a->epoch == FENCES && a->turn == turn && a->target == win->rank;
}

/* Before the fence that began this turn: over for all. */
static bool is_fenced_before(const access_t *a, const mpi_win_t *win, uint32_t turn)
{
    (void)win;
    return a->epoch == FENCES && a->turn < turn;
}

static bool is_exposed_here(const access_t *a, const mpi_win_t *win, uint32_t turn)
{
    (void)turn;
    return a->epoch == GROUPS && a->target == win->rank;
}

static bool is_locked_by(const access_t *a, const mpi_win_t *win, uint32_t rank)
{
    (void)win;
    return a->epoch == LOCKS && (uint32_t)a->origin == rank;
}

static void look(const end_t *end, uint32_t number, is_over_fn is_over)
{
    for (size_t i = 0; i < list.count; i++)
        if (at(i)->window == end->win->comm->context && is_over(at(i), end->win, number))
            look_for_store(at(i), end);
}

static void drop(const access_t *a)
{
    check_guard_end(a->guard);
    mpi_type_release(a->type);
}

/* Remove the operations of a window that `is_over` selects. Called under the lock. */
static void forget(const mpi_win_t *win, uint32_t number, is_over_fn is_over)
{
    size_t kept = 0;

    for (size_t i = 0; i < list.count; i++) {
        const access_t *a = at(i);

        if (a->window == win->comm->context && is_over(a, win, number))
            drop(a);
        else if (kept++ < i)
            *at(kept - 1) = *a;
    }
    while (list.count > kept)
        xy_vec_pop(&list);
}

/* An MPI_Rget has read what it wanted. */
static void forget_read(uint32_t window, int origin, uint32_t number)
{
    size_t i = 0;

    while (i < list.count &&
           (at(i)->window != window || at(i)->origin != origin || at(i)->number != number))
        i++;
    if (i == list.count)
        return;
    drop(at(i));
    memmove(at(i), at(i) + 1, (list.count - i - 1) * sizeof(access_t));
    xy_vec_pop(&list);
}

/* An MPI_Rget whose request is pending. The window may be freed before; then its epochs have ended.
 */
typedef struct {
    mpi_win_t *win;
    uint64_t key;
    int target;
    uint32_t number;
} fetch_t;

/* An MPI_Rget is complete: forget its read, here or in the process of the target. */
static void on_fetched(mpi_request_t *request)
{
    fetch_t *fetch = request->extra;
    const member_t *member;
    rma_told_t told;

    pthread_mutex_lock(&lock);
    member = xy_hash_get(&members, fetch->key);
    pthread_mutex_unlock(&lock);
    if (is_reached(member, fetch->target)) {
        told = told_of(request->owner);
        told.is_over = true;
        told.number = fetch->number;
        rma_far_tell(fetch->win, fetch->target, &told);
    } else {
        pthread_mutex_lock(&lock);
        forget_read((uint32_t)(fetch->key >> 32), (int)(uint32_t)fetch->key, fetch->number);
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
    if (member == NULL || !mpi_checks.windows || strncmp(win->owner->call.name, "MPI_Rget", 8) != 0)
        return;
    fetch = xy_malloc(sizeof(*fetch));
    if (fetch == NULL)
        return; /* it seems to continue, and may be reported */
    *fetch = (fetch_t){win, key_of(win), target, member->operations};
    request->extra = fetch;
    request->release = on_fetched;
}

/* Keep completed accesses: a slower rank may still conflict with them, unless something orders the
 * two. The latest ones suffice. */
static void keep_past(const end_t *end)
{
    size_t past = 0;

    for (size_t i = 0; i < list.count; i++) {
        access_t *a = at(i);

        past += a->epoch == PAST;
        if (a->window != end->win->comm->context || a->is_exclusive ||
            !is_locked_by(a, end->win, (uint32_t)end->rank))
            continue;
        check_guard_end(a->guard);
        a->guard = -1;
        a->epoch = PAST;
        a->ended = check_order_now();
        past++;
    }
    for (size_t i = 0; past > PAST_MOST; past--) {
        while (at(i)->epoch != PAST)
            i++;
        drop(at(i));
        memmove(at(i), at(i) + 1, (list.count - i - 1) * sizeof(access_t));
        xy_vec_pop(&list);
    }
}

static void end_locks(const end_t *end)
{
    look(end, (uint32_t)end->rank, is_locked_by);
    if (mpi_job->processes == 1)
        keep_past(end);
    forget(end->win, (uint32_t)end->rank, is_locked_by);
}

/* The member has completed its operations: at a fence all members do. */
static void on_settle(mpi_win_t *win)
{
    member_t *member = member_of(win);
    end_t end = end_of(win);

    check_pending_settle(win->owner, win);
    if (member == NULL || !mpi_checks.windows)
        return;
    pthread_mutex_lock(&lock);
    forget(win, member->fences, is_fenced_before);
    if (epoch_of(win) == FENCES)
        look(&end, member->fences++, is_fenced_here);
    end_locks(&end);
    pthread_mutex_unlock(&lock);
    tell_over(win, member);
}

static void on_exposed(mpi_win_t *win)
{
    end_t end = end_of(win);

    pthread_mutex_lock(&lock);
    look(&end, 0, is_exposed_here);
    forget(win, 0, is_exposed_here);
    pthread_mutex_unlock(&lock);
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
                    .what = (what_t)told->what,
                    .type = told->type,
                    .is_told = !told->is_written,
                    .site = site};

    pthread_mutex_lock(&lock);
    now.call = keep_name(told->call);
    if (!told->is_over) {
        now.area = check_area_make(told->address, told->count, told->type);
        add(&now, win);
    } else if (told->number > 0) {
        forget_read(now.window, world, told->number);
    } else {
        end_locks(&(end_t){win, world, now.call, site});
    }
    pthread_mutex_unlock(&lock);
}

/* The memory and the type of the caller's own buffer. */
static void on_side(const mpi_rank_t *self, const char *name, const void *address, int64_t count,
                    const mpi_type_t *type)
{
    check_area_t area = check_area_make(address, count, type);
    what_t what = what_of(self->call.name);
    bool is_receive = strcmp(name, "result") == 0 || what == READ;

    if (strcmp(name, "origin") == 0 || named.count == SIDES)
        named.count = 0;
    if (!mpi_checks.buffers || area.low == area.high || strcmp(name, "target") == 0)
        return;
    check_pending_memory(self, &area, is_receive);
    if (is_receive && what == UPDATE)
        return; /* what nobody wants may go to one place */
    named.sides[named.count] = (mpi_transfer_t){.buffer = (void *)(uintptr_t)address,
                                                .count = count,
                                                .type = (mpi_type_t *)(uintptr_t)type};
    named.is_receive[named.count++] = is_receive;
    named.self = self;
    named.site = self->call.caller;
}

void check_conflicts_begin(void)
{
    static const rma_watch_t watch = {.operation = on_operation,
                                      .side = on_side,
                                      .request = on_request,
                                      .settle = on_settle,
                                      .exposed = on_exposed,
                                      .told = on_told};

    xy_hash_init(&members, XY_HASH_U64);
    for (int r = 0; r < mpi_job->size; r++)
        mpi_rank_watch(&mpi_job->ranks[r], XMPI_LOOK_RECORD);
    rma_watch = &watch;
}
