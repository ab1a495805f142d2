/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/account.h"

#include <string.h>
#include <time.h>

#include "mpi/runtime/account_internal.h"
#include "mpi/runtime/job_clock.h"
#include "mpi/runtime/layer.h"
#include "mpi/runtime/move.h"
#include "trace/trace.h"

static __attribute__((noinline, cold)) uint64_t virtual_now(mpi_rank_t *self)
{
    return (uint64_t)(1e9 * mpi_job->clock->peek(self) + 0.5);
}

/* The clock of accounts. `a` is that of `self`, and tells which one it is. */
static inline uint64_t now_of(mpi_rank_t *self, const mpi_account_t *a)
{
    return __builtin_expect(a->is_virtual, 0) ? virtual_now(self) : xy_trace_clock();
}

/*
 * The clock is read as seldom as possible: one reading takes as long as all hooks of a call (20 ns
 * on a virtual machine). Each call is timed when it begins, and
 *   ends after a wait        when the wait was over, if it moves little data
 *   waits                    since its beginning
 *   continues                when the rank that had the core began to wait, if it was ready then
 *   ends without a wait      after as long as others of its record, if these are short; one in
 *                            ACCOUNT_TIMED is timed
 * The sum of all parts is the time of the rank in any case. In virtual time all readings are exact.
 */
uint64_t account_short_ticks;
account_entry_t *account_far;
bool account_has_hosts;
/* When a rank of this thread's worker last began to wait, up to its next hook; 0: not known. */
static _Thread_local uint64_t parked_at __attribute__((tls_model("initial-exec")));

/* Does the call move so little data that this takes no time worth a reading? */
static inline bool is_brief(const mpi_account_t *a)
{
    return a->bytes <= ACCOUNT_BRIEF && !__builtin_expect(a->is_virtual, 0);
}

/* ---- Records ---- */

static size_t hash_of(const account_key_t *key)
{
    uint64_t h = (uintptr_t)key->site ^ (uintptr_t)key->name << 17 ^ key->shape << 8;

    h *= UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 32);
}

static inline bool is_of(const account_record_t *r, const account_key_t *key)
{
    return r->site == key->site && r->name == key->name && r->shape == key->shape;
}

static size_t find(const account_record_t *records, size_t room, const account_key_t *key)
{
    size_t at = hash_of(key) & (room - 1);

    while (records[at].name != NULL && !is_of(&records[at], key))
        at = (at + 1) & (room - 1);
    return at;
}

/* Double the room of an account; false at the limit or without memory. */
static __attribute__((noinline, cold)) bool grow(mpi_account_t *a)
{
    size_t room = 2 * a->room;
    account_record_t *more = room <= ACCOUNT_MOST ? xy_calloc(room, sizeof(*more)) : NULL;

    if (more == NULL)
        return false;
    for (size_t i = 0; i < a->room; i++)
        if (a->records[i].name != NULL) {
            const account_record_t *r = &a->records[i];

            account_record_t *to =
                &more[find(more, room, &(account_key_t){r->site, r->name, r->shape})];

            *to = *r;
            to->next = NULL;
        }
    a->rest.next = NULL;
    xy_free(a->records);
    a->records = more;
    a->last = &a->rest;
    a->room = room;
    return true;
}

/* The record of these calls, which are not those that followed the last record before. When there
 * are too many, one that is for all further ones. */
static __attribute__((noinline)) account_record_t *search(mpi_account_t *a,
                                                          const account_key_t *key)
{
    size_t at = find(a->records, a->room, key);

    if (__builtin_expect(a->records[at].name == NULL, 0)) {
        if (2 * (a->count + 1) > a->room) {
            if (!grow(a))
                return &a->rest;
            at = find(a->records, a->room, key);
        }
        a->records[at] =
            (account_record_t){.site = key->site, .name = key->name, .shape = key->shape};
        a->count++;
    }
    a->last->next = &a->records[at];
    return a->last = &a->records[at];
}

/* Calls come in loops: again the last ones, or those that followed them the last time. */
static inline account_record_t *record_of(mpi_account_t *a, const account_key_t *key)
{
    account_record_t *next = a->last->next;

    if (__builtin_expect(is_of(a->last, key), 1))
        return a->last;
    if (__builtin_expect(next != NULL && is_of(next, key), 1))
        return a->last = next;
    return search(a, key);
}

/* Add waiting time to the entry of a rank and call site, or to the smallest entry, the first one
 * that is free, which it replaces. */
