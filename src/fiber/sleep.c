/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping in the kernel, and the doorbell that ends it.
 *
 *   sleeper                               poster
 *   S1 asleep := 1                        P1 post (release)
 *   S2 fence on all threads (membarrier)  P2 asleep == 0? done
 *   S3 look again for posts; found: awake P3 exchange asleep with 0; was not 0: futex wake
 *   S4 futex wait while asleep == 1
 *
 * No wake is lost: S2 makes every running thread of the process pass a full fence. If P2 came
 * before that fence, P1 did as well and S3 sees the post; if it came after, P2 sees S1. So the
 * poster pays one load of a line it has just written to or that is shared, and the fence is paid by
 * the one who has nothing to do. Without membarrier (`fenced`), the poster has a fence between P1
 * and P2 and S2 is a fence of the sleeper.
 *
 * Stuck. `sleepers` counts the workers in S4 without a timer (in the low half), and how often one
 * of them came out of it (in the high half). Each counts itself in before S4 and out after it, and
 * touches nothing in between. The worker L whose counting makes the count complete then checks:
 *
 *   a) every `asleep` word is 1,   b) `sleepers` is still what its own counting left there.
 *
 * Let t be the moment of L's counting. By b) no worker counted out between t and the end of the
 * check, so all that time every worker but L was in S4, where it posts nothing and does not set
 * its word; a word seen at 1 in a) was therefore 1 at t. A post made by a worker before t was made
 * before that worker counted itself in: either its target saw it in S3 and is not counted, or P3
 * set the target's word to 0 before t, and a) sees it. Hence no post is in progress, no worker can
 * make one, and no timer runs (a worker with timers is not counted): no fiber will ever be woken.
 * When a) or b) fails, some worker is on its way out of S4 and will count itself in again, so the
 * check is made again by the worker that is last then. Threads that are no workers are outside of
 * this reasoning: L looks into the mailboxes too, but a wake that such a thread will make later is
 * foreseen only where a fiber has said so (xy_fiber_park_outside): it counts itself in `outside`
 * before its worker sleeps, and out when it runs again. Threads that may visit a worker (visit.c)
 * are counted in `outside` unless they wait in a park.
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fiber/fiber_private.h"
#include "fiber/sanitize.h"

#define ONE_WAKE (UINT64_C(1) << 32)

/* Falling asleep interrupts every core of the job (S2), and waking takes the poster a system call
 * and the sleeper some 10 to 50 us. A sleep that was shorter than the longest time of polling would
 * better have been spent polling. Longer ones bring the time back: a job that waits for long sleeps
 * after a few of them as early as it was configured to. */
enum { SPIN_MOST = 20, SPIN_GROWS = 4 };

void fiber_spin_adapt(xy_worker_t *w, int64_t slept_ns)
{
    int64_t most = SPIN_MOST * w->spin_ns;

    if (slept_ns < most)
        w->spin_now_ns = w->spin_now_ns > most / SPIN_GROWS ? most : SPIN_GROWS * w->spin_now_ns;
    else
        w->spin_now_ns =
            w->spin_now_ns < SPIN_GROWS * w->spin_ns ? w->spin_ns : w->spin_now_ns / SPIN_GROWS;
}

