/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of targets. The state of all locks of a window is under one guard, and a rank that gets its
 * lock at once touches nothing else: neither the target nor any other rank takes part.
 *
 * One that does not get it waits in a queue; the rank whose unlock makes the lock free takes it for
 * the first in the queue and sends it a message without data, on the window's own communicator. So
 * the wait is that of a receive: the fiber parks, virtual time continues, a deadlock is found.
 *
 * Where members are in several processes, the locks of a target are in its own process. A far
 * origin asks for one by a letter and gets its answer when it is granted; one that waits here is
 * notified by an errand of its worker, since an unlock may come from anywhere. MPI_Win_lock_all
 * asks every process.
 *
 * Locks are granted in the order of the calls: a shared lock does not overtake an exclusive one of
 * the same target that waits, and exclusive ones and MPI_Win_lock_all, which meet at all targets,
 * have tickets.
 */
#include "mpi/rma/calls.h"
#include "mpi/rma/rma_survive.h"
#include "mpi/rma/sync.h"
#include "mpi/virtual/virtual.h"

/* In a queue, on the stack of the rank that waits: gone as soon as that has got its message. That
 * of a far one is on the heap. */
struct rma_waiter {
    remote_errand_t errand; /* first; where `answers` are those of a rank here */
    rma_answers_t *answers; /* NULL: it waits for a message */
    mpi_worker_t *worker;   /* of that rank; NULL: it is a far one, */
    int process, world;     /* and this is where */
    rma_waiter_t *next;     /* in the queue of the target or of lock_all; then among the granted */
    rma_waiter_t *next_exclusive, **exclusive_link;
    uint64_t ticket;
    int rank, target;
    bool is_exclusive;
    rma_holder_t *holder; /* its later state, in a job that survives; or NULL */
};

enum { ALL = -1 }; /* as a target */

static const uint64_t newest = UINT64_MAX;

void rma_locks_init(rma_shared_t *shared)
{
    for (int r = 0; r < shared->size; r++) {
        shared->targets[r].owner = -1;
        shared->targets[r].end = &shared->targets[r].first;
    }
    shared->end_all = &shared->first_all;
    shared->end_exclusive = &shared->exclusive;
}

/* ---- Under the guard ---- */

static bool may_lock(const rma_shared_t *shared, int target, bool is_exclusive, uint64_t ticket)
{
    const rma_target_t *t = &shared->targets[target];

    if (!is_exclusive)
        return t->owner < 0;
    return t->owner < 0 && t->sharers == 0 && shared->all == 0 &&
           (shared->first_all == NULL || ticket < shared->first_all->ticket);
}

static bool may_lock_all(const rma_shared_t *shared, uint64_t ticket)
{
    return shared->exclusives == 0 &&
           (shared->exclusive == NULL || ticket < shared->exclusive->ticket);
}

/* Give `w` the lock that it asks for, which is free. */
static void take(rma_shared_t *shared, const rma_waiter_t *w)
{
    if (w->target == ALL) {
        shared->all++;
    } else if (w->is_exclusive) {
        shared->targets[w->target].owner = w->rank;
        shared->exclusives++;
    } else {
        shared->targets[w->target].sharers++;
    }
    if (w->holder != NULL) {
        w->holder->next = shared->holders;
        shared->holders = w->holder;
    }
}

static void push_exclusive(rma_shared_t *shared, rma_waiter_t *w)
{
    w->next_exclusive = NULL;
    w->exclusive_link = shared->end_exclusive;
    *shared->end_exclusive = w;
    shared->end_exclusive = &w->next_exclusive;
}

static void pull_exclusive(rma_shared_t *shared, rma_waiter_t *w)
{
    *w->exclusive_link = w->next_exclusive;
    if (w->next_exclusive != NULL)
        w->next_exclusive->exclusive_link = w->exclusive_link;
    else
        shared->end_exclusive = w->exclusive_link;
}

static void push(rma_shared_t *shared, rma_waiter_t *w)
{
    rma_waiter_t ***end = w->target == ALL ? &shared->end_all : &shared->targets[w->target].end;

    w->ticket = shared->tickets++;
    w->next = NULL;
    **end = w;
    *end = &w->next;
    if (w->is_exclusive)
        push_exclusive(shared, w);
}