static inline void blame(account_blame_t *all, int n, const account_blame_t *more)
{
    int at = 0;

    if (__builtin_expect(all[0].rank == more->rank && all[0].site == more->site, 1)) {
        all[0].ticks += more->ticks;
        return;
    }
    for (int i = 0; i < n; i++) {
        if (all[i].ticks > 0 && all[i].rank == more->rank && all[i].site == more->site) {
            at = i;
            break;
        }
        if (all[i].ticks < all[at].ticks)
            at = i;
    }
    /* The least makes room, and leaves its time: who is blamed often comes to stay. */
    all[at] = (account_blame_t){more->rank, more->site, all[at].ticks + more->ticks};
}

/* ---- Calls ---- */

/* Of the thread that runs main. */
static inline bool is_counted(const mpi_rank_t *self)
{
    return self->account != NULL && self->waiter == &self->own;
}

/* Computation since the last call. One whose end was estimated may have ended before. */
static inline uint64_t computed(mpi_account_t *a, uint64_t now)
{
    if (__builtin_expect(now >= a->left, 1))
        return now - a->left;
    a->of_left->time -= a->left - now;
    a->left = now;
    return 0;
}

void mpi_account_enter(mpi_rank_t *self)
{
    mpi_account_t *a = self->account;
    uint64_t now;

    if (self->waiter != &self->own || a->depth++ > 0 || !a->is_on)
        return;
    now = now_of(self, a);
    parked_at = 0;
    a->compute = computed(a, now);
    a->bytes = 0;
    a->since = now;
    a->name = self->call.name;
    self->call.since = now;
    atomic_store_explicit(&a->entry.site, self->call.caller, memory_order_relaxed);
    atomic_store_explicit(&a->entry.entered, now, memory_order_relaxed);
}

/* The waits of the call that ends. */
static __attribute__((noinline)) void add_waits(mpi_account_t *a, account_record_t *r)
{
    for (unsigned left = a->parts; left != 0; left &= left - 1) {
        int i = __builtin_ctz(left);

        r->part[i] += a->part[i];
        a->part[i] = 0;
    }
    for (int i = 0; i < ACCOUNT_PENDING && a->pending[i].ticks > 0; i++) {
        blame(r->blame, XY_PROFILE_BLAMES, &a->pending[i]);
        a->pending[i].ticks = 0;
    }
    a->parts = 0;
}

/* Counting begins when a call leaves the rank in the running phase, and ends with MPI_Finalize. */
static __attribute__((noinline, cold)) void begin(mpi_rank_t *self, mpi_account_t *a)
{
    if (a->is_over || !mpi_phase_is_running(self->phase) || a->is_stopped)
        return;
    a->is_on = true;
    a->left = a->begun = now_of(self, a);
}

static __attribute__((noinline, cold)) void end(mpi_account_t *a, uint64_t now)
{
    a->counted += now - a->begun;
    a->is_on = false;
}

/* When a call without a wait has ended, by the clock; where such calls are short, the next ones are
 * not timed. */
static __attribute__((noinline)) uint64_t timed(mpi_rank_t *self, const mpi_account_t *a,
                                                account_record_t *r, uint64_t entered)
{
    uint64_t now = now_of(self, a), time = now - entered;

    if (!is_brief(a))
        return now;
    r->usual += r->usual == 0 ? time : (uint64_t)((int64_t)(time - r->usual) / 4);
    if (r->usual > account_short_ticks)
        r->usual = 0;
    else if (r->calls > ACCOUNT_TIMED)
        r->untimed = ACCOUNT_TIMED - 1;
    return now;
}

/* The same with a wait. */
static __attribute__((noinline)) uint64_t resumed(mpi_rank_t *self, mpi_account_t *a)
{
    a->has_resumed = false;
    return is_brief(a) ? a->since : now_of(self, a);
}

void mpi_account_leave(mpi_rank_t *self)
{
    mpi_account_t *a = self->account;
    account_record_t *r;
    uint32_t members;
    uint64_t entered, now;

    if (self->waiter != &self->own || a->depth == 0 || --a->depth > 0)
        return;
    if (__builtin_expect(!a->is_on, 0)) {
        begin(self, a);
        return;
    }
    members = self->call.comm != NULL ? mpi_dispatch.members(self->call.comm) : 0;
    r = record_of(
        a, &(account_key_t){.site = atomic_load_explicit(&a->entry.site, memory_order_relaxed),
                            .name = a->name,
                            .shape = account_shape(members, a->bytes)});
    entered = atomic_load_explicit(&a->entry.entered, memory_order_relaxed);
    r->calls++;
    r->bytes += a->bytes;
    r->compute += a->compute;
    if (a->parts != 0)
        add_waits(a, r);
    if (a->has_resumed) {
        now = resumed(self, a);
    } else if (__builtin_expect(r->untimed > 0 && a->bytes <= ACCOUNT_BRIEF, 1)) {
        r->untimed--;
        now = entered + r->usual;
    } else {
        now = timed(self, a, r, entered);
    }
    a->of_left = r;
    r->time += now - entered;
    a->left = now;
    if (__builtin_expect(self->phase == XMPI_RANK_FINALIZED, 0)) {
        a->is_over = true;
        end(a, now);
    }
}

