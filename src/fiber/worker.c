/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fibers run. There is no scheduler context: the fiber that yields picks the next one and
 * switches to it directly. When none is ready it polls and sleeps on its own stack. The thread's
 * own context (the worker's `root`) is left when the first fiber starts and entered again when the
 * worker stops.
 */
#include <errno.h>
#include <stdlib.h>

#include "fiber/fiber_private.h"
#include "fiber/fiber_queue.h"
#include "fiber/sanitize.h"
#include "fiber/switch.h"

_Thread_local xy_worker_t *xy_worker_current;

enum {
    POLL_EVERY = 8,   /* switches between two polls while fibers are ready (a power of two) */
    CLOCK_EVERY = 32, /* switches or empty polls between two looks at the clock (likewise) */
    LONG_YIELD_NS = 200000,
    HURRIED = 64,
    EAGER_POLLS = 128 /* empty polls before the worker relaxes between them */
};

/* Mail ---------------------------------------------------------------------------------------- */

/* A letter to an empty box leaves its mail_next alone (it is NULL), so that waking a fiber moves
 * one cache line: the box. */
static void mail_post(xy_worker_t *w, xy_fiber_t *letter)
{
    xy_fiber_t *first = atomic_load_explicit(&w->head.mail, memory_order_relaxed);
    xy_fiber_t *next = NULL;

    do {
        if (next != first)
            atomic_store_explicit(&letter->mail_next, first, memory_order_relaxed);
        next = first;
        /* release: pairs with the acquire of fiber_mail_drain */
    } while (!atomic_compare_exchange_weak_explicit(&w->head.mail, &first, letter,
                                                    memory_order_release, memory_order_relaxed));
    xy_worker_notify(w);
}

static __attribute__((noinline, cold)) void signal_fiber(xy_worker_t *w, xy_fiber_t *fiber)
{
    if (fiber->state == FIBER_AWAY)
        fiber_visitor_ready(w, fiber);
    else
        fiber->special |= FIBER_SIGNALLED;
}

static inline void make_ready(xy_worker_t *w, xy_fiber_t *fiber)
{
    if (fiber->state == FIBER_PARKED)
        fiber_queue_push(&w->ready, fiber, fiber->priority);
    else
        signal_fiber(w, fiber);
}

/* Unlink a fiber taken from the mailbox; mail_next is NULL outside of it. Returns the next one. */
static inline xy_fiber_t *mail_unlink(xy_fiber_t *letter)
{
    xy_fiber_t *next = atomic_load_explicit(&letter->mail_next, memory_order_relaxed);

    if (next != NULL)
        atomic_store_explicit(&letter->mail_next, NULL, memory_order_relaxed);
    return next;
}

/* Make all fibers in the mailbox ready, first come first. They stay linked by mail_next until then:
 * a visitor that waits is in a list by `next`. */
void fiber_mail_drain(xy_worker_t *w)
{
    xy_fiber_t *letter = atomic_exchange_explicit(&w->head.mail, NULL, memory_order_acquire);
    xy_fiber_t *first = NULL;

    while (letter != NULL) {
        xy_fiber_t *next = mail_unlink(letter);

        if (letter == &w->root) {
            w->is_stopped = true;
        } else {
            if (first != NULL)
                atomic_store_explicit(&letter->mail_next, first, memory_order_relaxed);
            first = letter;
        }
        letter = next;
    }
    while (first != NULL) {
        xy_fiber_t *next = mail_unlink(first);

        make_ready(w, first);
        first = next;
    }
}

static inline void look_at_mail(xy_worker_t *w)
{
    if (__builtin_expect(atomic_load_explicit(&w->head.mail, memory_order_relaxed) != NULL, 0))
        fiber_mail_drain(w);
}

void xy_fiber_ready(xy_fiber_t *fiber)
{
    make_ready(fiber->head.worker, fiber);
}

void xy_fiber_wake(xy_fiber_t *fiber)
{
    xy_worker_t *w = fiber->head.worker;

    if (w == xy_worker_current)
        make_ready(w, fiber);
    else
        mail_post(w, fiber);
}

/* Choosing ------------------------------------------------------------------------------------ */

static bool spin_is_over(xy_worker_t *w, int64_t *start_p)
{
    int64_t now;

    if (w->spin_ns == 0 || w->hurried > 0)
        return true;
    now = fiber_now_ns();
    if (*start_p == 0)
        *start_p = now;
    return now - *start_p >= w->spin_now_ns;
}

static inline void tell_idle(xy_worker_t *w, xy_idle_t what, xy_fiber_t *fiber)
{
    if (__builtin_expect(w->idle != NULL, 0))
        w->idle(w, what, fiber);
}

static void rest_and_sleep(xy_worker_t *w)
{
    double again = w->rest != NULL ? w->rest(w) : 0;
    int64_t begin = fiber_now_ns(), end;

    fiber_worker_sleep(w, again > 0 ? begin + (int64_t)(again * 1e9) : 0);
    end = fiber_now_ns();
    /* Only what other workers do tells how long the next wait will be. */
    if (!(again > 0) && (w->timers == NULL || w->timers->deadline > end))
        fiber_spin_adapt(w, end - begin);
}

/* Let processes run that share the core. One that waits gives it back at once. If others use it, a
 * sleeper gets it sooner than one that yields: the next waits do without. */
static void yield_core(xy_worker_t *w)
{
    int64_t begin = fiber_now_ns();

    xy_thread_yield();
    if (fiber_now_ns() - begin > LONG_YIELD_NS)
        w->hurried = HURRIED;
}

/* Poll and sleep until a fiber is ready; the root when the worker is to stop. On the stack of
 * the fiber that ran last, which must stay then: where fibers may leave, on the thread's own, which
 * is returned to first. */
static __attribute__((noinline)) xy_fiber_t *wait_for_work(xy_worker_t *w)
{
    xy_fiber_t *fiber;
    int64_t start = 0;

    if (__builtin_expect(w->pool->config.hands_over, 0) && w->head.current != NULL)
        return &w->root;
    tell_idle(w, XY_IDLE_POLLS, NULL);
    for (unsigned polls = 1;; polls++) {
        look_at_mail(w);
        fiber_poll(w);
        if (w->is_stopped) {
            fiber = &w->root;
            break;
        }
        fiber = fiber_queue_pop(&w->ready);
        if (fiber != NULL)
            break;
        if (w->spin_ns == 0 || w->pool->config.yields || polls % CLOCK_EVERY == 0) {
            fiber_timer_expire(w);
            if (w->ready.nonempty == 0 && spin_is_over(w, &start)) {
                tell_idle(w, XY_IDLE_SLEEPS, NULL);
                rest_and_sleep(w);
                tell_idle(w, XY_IDLE_POLLS, NULL);
                fiber_timer_expire(w);
                w->hurried -= w->hurried > 0;
                start = 0;
                polls = 0;
            }
        }
        if (__builtin_expect(w->is_shared, 0))
            fiber_share_breathe(w);
        else if (__builtin_expect(w->pool->config.yields, 0))
            yield_core(w);
        else if (polls >= EAGER_POLLS)
            xy_relax();
    }
    tell_idle(w, XY_IDLE_ENDS, fiber != &w->root ? fiber : NULL);
    return fiber;
}

/* Return the fiber to run next; polls at intervals, sleeps while none is ready, and returns the
 * root when the worker stops. */
static inline xy_fiber_t *choose(xy_worker_t *w)
{
    xy_fiber_t *fiber;

    look_at_mail(w);
    if (__builtin_expect(++w->ticks % POLL_EVERY == 0, 0)) {
        fiber_poll(w);
        if (w->timers != NULL && w->ticks % CLOCK_EVERY == 0)
            fiber_timer_expire(w);
    }
    if (__builtin_expect(w->is_stopped, 0))
        return &w->root;
    fiber = fiber_queue_pop(&w->ready);
    return fiber != NULL ? fiber : wait_for_work(w);
}

/* Switching ----------------------------------------------------------------------------------- */

/* The first step on a new stack: recycle the fiber that was left if it has ended. */
static inline void arrive(xy_worker_t *w, void *fake)
{
    fiber_sanitize_arrive(fake);
    if (__builtin_expect(w->dead != NULL, 0)) {
        xy_fiber_t *dead = w->dead;

        w->dead = NULL;
        fiber_recycle(w, dead);
    }
}

static void entry(void);

void fiber_worker_prepare(xy_fiber_t *fiber)
{
    fiber->context = fiber_switch_prepare(fiber->low, fiber->high, entry);
}

/* From `from`, which is running, to another fiber or the root. The only place that switches: the
 * processor predicts a return by the call it saw last, and that is right when all fibers return to
 * the same place. */
static __attribute__((noinline)) void go(xy_worker_t *w, xy_fiber_t *from, xy_fiber_t *to,
                                         bool is_last)
{
    void *fake = NULL;

    if (__builtin_expect(fiber_stack_pointer() < from->low, 0))
        fiber_overflow_check(w, from, fiber_stack_pointer());
    if (__builtin_expect(to == &w->root, 0)) {
        w->head.current = NULL;
    } else {
        to->state = FIBER_RUNNING;
        w->head.current = to;
        if (w->switched != NULL && w->last != to)
            w->switched(w, w->last, to);
        w->last = to;
        if (__builtin_expect(to->context == NULL, 0))
            fiber_worker_prepare(to);
    }
    fiber_sanitize_leave(is_last ? NULL : &fake, to->low, to->high, to->tsan);
    fiber_switch(&from->context, to->context);
    arrive(xy_worker_current, fake); /* it may be another one (hand_over.c) */
}

void xy_fiber_jump(xy_fiber_t *fiber)
{
    void *here;

    if (fiber->context != NULL)
        fiber_switch(&here, fiber->context);
}

static void __attribute__((noinline)) finish(xy_pool_t *pool)
{
    if (atomic_exchange(&pool->is_stopping, true))
        return;
    for (int i = 0; i < pool->config.workers; i++)
        mail_post(&pool->workers[i], &pool->workers[i].root);
}

static void entry(void)
{
    xy_worker_t *w = xy_worker_current;
    xy_fiber_t *fiber = w->head.current;

    arrive(w, NULL);
    errno = 0;
    fiber->fn(fiber->arg);
    xy_fiber_exit();
}

/* `self` is parked, asleep or in a ready list. errno belongs to the fiber: poll and other fibers
 * may change it. */
static inline void give_way(xy_worker_t *w, xy_fiber_t *self)
{
    int error = errno;
    xy_fiber_t *next = choose(w);

    if (next == self)
        self->state = FIBER_RUNNING;
    else
        go(w, self, next, false);
    errno = error;
}

static __attribute__((noinline, cold)) void park_special(xy_worker_t *w, xy_fiber_t *self)
{
    if ((self->special & FIBER_SIGNALLED) != 0)
        self->special &= (uint8_t)~FIBER_SIGNALLED;
    else
        fiber_visitor_park(w, self);
}

void xy_fiber_park(void)
{
    xy_worker_t *w = xy_worker_current;
    xy_fiber_t *self = w->head.current;

    if (__builtin_expect(self->special != 0, 0)) {
        park_special(w, self);
        return;
    }
    self->state = FIBER_PARKED;
    give_way(w, self);
}

void xy_fiber_park_outside(void)
{
    _Atomic int *outside = &xy_worker_current->pool->outside;

    atomic_fetch_add_explicit(outside, 1, memory_order_relaxed);
    xy_fiber_park();
    atomic_fetch_sub_explicit(outside, 1, memory_order_relaxed);
}

void xy_fiber_yield(void)
{
    xy_worker_t *w = xy_worker_current;
    xy_fiber_t *self = w->head.current;
    unsigned list = self->priority, lowest;

    if (__builtin_expect((self->special & FIBER_VISITS) != 0, 0)) {
        fiber_visitor_yield(w, self);
        return;
    }
    look_at_mail(w);
    if (atomic_load_explicit(&w->poll, memory_order_relaxed) != NULL) {
        int error = errno;

        fiber_poll(w);
        errno = error;
    }
    if (w->timers != NULL && ++w->ticks % CLOCK_EVERY == 0)
        fiber_timer_expire(w);
    if (__builtin_expect(w->is_shared, 0))
        fiber_share_breathe(w);
    if (w->ready.nonempty == 0 && !w->is_stopped)
        return;
    /* Behind all others, the less urgent ones as well: a fiber that polls in a loop would keep the
     * one it waits for from running. */
    lowest = w->ready.nonempty == 0 ? 0 : fiber_queue_lowest(&w->ready);
    fiber_queue_push(&w->ready, self, lowest > list ? lowest : list);
    give_way(w, self);
}

void xy_fiber_sleep(double seconds)
{
    xy_worker_t *w = xy_worker_current;
    xy_fiber_t *self = w->head.current;
    double ns = seconds * 1e9;

    if (!(ns >= 1.0)) { /* also not a number */
        xy_fiber_yield();
        return;
    }
    if ((self->special & FIBER_VISITS) != 0) {
        fiber_visitor_sleep(w, self, seconds);
        return;
    }
    /* A century is for ever, and does not overflow. Never too early: round up. */
    fiber_timer_add(w, self, fiber_now_ns() + (int64_t)(ns < 3.2e18 ? ns : 3.2e18) + 1);
    self->state = FIBER_SLEEPING;
    give_way(w, self);
}

void xy_fiber_exit(void)
{
    xy_worker_t *w = xy_worker_current;
    xy_fiber_t *self = w->head.current, *next;

    self->state = FIBER_RUNNING; /* until its stack is unused: see fiber_recycle */
    w->last = NULL;
    w->head.current = NULL;
    if (atomic_fetch_sub_explicit(&w->pool->live, 1, memory_order_acq_rel) == 1)
        finish(w->pool);
    next = choose(w);
    if (next == &w->root && w->pool->is_adopted)
        exit(EXIT_SUCCESS); /* the adopted thread ended as well: there is nowhere to return to */
    w->dead = self;
    go(w, self, next, true);
    __builtin_unreachable();
}

void fiber_worker_loop(xy_worker_t *w)
{
    xy_fiber_t *next;

    /* It comes back to stop, to wait (hands_over), or because a fiber has left with its stack
     * (visit.c). */
    while ((next = choose(w)) != &w->root)
        go(w, &w->root, next, false);
}

void fiber_worker_desert(xy_worker_t *w, xy_fiber_t *self)
{
    w->last = NULL;
    go(w, self, &w->root, false);
}

void fiber_arrive(xy_worker_t *w, void *fake)
{
    arrive(w, fake);
}

/* Worker and pool properties ------------------------------------------------------------------ */

bool xy_worker_has_ready(const xy_worker_t *worker)
{
    return worker->ready.nonempty != 0;
}

void xy_worker_spin_set(xy_worker_t *worker, double seconds)
{
    worker->spin_ns = worker->spin_now_ns = (int64_t)(seconds * 1e9);
}

int xy_worker_index(const xy_worker_t *worker)
{
    return worker->index;
}

int xy_worker_cpu(const xy_worker_t *worker)
{
    return worker->cpu;
}

xy_pool_t *xy_worker_pool(const xy_worker_t *worker)
{
    return worker->pool;
}

void xy_worker_user_set(xy_worker_t *worker, void *user)
{
    worker->user = user;
}

void *xy_worker_user(const xy_worker_t *worker)
{
    return worker->user;
}

void xy_pool_stop(xy_pool_t *pool)
{
    if (!pool->is_adopted)
        finish(pool);
}

void xy_worker_set_poll(xy_worker_t *worker, bool (*poll)(xy_worker_t *w))
{
    atomic_store_explicit(&worker->poll, poll, memory_order_relaxed);
}