/* The first of a queue has got what it waits for. */
static void grant(rma_waiter_t **first, rma_waiter_t ***end, rma_waiter_t ***granted)
{
    rma_waiter_t *w = *first;

    *first = w->next;
    if (w->next == NULL)
        *end = first;
    w->next = NULL;
    **granted = w;
    *granted = &w->next;
}

static void grant_target(rma_shared_t *shared, int target, rma_waiter_t ***granted)
{
    rma_target_t *t = &shared->targets[target];
    rma_waiter_t *w;

    while ((w = t->first) != NULL && may_lock(shared, target, w->is_exclusive, w->ticket)) {
        take(shared, w);
        if (w->is_exclusive)
            pull_exclusive(shared, w);
        grant(&t->first, &t->end, granted);
    }
}

static void grant_all(rma_shared_t *shared, rma_waiter_t ***granted)
{
    while (shared->first_all != NULL && may_lock_all(shared, shared->first_all->ticket)) {
        take(shared, shared->first_all);
        grant(&shared->first_all, &shared->end_all, granted);
    }
}

static void drop(rma_shared_t *shared, int target)
{
    rma_target_t *t = &shared->targets[target];

    if (t->owner >= 0) {
        t->owner = -1;
        shared->exclusives--;
    } else {
        t->sharers--;
    }
}

/* The last member has left MPI_Win_lock_all: exclusive locks of any target may be free. A grant
 * takes at most the waiter itself out of the list. */
static void grant_exclusives(rma_shared_t *shared, rma_waiter_t ***granted)
{
    for (rma_waiter_t *w = shared->exclusive, *next; w != NULL; w = next) {
        next = w->next_exclusive;
        grant_target(shared, w->target, granted);
    }
}

/* ---- Taking and giving back ---- */

static void answer(int process, int world, uint64_t id)
{
    rma_far_wire_t wire = {.id = id};

    rma_far_reply(process, world, RMA_FAR_ANSWER, &wire, NULL, 0);
}

/* Before the message arrives the waiter may not be touched any more: its rank may continue. `self`
 * and `win` are not used where members are in several processes. */
static void tell(mpi_rank_t *self, mpi_win_t *win, rma_waiter_t *granted)
{
    for (rma_waiter_t *w = granted, *next; w != NULL; w = next) {
        int tag = w->target == ALL ? RMA_TAG_LOCK_ALL : RMA_TAG_LOCK + w->target;

        next = w->next;
        if (w->answers == NULL) {
            rma_send_note(self, win, w->rank, tag);
        } else if (w->worker != NULL) {
            mpi_network_post(w->worker, &w->errand);
        } else {
            answer(w->process, w->world, (uint64_t)(uintptr_t)w->answers);
            xy_free(w);
        }
    }
}

/* Take the lock that `w` asks for, or let it wait. */
static bool take_or_wait(rma_shared_t *shared, rma_waiter_t *w)
{
    int target = w->target;
    bool is_free;

    rma_guard_acquire(&shared->guard);
    if (target == ALL)
        is_free = shared->first_all == NULL && may_lock_all(shared, newest);
    else
        is_free = shared->targets[target].first == NULL &&
                  may_lock(shared, target, w->is_exclusive, newest);
    if (is_free)
        take(shared, w);
    else
        push(shared, w);
    rma_guard_release(&shared->guard);
    return is_free;
}

/* Acquire a lock, waiting for a message of the rank that grants it if it is not free. */
static void acquire(mpi_rank_t *self, mpi_win_t *win, int target, bool is_exclusive)
{
    rma_waiter_t w = {.rank = win->rank, .target = target, .is_exclusive = is_exclusive};
    bool is_free;

    if (__builtin_expect(mpi_job->clock != NULL, 0))
        mpi_virtual_sync(self); /* locks are taken in the order of the clock */
    is_free = take_or_wait(win->shared, &w);
    rma_note(win, target == ALL ? MPI_UNDEFINED : target);
    if (is_free)
        return;
    mpi_account_lock(self, true);
    rma_receive_note(self, win, MPI_ANY_SOURCE,
                     target == ALL ? RMA_TAG_LOCK_ALL : RMA_TAG_LOCK + target);
    mpi_account_lock(self, false);
}

