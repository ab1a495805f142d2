/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that visit a worker.
 *
 * What belongs to a worker is touched by its thread alone, until it is shared. Then a lock goes
 * with it: the worker's thread has it whenever it is not in the program's code, and lets others in
 * while it is idle. A visitor is a fiber without a stack of its own: with the lock in hand its
 * thread acts for the worker (xy_worker_self and xy_fiber_self say so), and a park of it gives the
 * lock back and sleeps in the kernel.
 *
 * Who polls. A worker that is idle polls as always. While it is in the program's code it is
 * absent: then the first visitor that waits is the poller. It sleeps too; a ring at the worker's
 * door wakes it, and it comes in and polls. A change of the poller needs no message: the thread
 * that gives the lock back names the poller, sets the door to ABSENT and looks once more for what
 * came before that, as a worker does that falls asleep (sleep.c). So
 *
 *   - a post is seen by that look, or it rings;
 *   - a ring that finds its poller ready already is not lost: that one is on its way to the lock,
 *     and looks when it gives it back.
 *
 * A thread is counted in the pool's `outside` unless it waits in a park: who wakes it counts it in
 * first. So the pool is stuck only when all its visitors wait, too, or when those that do not wait
 * here can be seen to wait for ever elsewhere (still.c).
 *
 * Where one thing runs at a time, whatever it is (a job in virtual time, which has one worker), a
 * visitor needs no lock: the worker's thread lends it its turn and waits until the turn is back.
 *
 * A fiber may leave its worker for a thread of its own: it is detached, and visits from there. What
 * runs on its stack stays on it; only the thread changes, when nothing of the other worker's
 * thread is in use. It comes back before it ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fiber/fiber_private.h"
#include "fiber/fiber_queue.h"
#include "fiber/sanitize.h"
#include "fiber/switch.h"

/* The wait of a visitor's thread (`call` of its fiber). */
enum {
    CALL_NONE,   /* it looks at the word */
    CALL_SLEEPS, /* it sleeps on the word */
    CALL_POLL,   /* it has to come in and poll */
    CALL_READY,  /* its park is complete */
};

enum {
    LOCK_LOOKS = 100, /* before a thread sleeps for the lock */
    CALL_LOOKS = 100, /* before a visitor that waits sleeps */
    POLL_ROUNDS = 64, /* that find something each before another thread is asked to continue */
    COURTESY = 256,   /* looks during which those that want the lock may take it */
};

/* ---- The lock ---- */