void mpi_account_bytes(mpi_rank_t *self, uint64_t bytes)
{
    if (__builtin_expect(is_counted(self), 1))
        self->account->bytes += bytes;
}

void mpi_account_control(mpi_rank_t *self, bool is_on)
{
    mpi_account_t *a = self->account;
    account_record_t *r;
    uint64_t now, compute;

    if (!is_counted(self) || a->depth > 0 || a->is_stopped == !is_on)
        return;
    a->is_stopped = !is_on;
    if (is_on) {
        begin(self, a);
        return;
    }
    if (!a->is_on)
        return;
    now = now_of(self, a);
    compute = computed(a, now);
    r = record_of(a, &(account_key_t){.name = "MPI_Pcontrol"});
    r->calls++;
    r->compute += compute;
    end(a, now);
}

/* ---- Waiting ---- */

static inline mpi_account_t *parked(mpi_rank_t *owner)
{
    mpi_account_t *a = owner->account;

    return a != NULL && a->is_parked ? a : NULL;
}

/* Does `who` run on the worker of `owner`, which it keeps busy until then? */
static inline bool is_beside(const mpi_rank_t *owner, int who)
{
    return mpi_core_of(mpi_job, who) == mpi_core_of(mpi_job, owner->world);
}

/* The time up to `until` belongs to this part. */
static inline void add(mpi_account_t *a, xy_part_t part, int who, const void *site, uint64_t until)
{
    uint64_t ticks = until - a->since;

    if (until <= a->since)
        return;
    a->part[part] += ticks;
    a->parts |= 1u << part;
    a->since = until;
    if (part < XY_PART_CORE)
        blame(a->pending, ACCOUNT_PENDING, &(account_blame_t){who, site, ticks});
}

void mpi_account_put_park(mpi_rank_t *self)
{
    mpi_account_t *a = self->account;

    if (a == NULL || a->depth == 0 || !a->is_on || self->waiter != &self->own)
        return;
    /* The first wait of a call began with it. */
    if (a->has_resumed || a->is_virtual)
        a->since = now_of(self, a);
    parked_at = is_brief(a) ? a->since : 0;
    a->ready = a->over = 0;
    a->is_parked = true;
}

void mpi_account_put_resume(mpi_rank_t *self)
{
    mpi_account_t *a = self->waiter == &self->own ? parked(self) : NULL;
    uint64_t now;

    if (a == NULL)
        return;
    now = a->ready != 0 && a->ready <= parked_at ? parked_at : now_of(self, a);
    parked_at = 0;
    add(a, XY_PART_TRANSFER, XY_PROFILE_NOBODY, NULL,
        a->ready > 0 && a->ready < now ? a->ready : now);
    add(a, XY_PART_CORE, XY_PROFILE_NOBODY, NULL, now);
    if (a->since < now) /* else the rank beside it parked before the wait had ended */
        a->since = now;
    a->is_parked = false;
    a->has_resumed = true;
}

/* The account of the last call of a rank; NULL: nothing is known. */
static const account_entry_t *entry_of(int who)
{
    if (who < 0 || who >= mpi_job->size)
        return NULL;
    if (mpi_job->ranks[who].account != NULL)
        return &mpi_job->ranks[who].account->entry;
    return account_far != NULL && who < mpi_job->started &&
                   atomic_load_explicit(&account_far[who].entered, memory_order_relaxed) != 0
               ? &account_far[who]
               : NULL;
}