/* In virtual time a lock is asked for and granted by messages without data, there and back; giving
 * it back is a message that the rank does not wait for. MPI_Win_lock_all asks for nothing. */
static void charge_lock(mpi_rank_t *self, const mpi_win_t *win, int target, bool is_answered)
{
    mpi_virtual_access_t access = {.is_answered = is_answered, .is_hidden = true};
    double end;

    if (__builtin_expect(mpi_job->clock == NULL, 1))
        return;
    access.target = mpi_comm_world_rank(win->comm, target);
    end = mpi_virtual_access(self, &access);
    if (is_answered)
        mpi_virtual_until(self, end);
}

/* Under the guard: release a lock and grant it to those who wait. */
static void release(rma_shared_t *shared, int target, rma_waiter_t ***granted)
{
    if (target != ALL) {
        drop(shared, target);
        grant_target(shared, target, granted);
    } else if (--shared->all == 0) {
        grant_exclusives(shared, granted);
    }
    grant_all(shared, granted);
}

/* Under the guard: `rank` has the lock no more, if it had it. */
static bool forget_holder(rma_shared_t *shared, int rank, int target)
{
    rma_holder_t **link = &shared->holders, *found;

    while (*link != NULL && ((*link)->rank != rank || (*link)->target != target))
        link = &(*link)->next;
    found = *link;
    if (found == NULL)
        return false;
    *link = found->next;
    xy_free(found);
    return true;
}

/* Release a lock of `rank` and grant it to those who wait, who are notified after the guard is
 * released. In a job that survives it may have been given back when the rank failed. */
static void give_back(mpi_rank_t *self, mpi_win_t *win, int target, int rank)
{
    rma_shared_t *shared = win->shared;
    rma_waiter_t *granted = NULL, **end = &granted;

    rma_guard_acquire(&shared->guard);
    if (shared->far == NULL || !mpi_survives || forget_holder(shared, rank, target))
        release(shared, target, &end);
    rma_guard_release(&shared->guard);
    tell(self, win, granted);
}

/* ---- Members in several processes ---- */

/* To the target, or to one member of each other process. */
static void ask(mpi_win_t *win, int target, rma_far_kind_t kind, bool is_exclusive,
                rma_answers_t *answers)
{
    const rma_shared_t *shared = win->shared;

    for (int i = 0; i < (target == ALL ? shared->door_count : 1); i++)
        rma_answers_ask(answers, win, target == ALL ? shared->doors[i] : target, kind,
                        (rma_far_wire_t){.flag = is_exclusive});
}

/* The holder of a lock that member `rank` gets through `win`; NULL: the job does not survive. */
static rma_holder_t *holder_new(const mpi_win_t *win, int rank, int target)
{
    rma_holder_t *holder;

    if (!mpi_survives)
        return NULL;
    holder = rma_far_memory(xy_malloc(sizeof(*holder)));
    *holder = (rma_holder_t){.rank = rank, .target = target, .door = win->rank};
    return holder;
}

static void granted_here(remote_errand_t *errand)
{
    rma_waiter_t *w = (rma_waiter_t *)(void *)errand;

    rma_answers_come(w->answers, 0);
}

/* Acquire a lock in a window of several processes, here and by letters, and wait for all answers.
 */
static void acquire_spread(mpi_rank_t *self, mpi_win_t *win, int target, bool is_exclusive)
{
    rma_answers_t answers;
    rma_waiter_t w = {.errand.run = granted_here,
                      .answers = &answers,
                      .worker = self->worker,
                      .rank = win->rank,
                      .target = target,
                      .is_exclusive = is_exclusive};
    bool is_here = target == ALL || !rma_is_far(win, target);

    rma_note(win, target == ALL ? MPI_UNDEFINED : target);
    rma_answers_begin(&answers, win, is_here);
    answers.request.comm = win->comm; /* for reports; no reference */
    answers.request.peer = MPI_ANY_SOURCE;
    answers.request.tag = MPI_ANY_TAG;
    if (target == ALL || !is_here)
        ask(win, target, target == ALL ? RMA_FAR_LOCK_ALL : RMA_FAR_LOCK, is_exclusive, &answers);
    if (is_here)
        w.holder = holder_new(win, win->rank, target);
    if (is_here && take_or_wait(win->shared, &w))
        rma_answers_come(&answers, 0);
    rma_answers_wait(self, &answers);
}