static bool try_lock(fiber_share_t *s)
{
    uint32_t free = 0;

    return atomic_load_explicit(&s->lock, memory_order_relaxed) == 0 &&
           atomic_compare_exchange_strong_explicit(&s->lock, &free, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

void fiber_share_lock(xy_worker_t *w)
{
    fiber_share_t *s = &w->share;

    if (try_lock(s))
        return;
    atomic_fetch_add_explicit(&s->queued, 1, memory_order_relaxed);
    for (int i = 0; i < LOCK_LOOKS; i++) {
        if (try_lock(s)) {
            atomic_fetch_sub_explicit(&s->queued, 1, memory_order_relaxed);
            return;
        }
        xy_relax();
    }
    while (atomic_exchange_explicit(&s->lock, 2, memory_order_acquire) != 0)
        fiber_futex_wait(&s->lock, 2, 0, FIBER_ANY_MASK);
    atomic_fetch_sub_explicit(&s->queued, 1, memory_order_relaxed);
}

void fiber_share_unlock(xy_worker_t *w)
{
    if (atomic_exchange_explicit(&w->share.lock, 0, memory_order_release) == 2)
        fiber_futex_wake(&w->share.lock);
}

/* The lock was given back by one that wants it again at once: those that sleep for it need time to
 * come. */
static void let_others_in(fiber_share_t *s)
{
    for (unsigned i = 0;
         i < COURTESY && atomic_load_explicit(&s->queued, memory_order_relaxed) > 0 &&
         atomic_load_explicit(&s->lock, memory_order_relaxed) == 0;
         i++)
        if (i % 16 == 15)
            xy_thread_yield();
        else
            xy_relax();
}

void fiber_share_breathe(xy_worker_t *w)
{
    fiber_share_unlock(w);
    xy_relax();
    let_others_in(&w->share);
    fiber_share_lock(w);
}

/* ---- Waking visitors ---- */

static _Atomic int *outside_of(xy_worker_t *w)
{
    return &w->pool->outside;
}

/* Its thread is counted before it can run. */
static void wake(xy_worker_t *w, xy_fiber_t *visitor, uint32_t call)
{
    uint32_t was = atomic_load_explicit(&visitor->call, memory_order_relaxed);

    atomic_fetch_add_explicit(outside_of(w), 1, memory_order_relaxed);
    while (was < call &&
           !atomic_compare_exchange_weak_explicit(&visitor->call, &was, call, memory_order_acq_rel,
                                                  memory_order_relaxed))
        continue;
    if (was >= CALL_POLL) /* counted already */
        atomic_fetch_sub_explicit(outside_of(w), 1, memory_order_relaxed);
    else if (was == CALL_SLEEPS)
        fiber_futex_wake(&visitor->call);
}

static void remove_waiting(fiber_share_t *s, xy_fiber_t *visitor)
{
    if (s->first == visitor)
        s->first = visitor->next;
    else
        visitor->prev->next = visitor->next;
    if (s->last == visitor)
        s->last = visitor->prev;
    else
        visitor->next->prev = visitor->prev;
}

static void add_waiting(fiber_share_t *s, xy_fiber_t *visitor)
{
    visitor->next = NULL;
    visitor->prev = s->last;
    if (s->last != NULL)
        s->last->next = visitor;
    else
        s->first = visitor;
    s->last = visitor;
}

/* Under the lock, or where it is known that no thread has it. */
void fiber_visitor_ready(xy_worker_t *w, xy_fiber_t *visitor)
{
    fiber_share_t *s = &w->share;

    remove_waiting(s, visitor);
    visitor->state = FIBER_RUNNING;
    if (s->first != NULL && atomic_load_explicit(&s->poller, memory_order_relaxed) == visitor)
        atomic_store_explicit(&s->poller, s->first, memory_order_release);
    wake(w, visitor, CALL_READY);
}

void fiber_visitor_ring(xy_worker_t *w)
{
    wake(w, atomic_load_explicit(&w->share.poller, memory_order_acquire), CALL_POLL);
}

/* ---- Giving the lock back ---- */

static bool look(xy_worker_t *w)
{
    bool found = atomic_load_explicit(&w->head.mail, memory_order_relaxed) != NULL;

    if (found)
        fiber_mail_drain(w);
    found |= fiber_poll(w);
    return found;
}

/* The worker is in the program's code: let rings wake a visitor that waits. */
static void name_poller(xy_worker_t *w)
{
    fiber_share_t *s = &w->share;

    for (int round = 0; s->first != NULL; round++) {
        atomic_store_explicit(&s->poller, s->first, memory_order_release);
        /* An exchange: what came before a ring that took the word down is seen by the look. */
        atomic_exchange_explicit(&w->head.asleep, FIBER_ABSENT, memory_order_acq_rel);
        fiber_fence();
        if (!look(w))
            return;
        atomic_exchange_explicit(&w->head.asleep, FIBER_AWAKE, memory_order_acq_rel);
        if (round == POLL_ROUNDS && s->first != NULL) {
            wake(w, s->first, CALL_POLL);
            return;
        }
    }
}

/* Before the lock is given back by one that leaves the worker to others. */
static void prepare_to_leave(xy_worker_t *w)
{
    if (w->share.is_out)
        name_poller(w);
    else if (w->ready.nonempty != 0)
        xy_worker_notify(w); /* it sleeps perhaps */
}

/* ---- The worker's own thread ---- */

void xy_worker_share(xy_worker_t *worker)
{
    if (worker->is_shared)
        return;
    fiber_fence_by_rings(worker);
    atomic_store_explicit(&worker->share.lock, 1, memory_order_relaxed);
    worker->is_shared = true;
}

void xy_worker_go_out(xy_worker_t *worker)
{
    worker->share.is_out = true;
    prepare_to_leave(worker);
}

void xy_worker_unlock(xy_worker_t *worker)
{
    fiber_share_unlock(worker);
}

void xy_worker_come_in(xy_worker_t *worker)
{
    fiber_share_lock(worker);
    worker->share.is_out = false;
    if (atomic_load_explicit(&worker->head.asleep, memory_order_relaxed) == FIBER_ABSENT)
        atomic_exchange_explicit(&worker->head.asleep, FIBER_AWAKE, memory_order_acq_rel);
}

bool xy_worker_is_out(const xy_worker_t *worker)
{
    return worker->share.is_out;
}

/* ---- Visitors ---- */

xy_status_t xy_visitor_create(xy_worker_t *worker, void *user, xy_fiber_t **visitor_p)
{
    xy_fiber_t *visitor = aligned_alloc(XY_FIBER_LINE, sizeof(*visitor));

    if (visitor == NULL)
        return xy_fail_memory("letting a thread call MPI");
    memset((void *)visitor, 0, sizeof(*visitor));
    visitor->head.worker = worker;
    visitor->head.user = user;
    visitor->special = FIBER_VISITS;
    visitor->state = FIBER_RUNNING;
    *visitor_p = visitor;
    return XY_OK;
}

void xy_visitor_destroy(xy_fiber_t *visitor)
{
    free((void *)visitor);
}

/* The thread has the lock and acts for the worker from now on. */
static void take_over(xy_worker_t *w, xy_fiber_t *visitor)
{
    visitor->before = w->head.current;
    w->head.current = visitor;
    xy_worker_current = w;
    if (w->pool->config.visit != NULL)
        w->pool->config.visit(w, visitor, true);
}

static void give_back(xy_worker_t *w, xy_fiber_t *visitor)
{
    prepare_to_leave(w);
    if (w->pool->config.visit != NULL)
        w->pool->config.visit(w, visitor, false);
    w->head.current = visitor->before;
    xy_worker_current = NULL;
    fiber_share_unlock(w);
}

void xy_visitor_come_in(xy_fiber_t *visitor)
{
    fiber_share_lock(visitor->head.worker);
    take_over(visitor->head.worker, visitor);
}

void xy_visitor_go_out(xy_fiber_t *visitor)
{
    give_back(visitor->head.worker, visitor);
}

static bool all_asleep(xy_pool_t *pool)
{
    for (int i = 0; i < pool->config.workers; i++)
        if (atomic_load_explicit(&pool->workers[i].head.asleep, memory_order_relaxed) !=
            FIBER_ASLEEP)
            return false;
    return true;
}

/* Others may have called the one that asks while it looked, and then fallen asleep. */
bool fiber_waits_elsewhere(xy_pool_t *pool, _Atomic uint32_t *word, uint32_t value)
{
    return pool->config.stuck != NULL && fiber_threads_are_still() &&
           atomic_load_explicit(word, memory_order_acquire) == value &&
           !atomic_exchange(&pool->is_stuck_said, true);
}

/* All others may wait as well. When each waits in a park, a worker that falls asleep finds out;
 * otherwise the kernel knows. */
static void ask_whether_stuck(xy_pool_t *pool, xy_fiber_t *self)
{
    if (pool->config.stuck == NULL)
        return;
    if (atomic_load_explicit(&pool->outside, memory_order_acquire) == 0 && all_asleep(pool))
        xy_worker_ring_slow(&pool->workers[0]);
    else if (fiber_waits_elsewhere(pool, &self->call, CALL_SLEEPS))
        pool->config.stuck(pool);
}

/* Sleep until the visitor is called, and check from time to time whether the whole pool is stuck.
 */
static void sleep_for_call(xy_worker_t *w, xy_fiber_t *self)
{
    int64_t pause = FIBER_ASK_FIRST;
    uint32_t none = CALL_NONE;

    if (!atomic_compare_exchange_strong_explicit(&self->call, &none, CALL_SLEEPS,
                                                 memory_order_acq_rel, memory_order_acquire))
        return;
    for (;;) {
        fiber_futex_wait(&self->call, CALL_SLEEPS, fiber_now_ns() + pause, FIBER_VISITOR_MASK);
        if (atomic_load_explicit(&self->call, memory_order_acquire) != CALL_SLEEPS)
            return;
        ask_whether_stuck(w->pool, self);
        pause = pause < FIBER_ASK_MOST ? 2 * pause : pause;
    }
}

static uint32_t await_call(xy_worker_t *w, xy_fiber_t *self)
{
    for (int i = 0; i < CALL_LOOKS; i++) {
        if (atomic_load_explicit(&self->call, memory_order_acquire) >= CALL_POLL)
            break;
        xy_relax();
    }
    if (atomic_load_explicit(&self->call, memory_order_acquire) < CALL_POLL)
        sleep_for_call(w, self);
    return atomic_load_explicit(&self->call, memory_order_acquire);
}

void fiber_visitor_park(xy_worker_t *w, xy_fiber_t *self)
{
    int error = errno;

    self->state = FIBER_AWAY;
    atomic_store_explicit(&self->call, CALL_NONE, memory_order_relaxed);
    add_waiting(&w->share, self);
    give_back(w, self);
    atomic_fetch_sub_explicit(outside_of(w), 1, memory_order_release);
    while (await_call(w, self) != CALL_READY) {
        uint32_t poll = CALL_POLL;

        fiber_share_lock(w);
        take_over(w, self);
        /* It polls as it leaves. Unless it is ready by now, it is asleep again. */
        atomic_compare_exchange_strong_explicit(&self->call, &poll, CALL_NONE, memory_order_acq_rel,
                                                memory_order_acquire);
        give_back(w, self);
        if (poll == CALL_POLL)
            atomic_fetch_sub_explicit(outside_of(w), 1, memory_order_release);
    }
    fiber_share_lock(w);
    take_over(w, self);
    errno = error;
}

void fiber_visitor_yield(xy_worker_t *w, xy_fiber_t *self)
{
    int error = errno;

    if (!look(w))
        look(w); /* work that mail and packets brought may be all there is to do */
    give_back(w, self);
    let_others_in(&w->share);
    fiber_share_lock(w);
    take_over(w, self);
    errno = error;
}

void fiber_visitor_sleep(xy_worker_t *w, xy_fiber_t *self, double seconds)
{
    int error = errno;

    give_back(w, self);
    fiber_thread_sleep(seconds);
    fiber_share_lock(w);
    take_over(w, self);
    errno = error;
}

void xy_pool_outside_add(xy_pool_t *pool, int count)
{
    atomic_fetch_add_explicit(&pool->outside, count, memory_order_acq_rel);
}

/* ---- Turns ---- */

enum { TURN_HERE, TURN_LENT }; /* `call` of the visitor: who has it, the worker or the visitor */

static void await_word(_Atomic uint32_t *word, uint32_t wanted)
{
    uint32_t other = wanted == TURN_LENT ? TURN_HERE : TURN_LENT;

    for (int i = 0; i < CALL_LOOKS; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) == wanted)
            return;
        xy_relax();
    }
    while (atomic_load_explicit(word, memory_order_acquire) != wanted)
        fiber_futex_wait(word, other, 0, FIBER_ANY_MASK);
}