void mpi_account_waited(mpi_rank_t *owner, xy_part_t part, int who, const void *site, uint64_t time)
{
    mpi_account_t *a = parked(owner);
    const account_entry_t *other = entry_of(who);

    if (a == NULL)
        return;
    if (time == XMPI_ACCOUNT_ENTERED && other != NULL && is_beside(owner, who) && is_brief(a)) {
        a->over = time = atomic_load_explicit(&other->entered, memory_order_relaxed);
    } else if (time == XMPI_ACCOUNT_ENTERED) {
        a->over = now_of(owner, a);
        time =
            other != NULL ? atomic_load_explicit(&other->entered, memory_order_relaxed) : a->over;
        if (time > a->over)
            time = a->over;
    }
    if (other == NULL)
        site = NULL; /* of a rank that is not counted, or has not been heard of */
    else if (site == NULL || mpi_job->ranks[who].account == NULL)
        site = atomic_load_explicit(&other->site, memory_order_relaxed);
    if (part == XY_PART_LATE_SENDER && a->is_lock)
        part = XY_PART_LOCK;
    add(a, part, who, site, time);
}

void mpi_account_ready(mpi_rank_t *owner)
{
    mpi_account_t *a = parked(owner);

    if (a == NULL)
        return;
    a->ready = a->over != 0 ? a->over : now_of(owner, a);
    a->over = 0;
}

void mpi_account_lock(mpi_rank_t *self, bool is_lock)
{
    if (is_counted(self))
        self->account->is_lock = is_lock;
}

/* ---- Collectives ---- */

/* A rank has entered the collective at `time`. */
static void come(mpi_meeting_t *meeting, uint64_t time, int rank, const void *site)
{
    uint64_t last = atomic_load_explicit(&meeting->time, memory_order_relaxed);

    while (time > last)
        if (atomic_compare_exchange_weak_explicit(&meeting->time, &last, time, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            /* One that came at nearly the same time may be named instead. */
            atomic_store_explicit(&meeting->rank, rank, memory_order_relaxed);
            atomic_store_explicit(&meeting->site, site, memory_order_relaxed);
            break;
        }
}

void mpi_account_meet(mpi_rank_t *self, mpi_meeting_t *meeting, bool is_far)
{
    come(meeting,
         is_counted(self) && self->account->depth > 0
             ? atomic_load_explicit(&self->account->entry.entered, memory_order_relaxed)
             : now_of(self, self->account),
         self->world, self->call.caller);
    if (is_far && account_has_hosts)
        atomic_store_explicit(&meeting->is_far, true, memory_order_relaxed);
}

void mpi_account_met(mpi_rank_t *owner, const mpi_meeting_t *meeting)
{
    mpi_account_t *a = parked(owner);
    uint64_t last;
    bool is_far;
    int who;

    if (a == NULL || meeting == NULL)
        return;
    last = atomic_load_explicit(&meeting->time, memory_order_relaxed);
    who = atomic_load_explicit(&meeting->rank, memory_order_relaxed);
    is_far = atomic_load_explicit(&meeting->is_far, memory_order_relaxed);
    a->over = !is_far && is_brief(a) && is_beside(owner, who) ? last : now_of(owner, a);
    if (who != owner->world)
        add(a, XY_PART_COLLECTIVE, who, atomic_load_explicit(&meeting->site, memory_order_relaxed),
            last < a->over ? last : a->over);
    if (is_far)
        add(a, XY_PART_COLLECTIVE, XY_PROFILE_NOBODY, NULL, a->over);
}

/* ---- Between processes ---- */

void mpi_account_stamp(mpi_rank_t *self, const mpi_meeting_t *meeting, mpi_stamp_t *stamp)
{
    const account_entry_t *own = &self->account->entry;
    const _Atomic uint64_t *time = meeting != NULL ? &meeting->time : &own->entered;
    const _Atomic(const void *) *site = meeting != NULL ? &meeting->site : &own->site;

    *stamp = (mpi_stamp_t){
        .time = atomic_load_explicit(time, memory_order_relaxed),
        .site = (uint64_t)(uintptr_t)atomic_load_explicit(site, memory_order_relaxed),
        .rank = meeting != NULL ? atomic_load_explicit(&meeting->rank, memory_order_relaxed)
                                : self->world};
}

void mpi_account_stamped(mpi_meeting_t *meeting, const mpi_stamp_t *stamp)
{
    const void *site = (const void *)(uintptr_t)stamp->site; /* in the program of that rank */
    uint64_t time = account_has_hosts ? xy_trace_clock() : stamp->time;
    account_entry_t *far;

    if (account_far == NULL || stamp->rank < 0 || stamp->rank >= mpi_job->started)
        return;
    far = &account_far[stamp->rank];
    if (meeting == NULL && time > atomic_load_explicit(&far->entered, memory_order_relaxed)) {
        atomic_store_explicit(&far->entered, time, memory_order_relaxed);
        atomic_store_explicit(&far->site, site, memory_order_relaxed);
    } else if (meeting != NULL && !account_has_hosts) {
        come(meeting, time, stamp->rank, site);
    }
}