/* Returns when the target's process has done it, so that no letter is left when the window goes.
 * The answer says that what was sent to the target before is done; that to other members is
 * flushed. */
static void give_back_spread(mpi_rank_t *self, mpi_win_t *win, int target)
{
    rma_answers_t answers;

    if (target == ALL) {
        rma_far_flush(self, win, RMA_EVERYWHERE);
    } else {
        rma_far_settle(self, win);
        rma_far_follow(win, target);
    }
    rma_answers_begin(&answers, win, 0);
    if (target == ALL || rma_is_far(win, target))
        ask(win, target, target == ALL ? RMA_FAR_UNLOCK_ALL : RMA_FAR_UNLOCK, false, &answers);
    if (target == ALL || !rma_is_far(win, target))
        give_back(self, win, target, win->rank);
    rma_answers_wait(self, &answers);
}

void rma_far_lock(mpi_win_t *win, int process, int world, bool is_all, const rma_far_wire_t *wire)
{
    rma_waiter_t *w = rma_far_memory(xy_calloc(1, sizeof(*w)));

    w->answers = (rma_answers_t *)(uintptr_t)wire->id;
    w->process = process;
    w->world = world;
    w->rank = wire->origin;
    w->target = is_all ? ALL : win->rank;
    w->is_exclusive = wire->flag;
    w->holder = holder_new(win, w->rank, w->target);
    if (take_or_wait(win->shared, w)) {
        xy_free(w);
        answer(process, world, wire->id);
    }
}

void rma_far_unlock(mpi_win_t *win, int origin, bool is_all)
{
    give_back(NULL, win, is_all ? ALL : win->rank, origin);
}

/* ---- Members that have failed ---- */

static bool is_gone(const mpi_win_t *win, int rank)
{
    return mpi_survive_is_gone(win->owner->worker, win->shared->far[rank].world);
}

/* Under the guard: forget those of other processes that are gone and wait in a queue of `win`. */
static void drop_waiters(mpi_win_t *win, rma_waiter_t **first, rma_waiter_t ***end)
{
    rma_waiter_t **link = first, *w;

    while ((w = *link) != NULL) {
        if (w->worker != NULL || w->holder->door != win->rank || !is_gone(win, w->rank)) {
            link = &w->next;
            continue;
        }
        *link = w->next;
        if (w->is_exclusive)
            pull_exclusive(win->shared, w);
        xy_free(w->holder);
        xy_free(w);
    }
    *end = link;
}

void rma_locks_drop(mpi_win_t *win)
{
    rma_shared_t *shared = win->shared;
    rma_target_t *own = &shared->targets[win->rank];
    rma_waiter_t *granted = NULL, **end = &granted;
    rma_holder_t **link = &shared->holders, *holder;

    rma_guard_acquire(&shared->guard);
    drop_waiters(win, &own->first, &own->end);
    drop_waiters(win, &shared->first_all, &shared->end_all);
    while ((holder = *link) != NULL) {
        if (holder->door != win->rank || !is_gone(win, holder->rank)) {
            link = &holder->next;
            continue;
        }
        *link = holder->next;
        if (holder->target != ALL)
            drop(shared, holder->target);
        else
            shared->all--;
        xy_free(holder);
    }
    grant_target(shared, win->rank, &end);
    grant_exclusives(shared, &end);
    grant_all(shared, &end);
    rma_guard_release(&shared->guard);
    tell(win->owner, win, granted);
}

/* ---- The calls ---- */

static void lock(mpi_rank_t *self, mpi_win_t *win, int target, bool is_exclusive)
{
    if (__builtin_expect(win->shared->far != NULL, 0))
        acquire_spread(self, win, target, is_exclusive);
    else
        acquire(self, win, target, is_exclusive);
}

