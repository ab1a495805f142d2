/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synchronisation of windows, as in runs in virtual time: a fence is a barrier; targets and origins
 * of epochs between groups exchange messages without data; a lock is asked for there and back, and
 * one that waits for it hears of it by a message without data.
 */
#include <mpi.h>
#include <string.h>

#include "program/walk_window.h"

enum { TAG_POST, TAG_COMPLETE, TAG_LOCK_ALL, TAG_LOCK };
enum { ALL = -1 }; /* as a target */

/* A message without data, which the program does not see; its request, -1: it failed. */
static int32_t note(walker_t *w, const walk_win_t *win, walk_kind_t kind, int32_t proc, int tag)
{
    return walk_message(w, kind,
                        &(xy_vjob_p2p_t){.context = win->member.comm->context | WALK_SHADOW,
                                         .peer = proc,
                                         .tag = tag,
                                         .is_blocking = kind == WALK_SEND});
}

/* One note after the other to all members of a group, or from them, in the phases from `first` on.
 */
static bool notes(walker_t *w, const walk_win_t *win, xy_members_t group, walk_kind_t kind, int tag,
                  int32_t first)
{
    int32_t *phase = &w->process.phase;

    while (*phase < first + 2 * group.size) {
        if ((*phase - first) % 2 == 0) {
            int32_t proc = xy_member_at(group, (*phase - first) / 2);

            w->current[0] = note(w, win, kind, proc, tag);
            ++*phase;
        }
        if (!walk_wait_one(w, w->current[0]))
            return false;
        ++*phase;
    }
    return true;
}

/* Phases 0 and 1: all operations so far are complete. */
static bool settle(walker_t *w, walk_win_t *win)
{
    if (w->process.phase == 0 && win->over > 0) {
        w->current[0] = walk_until(w, win->over);
        w->process.phase = 1;
        win->over = 0;
    }
    if (w->process.phase == 1 && !walk_wait_one(w, w->current[0]))
        return false;
    if (w->process.phase < 2)
        w->process.phase = 2;
    return true;
}

/* MPI_Win_fence: completes the operations of this member, then a barrier. */
static bool fence(walker_t *w, const code_site_t *site, int64_t *args)
{
    static const xy_vjob_coll_t barrier = {
        .collective = XY_COLL_BARRIER, .element = 1, .is_commutative = true};
    walk_win_t *win = walk_window(w, args[1]);

    (void)site;
    if (win == NULL || !settle(w, win))
        return false;
    if (w->process.phase == 2) {
        if (!walk_coll_start(w, &win->member, &barrier, &w->current[0]))
            return false;
        w->process.phase = 3;
    }
    return walk_wait_one(w, w->current[0]);
}

/* MPI_Win_flush and its like: args[extra] is the window. */
static bool flush(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_win_t *win = walk_window(w, args[walk_extra(site)]);

    if (win == NULL)
        return false;
    return (walk_extra(site) == 1 && args[0] == MPI_PROC_NULL) || settle(w, win);
}

static bool win_group(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_win_t *win = walk_window(w, args[0]);
    xy_members_t group;

    (void)site;
    if (win == NULL)
        return false;
    group = walk_group(win->member.comm, win->member.rank, false);
    return walk_group_give(w, args[1], group.list, group.size);
}

static bool sync_memory(walker_t *w, const code_site_t *site, int64_t *args)
{
    (void)site;
    return walk_window(w, args[0]) != NULL;
}

/* ---- Between groups ---- */

/* The receives come first, so that the messages of MPI_Win_complete find them. */
static bool expect(walker_t *w, walk_win_t *win)
{
    win->completions =
        xy_arena_alloc(w->walk->arena, ((size_t)win->posted.size + 1) * sizeof(*win->completions));
    if (win->completions == NULL)
        return process_fail_memory(&w->process);
    for (int32_t i = 0; i < win->posted.size; i++) {
        win->completions[i] =
            note(w, win, WALK_RECEIVE, xy_member_at(win->posted, i), TAG_COMPLETE);
        if (win->completions[i] < 0)
            return false;
    }
    return true;
}

/* MPI_Win_post: opens an exposure epoch, and tells its origins. */
static bool post(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_win_t *win = walk_window(w, args[2]);

    (void)site;
    if (win == NULL)
        return false;
    if (w->process.phase == 0) {
        if (!walk_group_find(w, args[0], &win->posted) || !expect(w, win))
            return false;
        w->process.phase = 1;
    }
    return (args[1] & MPI_MODE_NOCHECK) != 0 || notes(w, win, win->posted, WALK_SEND, TAG_POST, 1);
}