static void pass_turn(xy_fiber_t *visitor, uint32_t to)
{
    atomic_store_explicit(&visitor->call, to, memory_order_release);
    fiber_futex_wake(&visitor->call);
}

void xy_visitor_lend_turn(xy_fiber_t *visitor)
{
    pass_turn(visitor, TURN_LENT);
    await_word(&visitor->call, TURN_HERE);
}

void xy_visitor_await_turn(xy_fiber_t *visitor)
{
    await_word(&visitor->call, TURN_LENT);
    take_over(visitor->head.worker, visitor);
}

void xy_visitor_return_turn(xy_fiber_t *visitor)
{
    xy_worker_t *w = visitor->head.worker;

    if (w->pool->config.visit != NULL)
        w->pool->config.visit(w, visitor, false);
    w->head.current = visitor->before;
    xy_worker_current = NULL;
    pass_turn(visitor, TURN_HERE);
}

/* ---- Fibers on threads of their own ---- */

_Thread_local xy_fiber_t *fiber_detached;

void xy_fiber_detach(void)
{
    xy_worker_t *w = xy_worker_current;
    xy_fiber_t *self = w->head.current;

    atomic_fetch_add_explicit(outside_of(w), 1, memory_order_relaxed);
    self->special |= FIBER_VISITS;
    self->state = FIBER_RUNNING;
    fiber_worker_desert(w, self);
}