static void unlock(mpi_rank_t *self, mpi_win_t *win, int target)
{
    if (__builtin_expect(win->shared->far != NULL, 0))
        give_back_spread(self, win, target);
    else
        give_back(self, win, target, win->rank);
}

static int check_target(mpi_win_t *win, int rank)
{
    if ((unsigned)rank < (unsigned)win->size)
        return MPI_SUCCESS;
    return mpi_error(win->comm, MPI_ERR_RANK, "the target is rank %d; the window has ranks 0 to %d",
                     mpi_number_passed(rank), win->size - 1);
}

static int check_lock_assert(mpi_win_t *win, int assert)
{
    if ((assert & ~MPI_MODE_NOCHECK) == 0)
        return MPI_SUCCESS;
    return mpi_error(win->comm, MPI_ERR_ASSERT,
                     "the assertion is %d; this call knows MPI_MODE_NOCHECK",
                     mpi_number_passed(assert));
}

static int check_locks(mpi_win_t *win)
{
    if (!win->has_no_locks)
        return MPI_SUCCESS;
    return mpi_error(win->comm, MPI_ERR_RMA_SYNC,
                     "the hint no_locks of %s is true: it cannot be locked", win->comm->name);
}

/* Check the arguments of MPI_Win_lock and the epochs that are open; returns an MPI error code. */
static int check_lock(mpi_win_t *win, int lock_type, int rank, int assert)
{
    int error = check_locks(win);

    if (error == MPI_SUCCESS && lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED)
        error = mpi_error(win->comm, MPI_ERR_LOCKTYPE,
                          "the lock type is %d; it is neither MPI_LOCK_EXCLUSIVE nor "
                          "MPI_LOCK_SHARED",
                          mpi_number_passed(lock_type));
    if (error == MPI_SUCCESS)
        error = check_lock_assert(win, assert);
    if (error == MPI_SUCCESS && rank != MPI_PROC_NULL)
        error = check_target(win, rank);
    if (error != MPI_SUCCESS || win->access == RMA_ACCESS_NONE || win->access == RMA_ACCESS_FENCE)
        return error;
    if (win->access != RMA_ACCESS_LOCK)
        return mpi_error(win->comm, MPI_ERR_RMA_SYNC, "%s is open", rma_access_name(win));
    if (rank != MPI_PROC_NULL && rma_is_reached(win, rank))
        return mpi_error(win->comm, MPI_ERR_RMA_SYNC, "rank %d is locked by this rank already",
                         rank);
    return MPI_SUCCESS;
}

/* MPI_MODE_NOCHECK says that no other lock is in the way: then this one is free at once. */
int impl_win_lock(mpi_rank_t *self, int lock_type, int rank, int assert, mpi_win_t *win)
{
    int error;

    error = check_lock(win, lock_type, rank, assert);
    if (error != MPI_SUCCESS || rank == MPI_PROC_NULL)
        return error;
    if (rma_reach(win, rank) != XY_OK)
        return mpi_error_memory(win->comm, "a lock");
    lock(self, win, rank, lock_type == MPI_LOCK_EXCLUSIVE);
    charge_lock(self, win, rank, true);
    error = rma_survive_check(win, rank);
    if (error != MPI_SUCCESS) {
        rma_unreach(win, rank);
        return error;
    }
    win->access = RMA_ACCESS_LOCK;
    win->lock_count++;
    return MPI_SUCCESS;
}

int impl_win_unlock(mpi_rank_t *self, int rank, mpi_win_t *win)
{
    int error;

    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    error = check_target(win, rank);
    if (error != MPI_SUCCESS)
        return error;
    if (win->access != RMA_ACCESS_LOCK || !rma_is_reached(win, rank))
        return mpi_error(win->comm, MPI_ERR_RMA_SYNC,
                         "rank %d is not locked by this rank; MPI_Win_lock comes first", rank);
    rma_note(win, rank);
    rma_settle(win, rank, false);
    charge_lock(self, win, rank, false);
    rma_unreach(win, rank);
    if (--win->lock_count == 0)
        win->access = RMA_ACCESS_NONE;
    unlock(self, win, rank);
    if (mpi_job->clock == NULL)
        rma_look(win);
    return rma_survive_check(win, rank);
}