static bool start(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_win_t *win = walk_window(w, args[2]);

    (void)site;
    return win != NULL && walk_group_find(w, args[0], &win->started) &&
           ((args[1] & MPI_MODE_NOCHECK) != 0 ||
            notes(w, win, win->started, WALK_RECEIVE, TAG_POST, 0));
}

static bool complete(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_win_t *win = walk_window(w, args[0]);

    (void)site;
    return win != NULL && settle(w, win) && notes(w, win, win->started, WALK_SEND, TAG_COMPLETE, 2);
}

static bool end_exposure(walker_t *w, walk_win_t *win)
{
    for (int32_t i = 0; i < win->posted.size; i++)
        walk_request_free(w, walk_request_at(w, win->completions[i]));
    win->posted = (xy_members_t){0};
    return true;
}

/* MPI_Win_wait: one origin after the other. */
static bool wait(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_win_t *win = walk_window(w, args[0]);

    (void)site;
    if (win == NULL)
        return false;
    for (; w->process.phase < win->posted.size; w->process.phase++)
        if (!walk_wait(w, &win->completions[w->process.phase], 1, false))
            return false;
    return end_exposure(w, win);
}

static bool test(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_win_t *win = walk_window(w, args[0]);
    bool is_over = true;

    (void)site;
    if (win == NULL || !walk_test(w, win->completions, win->posted.size, false))
        return false;
    for (int32_t i = 0; i < win->posted.size; i++)
        is_over &= walk_request_at(w, win->completions[i])->is_done;
    return (!is_over || end_exposure(w, win)) && walk_set_int(w, args[1], is_over);
}

/* ---- Locks ---- */

/* May `asked` have its lock, where those that are listed before it still wait? One does not
 * overtake another of the same target, nor an exclusive one and MPI_Win_lock_all each other. */
static bool may_lock(const walk_window_t *shared, const walk_waiter_t *asked)
{
    const walk_waiter_t *before = shared->first;
    int32_t target = asked->target;

    for (; before != NULL && before != asked; before = before->next)
        if (before->target == target || (target == ALL && before->is_exclusive) ||
            (before->target == ALL && asked->is_exclusive))
            return false;
    if (target == ALL)
        return shared->exclusives == 0;
    return shared->owners[target] < 0 &&
           (!asked->is_exclusive || (shared->sharers[target] == 0 && shared->all == 0));
}

static void take(walk_window_t *shared, const walk_waiter_t *asked)
{
    if (asked->target == ALL) {
        shared->all++;
    } else if (asked->is_exclusive) {
        shared->owners[asked->target] = asked->rank;
        shared->exclusives++;
    } else {
        shared->sharers[asked->target]++;
    }
}

/* Release a lock; those that get theirs by that, in a list. */
static walk_waiter_t *release(walk_window_t *shared, int32_t target)
{
    walk_waiter_t *granted = NULL, **last = &granted, **link = &shared->first;

    if (target == ALL) {
        shared->all--;
    } else if (shared->owners[target] >= 0) {
        shared->owners[target] = -1;
        shared->exclusives--;
    } else {
        shared->sharers[target]--;
    }
    while (*link != NULL) {
        walk_waiter_t *waiter = *link;

        if (!may_lock(shared, waiter)) {
            link = &waiter->next;
            continue;
        }
        take(shared, waiter);
        *link = waiter->next;
        waiter->next = NULL;
        *last = waiter;
        last = &waiter->next;
    }
    shared->end = link;
    return granted;
}

/* Take the lock, in the order of the clock, or wait for it: phases 0 to 2, 3 behind them. */
static bool acquire(walker_t *w, const walk_win_t *win, int32_t target, bool is_exclusive)
{
    int tag = target == ALL ? TAG_LOCK_ALL : TAG_LOCK + target;

    if (w->process.phase == 0) {
        w->process.phase = 1;
        if (!xy_vjob_sync(w->walk->job, w->rank))
            return false;
    }
    if (w->process.phase == 1) {
        w->waiter = (walk_waiter_t){
            .rank = win->member.rank, .target = target, .is_exclusive = is_exclusive};
        w->process.phase = 3;
        if (may_lock(win->shared, &w->waiter)) {
            take(win->shared, &w->waiter);
        } else {
            *win->shared->end = &w->waiter;
            win->shared->end = &w->waiter.next;
            w->current[0] = note(w, win, WALK_RECEIVE, XY_VJOB_ANY, tag);
            w->process.phase = 2;
        }
    }
    if (w->process.phase == 2) {
        if (!walk_wait_one(w, w->current[0]))
            return false;
        w->process.phase = 3;
    }
    return true;
}