uint32_t fiber_fence_init(void)
{
    long supported = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

    if (supported < 0 || (supported & MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0 ||
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
        return 1;
    return 0;
}

void fiber_fence(void)
{
#if FIBER_TSAN
    /* TSan knows no fences; a sequentially consistent exchange is one on the machine. */
    static _Atomic int fence_word;
    atomic_exchange(&fence_word, 1);
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

static void fence_all(const xy_worker_t *w)
{
    fiber_fence();
    if (atomic_load_explicit(&w->head.fenced, memory_order_relaxed) == 0)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

/* Every thread has passed a fence since, and so reads the word before it next rings. */
void fiber_fence_by_rings(xy_worker_t *w)
{
    if (atomic_exchange(&w->head.fenced, 1) == 0)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

void fiber_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t deadline, uint32_t mask)
{
    struct timespec t = {.tv_sec = (time_t)(deadline / 1000000000),
                         .tv_nsec = (long)(deadline % 1000000000)};

    syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value,
            deadline != 0 ? &t : NULL, NULL, mask);
}

void fiber_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

static void thread_sleep(double seconds, uint32_t mask)
{
    _Atomic uint32_t word = 0;
    int64_t end = fiber_now_ns() + (int64_t)(1e9 * (seconds < 1e9 ? seconds : 1e9)) + 1;

    while (fiber_now_ns() < end)
        fiber_futex_wait(&word, 0, end, mask);
}

void fiber_thread_sleep(double seconds)
{
    thread_sleep(seconds, FIBER_ANY_MASK);
}

void xy_watcher_sleep(double seconds)
{
    thread_sleep(seconds, FIBER_VISITOR_MASK);
}

bool xy_watcher_wait(_Atomic uint32_t *word, double seconds)
{
    int64_t end = fiber_now_ns() + (int64_t)(1e9 * seconds) + 1;

    atomic_store_explicit(word, 1, memory_order_release);
    while (atomic_load_explicit(word, memory_order_acquire) == 1 && fiber_now_ns() < end)
        fiber_futex_wait(word, 1, end, FIBER_VISITOR_MASK);
    return atomic_exchange_explicit(word, 0, memory_order_acq_rel) == 0;
}

void xy_watcher_call(_Atomic uint32_t *word)
{
    if (atomic_load_explicit(word, memory_order_relaxed) == 1 &&
        atomic_exchange_explicit(word, 0, memory_order_acq_rel) == 1)
        fiber_futex_wake(word);
}

/* sched_yield of a rank lets another rank run: this is the kernel's. */
void xy_thread_yield(void)
{
    syscall(SYS_sched_yield);
}

void xy_worker_ring_slow(xy_worker_t *worker)
{
    uint32_t was;

    if (atomic_load_explicit(&worker->head.fenced, memory_order_relaxed) != 0) {
        fiber_fence();
        if (atomic_load_explicit(&worker->head.asleep, memory_order_relaxed) == FIBER_AWAKE)
            return;
    }
    /* The thread that takes the word down wakes: one system call for many rings. */
    was = atomic_exchange_explicit(&worker->head.asleep, FIBER_AWAKE, memory_order_acq_rel);
    if (was == FIBER_ABSENT)
        fiber_visitor_ring(worker);
    else if (was != FIBER_AWAKE)
        fiber_futex_wake(&worker->head.asleep);
}

/* The check of the comment above; `counted` is what the caller's counting left in `sleepers`. */
static bool all_sleep(xy_pool_t *pool, uint64_t counted, int outside)
{
    int workers = pool->config.workers;

    if ((uint32_t)counted != (uint32_t)workers ||
        atomic_load_explicit(&pool->outside, memory_order_acquire) != outside)
        return false;
    for (int i = 0; i < workers; i++) {
        xy_worker_head_t *head = &pool->workers[i].head;

        if (atomic_load_explicit(&head->asleep, memory_order_acquire) != FIBER_ASLEEP ||
            atomic_load_explicit(&head->mail, memory_order_acquire) != NULL)
            return false;
    }
    return atomic_load_explicit(&pool->sleepers, memory_order_acquire) == counted;
}

static bool is_stuck(xy_pool_t *pool, uint64_t counted)
{
    return atomic_load_explicit(&pool->live, memory_order_acquire) != 0 &&
           all_sleep(pool, counted, 0);
}

bool xy_worker_others_sleep(const xy_worker_t *w)
{
    for (int i = 0; i < w->pool->config.workers; i++) {
        xy_worker_t *other = &w->pool->workers[i];
        int state = atomic_load_explicit(&other->head.asleep, memory_order_acquire);

        if (other != w && state != FIBER_ASLEEP && state != FIBER_ASLEEP_TIMED)
            return false;
    }
    return true;
}

/* As for L: the caller posts nothing meanwhile, and it is the moment of its first look at
 * `sleepers` that counts. */
bool xy_pool_is_quiet(xy_pool_t *pool, int outside, uint32_t *wakes_p)
{
    uint64_t counted = atomic_load_explicit(&pool->sleepers, memory_order_acquire);

    *wakes_p = (uint32_t)(counted >> 32);
    return all_sleep(pool, counted, outside);
}

/* Until it is rung. Threads of the program that may ring are perhaps stuck themselves, in ways that
 * are not counted here: true. */
static bool sleep_beside_threads(xy_worker_t *w)
{
    for (int64_t pause = FIBER_ASK_FIRST;; pause = pause < FIBER_ASK_MOST ? 2 * pause : pause) {
        fiber_futex_wait(&w->head.asleep, FIBER_ASLEEP, fiber_now_ns() + pause, FIBER_VISITOR_MASK);
        if (atomic_load_explicit(&w->head.asleep, memory_order_acquire) != FIBER_ASLEEP)
            return false;
        if (atomic_load_explicit(&w->pool->outside, memory_order_acquire) != 0 &&
            fiber_waits_elsewhere(w->pool, &w->head.asleep, FIBER_ASLEEP))
            return true;
    }
}

/* Sleep until another worker rings; the last worker to fall asleep calls the pool's `stuck`
 * function if no fiber can be woken. */
static void sleep_until_rung(xy_worker_t *w)
{
    xy_pool_t *pool = w->pool;
    uint64_t counted = atomic_fetch_add(&pool->sleepers, 1) + 1;
    bool say = pool->config.stuck != NULL && is_stuck(pool, counted) &&
               !atomic_exchange(&pool->is_stuck_said, true);

    if (w->is_shared && !say)
        say = sleep_beside_threads(w);
    if (say)
        atomic_store_explicit(&w->head.asleep, FIBER_AWAKE, memory_order_relaxed);
    while (atomic_load_explicit(&w->head.asleep, memory_order_acquire) == FIBER_ASLEEP)
        fiber_futex_wait(&w->head.asleep, FIBER_ASLEEP, 0, FIBER_ANY_MASK);
    atomic_fetch_add(&pool->sleepers, ONE_WAKE - 1);
    if (say)
        pool->config.stuck(pool);
    if (say && w->ready.nonempty != 0) /* it continues, and may be stuck again */
        atomic_store(&pool->is_stuck_said, false);
}

void xy_pool_unstick(xy_pool_t *pool)
{
    atomic_store(&pool->is_stuck_said, false);
}

static void sleep_until(xy_worker_t *w, int64_t deadline)
{
    while (atomic_load_explicit(&w->head.asleep, memory_order_acquire) == FIBER_ASLEEP_TIMED &&
           fiber_now_ns() < deadline)
        fiber_futex_wait(&w->head.asleep, FIBER_ASLEEP_TIMED, deadline, FIBER_ANY_MASK);
    atomic_store_explicit(&w->head.asleep, FIBER_AWAKE, memory_order_relaxed);
}

/* Sleep until a ring, the next timer or `deadline`; returns at once when there is work after all.
 */
void fiber_worker_sleep(xy_worker_t *w, int64_t deadline)
{
    bool is_timed = w->timers != NULL || deadline != 0;

    if (w->timers != NULL && (deadline == 0 || w->timers->deadline < deadline))
        deadline = w->timers->deadline;

    atomic_store_explicit(&w->head.asleep, is_timed ? FIBER_ASLEEP_TIMED : FIBER_ASLEEP,
                          memory_order_relaxed);
    fence_all(w);
    if (atomic_load_explicit(&w->head.mail, memory_order_relaxed) != NULL || fiber_poll(w) ||
        w->ready.nonempty != 0) {
        atomic_store_explicit(&w->head.asleep, FIBER_AWAKE, memory_order_relaxed);
        return;
    }
    if (w->is_shared)
        fiber_share_unlock(w);
    if (is_timed)
        sleep_until(w, deadline);
    else
        sleep_until_rung(w);
    if (w->is_shared)
        fiber_share_lock(w);
}