int impl_win_lock_all(mpi_rank_t *self, int assert, mpi_win_t *win)
{
    int error;

    error = check_locks(win);
    if (error == MPI_SUCCESS)
        error = check_lock_assert(win, assert);
    if (error != MPI_SUCCESS)
        return error;
    if (win->access != RMA_ACCESS_NONE && win->access != RMA_ACCESS_FENCE)
        return mpi_error(win->comm, MPI_ERR_RMA_SYNC, "%s is open", rma_access_name(win));
    lock(self, win, ALL, false);
    win->access = RMA_ACCESS_LOCK_ALL;
    return MPI_SUCCESS;
}

int impl_win_unlock_all(mpi_rank_t *self, mpi_win_t *win)
{
    if (win->access != RMA_ACCESS_LOCK_ALL)
        return mpi_error(win->comm, MPI_ERR_RMA_SYNC,
                         "no epoch of MPI_Win_lock_all is open; MPI_Win_lock_all comes first");
    rma_note(win, MPI_UNDEFINED);
    rma_settle(win, RMA_EVERYWHERE, false);
    win->access = RMA_ACCESS_NONE;
    unlock(self, win, ALL);
    rma_look(win);
    return rma_survive_check(win, RMA_EVERYWHERE);
}

/* ---- Flushing: operations here are complete when their call returns, and only their order is left
 * ----
 */

/* Everything before is seen by all before anything after; an exchange of a word of the rank's own,
 * which sanitizers understand, is as good as a fence. */
static void order(void)
{
    _Atomic int word = 0;

    atomic_exchange_explicit(&word, 1, memory_order_seq_cst);
}

static void complete(mpi_win_t *win, int target, bool is_local)
{
    order();
    if (__builtin_expect(mpi_job->clock != NULL || rma_watch != NULL, 0))
        rma_settle(win, target, is_local); /* in virtual time others run meanwhile */
    if (mpi_job->clock == NULL)
        rma_look(win);
}

/* Complete the operations on far targets; locally: their results have come, and all buffers are
 * free. */
static void complete_far(mpi_win_t *win, int target, bool is_local)
{
    rma_note(win, target == RMA_EVERYWHERE ? MPI_UNDEFINED : target);
    if (is_local) {
        rma_far_drain(win, target);
        rma_far_settle(win->owner, win);
    } else {
        rma_far_flush(win->owner, win, target);
    }
}

/* Complete the operations on one target; returns an MPI error code. */
int part_win_flush(int rank, MPI_Win handle, bool is_local)
{
    mpi_win_t *win = mpi_win_of(handle);
    int error;

    if (win == NULL)
        return mpi_win_refuse(handle);
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    error = rma_check_passive(win, rank);
    if (error == MPI_SUCCESS && __builtin_expect(win->shared->far != NULL, 0))
        complete_far(win, rank, is_local);
    if (error == MPI_SUCCESS) {
        complete(win, rank, is_local);
        error = rma_survive_check(win, rank);
    }
    return error;
}

/* Complete the operations on all targets; returns an MPI error code. */
int part_win_flush_all(MPI_Win handle, bool is_local)
{
    mpi_win_t *win = mpi_win_of(handle);

    if (win == NULL)
        return mpi_win_refuse(handle);
    if (win->access != RMA_ACCESS_LOCK && win->access != RMA_ACCESS_LOCK_ALL)
        return mpi_error(win->comm, MPI_ERR_RMA_SYNC,
                         "no rank is locked: this call needs an epoch of MPI_Win_lock or "
                         "MPI_Win_lock_all");
    if (__builtin_expect(win->shared->far != NULL, 0))
        complete_far(win, RMA_EVERYWHERE, is_local);
    complete(win, RMA_EVERYWHERE, is_local);
    return rma_survive_check(win, RMA_EVERYWHERE);
}

int impl_win_sync(mpi_win_t *win)
{
    order();
    rma_look(win);
    return MPI_SUCCESS;
}