/* Release the lock and tell those that get theirs, in the phases from `first` on. */
static bool give_back(walker_t *w, const walk_win_t *win, int32_t target, int32_t first)
{
    if (w->process.phase == first) {
        w->granted = release(win->shared, target);
        w->process.phase++;
    }
    while (w->granted != NULL || w->process.phase == first + 2) {
        if (w->process.phase == first + 1) {
            const walk_waiter_t *to = w->granted;

            w->granted = to->next; /* it may wait again when it has heard of this one */
            w->current[0] = note(w, win, WALK_SEND, walk_comm_proc(win->member.comm, to->rank),
                                 to->target == ALL ? TAG_LOCK_ALL : TAG_LOCK + to->target);
            w->process.phase++;
        }
        if (!walk_wait_one(w, w->current[0]))
            return false;
        w->process.phase--;
    }
    return true;
}

/* The messages of a lock: there and back, or there when it is given back. False: it failed. */
static bool charge(walker_t *w, const walk_win_t *win, int32_t target, bool is_answered,
                   double *end_p)
{
    return xy_vjob_remote(w->walk->job, w->rank,
                          &(xy_vjob_remote_t){.peer = walk_comm_proc(win->member.comm, target),
                                              .is_answered = is_answered,
                                              .is_hidden = true},
                          end_p) ||
           process_stop(&w->process);
}

static bool check_target(walker_t *w, const walk_win_t *win, int64_t target)
{
    return (target >= 0 && target < win->member.comm->size) ||
           process_fail(&w->process, "rank %lld does not exist; the window has %d",
                        (long long)target, win->member.comm->size);
}

/* MPI_Win_lock: the lock is charged when this member has got it. */
static bool lock(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_win_t *win = walk_window(w, args[3]);
    double end;

    (void)site;
    if (win == NULL || args[1] == MPI_PROC_NULL)
        return win != NULL;
    if (!check_target(w, win, args[1]) ||
        !acquire(w, win, (int32_t)args[1], args[0] == MPI_LOCK_EXCLUSIVE))
        return false;
    if (w->process.phase == 3) {
        if (!charge(w, win, (int32_t)args[1], true, &end))
            return false;
        w->current[0] = walk_until(w, end);
        w->process.phase = 4;
    }
    return walk_wait_one(w, w->current[0]);
}

/* MPI_Win_unlock: completes the operations of this member and releases the lock. */
static bool unlock(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_win_t *win = walk_window(w, args[1]);
    double end;

    (void)site;
    if (win == NULL || args[0] == MPI_PROC_NULL)
        return win != NULL;
    if (!check_target(w, win, args[0]) || !settle(w, win))
        return false;
    if (w->process.phase == 2) {
        if (!charge(w, win, (int32_t)args[0], false, &end))
            return false;
        w->process.phase = 3;
    }
    return give_back(w, win, (int32_t)args[0], 3);
}

static bool lock_all(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_win_t *win = walk_window(w, args[1]);

    (void)site;
    return win != NULL && acquire(w, win, ALL, false);
}

static bool unlock_all(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_win_t *win = walk_window(w, args[0]);

    (void)site;
    return win != NULL && settle(w, win) && give_back(w, win, ALL, 2);
}

const walk_call_t walk_calls_epoch[] = {{"Win_fence", fence, 0},
                                        {"Win_flush", flush, 1},
                                        {"Win_flush_local", flush, 1},
                                        {"Win_flush_all", flush, 0},
                                        {"Win_flush_local_all", flush, 0},
                                        {"Win_sync", sync_memory, 0},
                                        {"Win_get_group", win_group, 0},
                                        {"Win_post", post, 0},
                                        {"Win_start", start, 0},
                                        {"Win_complete", complete, 0},
                                        {"Win_wait", wait, 0},
                                        {"Win_test", test, 0},
                                        {"Win_lock", lock, 0},
                                        {"Win_unlock", unlock, 0},
                                        {"Win_lock_all", lock_all, 0},
                                        {"Win_unlock_all", unlock_all, 0},
                                        {0}};