xy_status_t xy_fiber_create_detached(xy_worker_t *worker, xy_fiber_fn fn, void *arg,
                                     xy_fiber_t **fiber_p)
{
    xy_status_t st = fiber_make(worker, fn, arg, fiber_p);

    if (st != XY_OK)
        return st;
    atomic_fetch_add_explicit(outside_of(worker), 1, memory_order_relaxed);
    (*fiber_p)->is_held = true;
    (*fiber_p)->special |= FIBER_VISITS;
    (*fiber_p)->state = FIBER_RUNNING;
    fiber_worker_prepare(*fiber_p);
    return XY_OK;
}

/* The worker is on another stack when it lets the lock go: the context of `fiber` is whole. */
void xy_fiber_carry(xy_fiber_t *fiber, xy_fiber_moved_fn moved, void *arg)
{
    xy_worker_t *w = fiber->head.worker;
    xy_fiber_t thread = {.tsan = fiber_sanitize_self()};
    void *fake = NULL;

    fiber_thread_stack(&thread.low, &thread.high);
    fiber->home = &thread;
    fiber_share_lock(w);
    take_over(w, fiber);
    fiber_detached = fiber;
    if (moved != NULL)
        moved(arg, fiber->context, fiber->high);
    fiber_sanitize_leave(&fake, fiber->low, fiber->high, fiber->tsan);
    fiber_switch(&thread.context, fiber->context);
    fiber_sanitize_arrive(fake);
    fiber_detached = NULL;
    give_back(w, fiber);
}

void xy_fiber_attach(void)
{
    xy_worker_t *w = xy_worker_current;
    xy_fiber_t *self = w->head.current, *home = self->home;
    void *fake = NULL;

    self->special &= (uint8_t)~FIBER_VISITS;
    atomic_fetch_sub_explicit(outside_of(w), 1, memory_order_release);
    fiber_queue_push(&w->ready, self, self->priority);
    fiber_sanitize_leave(&fake, home->low, home->high, home->tsan);
    fiber_switch(&self->context, home->context);
    fiber_arrive(w, fake);
}
