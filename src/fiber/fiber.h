/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fibers: user-level threads, and the workers (one kernel thread per core) that run them.
 *
 *   xy_pool_config_t config = {.workers = 2, .cpus = cpus, .spin_seconds = 100e-6, ...};
 *   xy_pool_create(&config, &pool);
 *   xy_fiber_create(xy_pool_worker(pool, 0), body, arg, &fiber);
 *   xy_pool_run(pool);                  (returns when every fiber has ended)
 *   xy_pool_destroy(pool);
 *
 * Scheduling is cooperative, and a fiber leaves its worker only where its owner gives it to another
 * one (xy_fiber_give): data that only fibers of one worker use needs neither locks nor atomics. A
 * fiber yields its core in park, yield and sleep only.
 *
 * A parked fiber continues after a call of xy_fiber_ready (same worker) or xy_fiber_wake (any
 * thread) on it, exactly once per park. Ready fibers run in order of priority (0 first, 31 last),
 * and first come, first served within one priority. A yield lets every other ready fiber run once,
 * including less urgent ones, so that polling loops make progress.
 *
 * When no fiber is ready, the worker polls (the `poll` function of the pool: messages from other
 * workers arrive there). It polls on the stack of the fiber that parked last: when that same fiber
 * becomes ready, it continues without a switch. After `spin_seconds` without work the worker sleeps
 * in the kernel until a doorbell, a wake-up or its next timer. A worker that is often woken soon
 * after it fell asleep polls up to 20 times as long, because a wake-up costs both sides a system
 * call. A thread that posts work for `poll` rings the doorbell afterwards, which costs one load
 * while the worker is awake. When all workers sleep, no timer runs and fibers are left, the pool
 * reports a deadlock once (sleep.c; tests/models/sleep.pml is the model of it).
 *
 * A fiber has its own stack, registers, `errno` and floating-point environment (rounding mode and
 * exception flags). Thread-local variables and the signal mask belong to the worker; the MPI layer
 * swaps the variables of ranks. A stack has 8 MiB of address space by default, allocated page by
 * page and reused, above a guard area of 1 MiB (an eighth of a smaller stack, at least 64 KiB). A
 * frame larger than the guard may jump over it unless the code is compiled with
 * -fstack-clash-protection.
 *
 * A call that blocks the kernel thread (a read, a lock of another thread, sleep) stops all fibers
 * of the worker; xy_fiber_sleep parks instead. Do not park while holding a lock: if another fiber
 * of the worker waits for it, the worker deadlocks.
 */
#ifndef XY_FIBER_FIBER_H
#define XY_FIBER_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "fiber/fiber_inline.h" /* xy_fiber_self, xy_worker_self, xy_worker_notify and friends */
#include "fiber/measure.h"

typedef void (*xy_fiber_fn)(void *arg);

enum { XY_FIBER_PRIORITIES = 32, XY_FIBER_PRIORITY_DEFAULT = 16 };

typedef enum { XY_IDLE_POLLS, XY_IDLE_SLEEPS, XY_IDLE_ENDS } xy_idle_t;

typedef struct {
    int workers;
    const int *cpus; /* cpus[w]: the OS index of the PU worker w is pinned to; NULL: not pinned */
    double spin_seconds; /* how long an idle worker polls before it sleeps, at least */
    bool yields;         /* other processes share its cores: it lets them run between its polls */
    size_t stack_size;   /* of fibers; rounded up to pages; 0: 8 MiB */

    /* Called by worker `w` between fibers and while it is idle; true: something was made ready.
     * Must not park. May be NULL. */
    bool (*poll)(xy_worker_t *w);
    /* Called by worker `w` when `fiber` is about to run there (after each switch), before it does:
     * swaps what must be private to the fiber. `previous` ran there before; it is NULL when none
     * did or when it has ended. Not called when a fiber parks and continues with no other in
     * between. Must not park. May be NULL. */
    void (*switched)(xy_worker_t *w, xy_fiber_t *previous, xy_fiber_t *fiber);
    /* Called by worker `w` when it finds no ready fiber and begins to poll, when it falls asleep
     * (then it polls again), and when it continues with `fiber` (NULL: it stops). For those who
     * watch; must not park. May be NULL. */
    void (*idle)(xy_worker_t *w, xy_idle_t what, xy_fiber_t *fiber);
    /* Called by worker `w` before it sleeps: a moment for what can wait. Returns after how many
     * seconds it must be called again if the worker still sleeps; 0: it need not. Must not park;
     * what is posted meanwhile is found before the worker sleeps. May be NULL. */
    double (*rest)(xy_worker_t *w);
    /* Called once, on one worker or a visitor's thread, when every worker is asleep, no timer runs
     * and fibers are still parked: nothing will ever wake them. It may make fibers of its own
     * worker ready, or call xy_pool_unstick, and is called again then, when all are parked. A wake
     * from a thread that is no worker is foreseen where the fiber waits in xy_fiber_park_outside.
     */
    void (*stuck)(xy_pool_t *pool);
    /* Called on the faulting worker, on its signal stack, when `fiber` ran over its stack, or at a
     * switch that finds it below its stack, on the stack that it has reached. Must not return (it
     * reports and ends the process). */
    void (*overflow)(xy_fiber_t *fiber);
    /* Called by a visitor's thread when it has come in (`enters`), and before it goes, also around
     * the time that it waits. May be NULL. */
    void (*visit)(xy_worker_t *w, xy_fiber_t *visitor, bool enters);
    bool hands_over; /* workers may give fibers to each other (hand_over.c) */
    void *user;      /* xy_pool_user */
} xy_pool_config_t;

/* Create the workers' structures; no thread runs yet. On failure nothing is left. A limit that is
 * hit (vm.max_map_count, RLIMIT) is named with its cure. */
xy_status_t xy_pool_create(const xy_pool_config_t *config, xy_pool_t **pool_p);
void xy_pool_destroy(xy_pool_t *pool);

/* Run all fibers until the last has ended; the calling thread becomes worker 0. Not from a worker.
 * More fibers may be created and run afterwards. */
xy_status_t xy_pool_run(xy_pool_t *pool);

/* The same on threads of the pool's own: start returns at once, join when every fiber has ended.
 * For callers that must stay what they are: a worker of another pool (join blocks it), or a thread
 * with something else to do meanwhile. When a thread cannot start (reported), the others stop as
 * soon as each comes back to its scheduler, and join waits for that. Any thread that is no worker
 * of this pool. */
xy_status_t xy_pool_start(xy_pool_t *pool);
void xy_pool_join(xy_pool_t *pool);

/* Make the calling thread worker 0 of a pool of one worker and its running code a fiber of it (a
 * program started without a launcher). The pool must not be run; fibers may be created. The process
 * exits when the adopted fiber and all others have called xy_fiber_exit. */
xy_status_t xy_pool_adopt(xy_pool_t *pool, xy_fiber_t **fiber_p);

/* A mapping of a file that another process may cut while this thread copies: a page of [low, high)
 * that the file has no more becomes an empty one, and `is_cut` is set. While a pool runs, for the
 * calling thread, one at a time, not over a switch of fibers; NULL: none. */
typedef struct {
    const char *low, *high;
    size_t page; /* bytes of one */
    volatile int is_cut;
} xy_shield_t;

void xy_shield_set(xy_shield_t *shield);

xy_worker_t *xy_pool_worker(xy_pool_t *pool, int index);
/* Do all other workers of the pool sleep? Each may wake at once. From worker `w`. */
bool xy_worker_others_sleep(const xy_worker_t *w);
void *xy_pool_user(const xy_pool_t *pool);

/* A new fiber on `worker`, ready to run. Before xy_pool_run: from the creating thread, for any
 * worker; afterwards: from fibers of that worker only. Its structure lives until it has ended and,
 * when `fiber_p` was given, xy_fiber_release was called (from its worker, or when the pool does not
 * run). */
xy_status_t xy_fiber_create(xy_worker_t *worker, xy_fiber_fn fn, void *arg, xy_fiber_t **fiber_p);
void xy_fiber_release(xy_fiber_t *fiber);
void xy_fiber_priority_set(xy_fiber_t *fiber, int priority); /* from its worker, or before run */
void xy_fiber_user_set(xy_fiber_t *fiber, void *user);
/* The pool does not wait for this one: it runs as long as others do, and is left where it is when
 * the last of them has ended. It must not call xy_fiber_exit. Once; from its worker, or before run.
 */
void xy_fiber_background_set(xy_fiber_t *fiber);

/* Give way until ready or wake is called. A ready that came before the park (from poll, say) is not
 * lost: park then returns at once. */
void xy_fiber_park(void);
/* The same for a fiber that a thread which is no worker will wake: until then the pool is not
 * stuck, whatever its other fibers do. */
void xy_fiber_park_outside(void);
/* Let the other ready fibers of the worker run once, the less urgent ones too (and poll); returns
 * at once when there is none. */
void xy_fiber_yield(void);
/* Give way until `seconds` of CLOCK_MONOTONIC have passed. A ready meanwhile counts for the next
 * park. */
void xy_fiber_sleep(double seconds);
/* End the running fiber; does not return. */
void xy_fiber_exit(void) __attribute__((noreturn));

/* Continue a parked fiber from any stack, for good: in a copy of a process that has crashed.
 * Returns if the fiber has not run yet. */
void xy_fiber_jump(xy_fiber_t *fiber);

/* The bounds of its stack. */
void xy_fiber_stack(const xy_fiber_t *fiber, void **low_p, void **high_p);
/* Is it an address in the stack of a fiber of the calling worker? Never on a thread that is none.
 */
bool xy_worker_has_stack_at(const void *address);

/* Make a parked fiber ready: from its own worker (its fibers or its poll function). */
void xy_fiber_ready(xy_fiber_t *fiber);
/* Make a parked fiber ready from any thread; not from a signal handler. A thread that is no worker
 * must return from it before the pool is destroyed. */
void xy_fiber_wake(xy_fiber_t *fiber);

/* Another poll function for this worker, from its next poll on; any thread. */
void xy_worker_set_poll(xy_worker_t *worker, bool (*poll)(xy_worker_t *w));
/* How long this worker polls before it sleeps, instead of the pool's spin_seconds; before run. */
void xy_worker_spin_set(xy_worker_t *worker, double seconds);
int xy_worker_index(const xy_worker_t *worker);
int xy_worker_cpu(const xy_worker_t *worker); /* -1: not pinned */
xy_pool_t *xy_worker_pool(const xy_worker_t *worker);
void xy_worker_user_set(xy_worker_t *worker, void *user);
void *xy_worker_user(const xy_worker_t *worker);
bool xy_worker_has_ready(const xy_worker_t *worker); /* from the worker itself */

/* The calling thread never wakes another thread or a fiber: it does not count when all threads of
 * the process are looked at for a deadlock, whatever it waits for. One thread of a process. */
void xy_fiber_thread_is_bystander(void);
/* From a thread that is no worker and is counted in xy_pool_outside_add, `outside` such in all:
 * does every worker sleep, without a timer, and does no other thread visit? Then nothing moves
 * until one of these threads wakes a worker; *wakes_p counts how often workers were woken (modulo
 * 2^32). */
bool xy_pool_is_quiet(xy_pool_t *pool, int outside, uint32_t *wakes_p);

/* From `stuck` of the configuration: something was posted for workers of the pool, which may be
 * stuck again afterwards. */
void xy_pool_unstick(xy_pool_t *pool);

/* End: stop all workers as soon as each comes back to its scheduler, leaving fibers where they are
 * (an aborting job). Any thread. Does nothing to an adopted pool: its thread can simply exit. */
void xy_pool_stop(xy_pool_t *pool);

/* ---- Visitors: threads that are no workers and act for one for a while (visit.c) ---- */

/* From now on threads may visit `worker`, and its own thread says when it leaves for the program's
 * code and when it comes back. Leaving has two steps, so that the caller can do what must come last
 * in between. From its own thread; from a fiber. */
void xy_worker_share(xy_worker_t *worker);
void xy_worker_go_out(xy_worker_t *worker);
void xy_worker_unlock(xy_worker_t *worker);
void xy_worker_come_in(xy_worker_t *worker);
bool xy_worker_is_out(const xy_worker_t *worker); /* from a visitor that is in */

/* A visitor of `worker`, for one thread at a time. It is the running fiber of its thread from
 * come_in to go_out; park, yield and sleep let others in. The thread must be counted
 * (xy_pool_outside_add) while it may visit. */
xy_status_t xy_visitor_create(xy_worker_t *worker, void *user, xy_fiber_t **visitor_p);
/* When no other thread can ring the worker any more: a ring looks at a visitor without its lock. */
void xy_visitor_destroy(xy_fiber_t *visitor);
void xy_visitor_come_in(xy_fiber_t *visitor);
void xy_visitor_go_out(xy_fiber_t *visitor);

/* Visitors of a worker that is not shared: one thread runs at a time, and no lock is needed. The
 * worker's thread, in a fiber, lends its turn and waits until it is back. The visitor's thread acts
 * for the worker from the end of await_turn until it returns the turn; other threads of the same
 * worker must not wait for it meanwhile. */
void xy_visitor_lend_turn(xy_fiber_t *visitor);
void xy_visitor_await_turn(xy_fiber_t *visitor);
void xy_visitor_return_turn(xy_fiber_t *visitor);

/* `count` more threads may visit workers of the pool: as long as one of them does not wait in a
 * park, the pool is not stuck. Any thread. */
void xy_pool_outside_add(xy_pool_t *pool, int count);

/* The running fiber of a shared worker continues where another thread calls carry: as a visitor
 * that is in. carry returns when the fiber attaches itself again, which must be in, too, and
 * continues on its worker. Before the fiber continues, moved(arg, low, high) may change what its
 * stack holds, the saved registers included; NULL: nothing is changed. */
void xy_fiber_detach(void);
typedef void (*xy_fiber_moved_fn)(void *arg, void *low, void *high);
void xy_fiber_carry(xy_fiber_t *fiber, xy_fiber_moved_fn moved, void *arg);
/* A new fiber of a shared worker that begins where a thread calls carry. The caller is inside, and
 * releases it as others. */
xy_status_t xy_fiber_create_detached(xy_worker_t *worker, xy_fiber_fn fn, void *arg,
                                     xy_fiber_t **fiber_p);
void xy_fiber_attach(void);

/* ---- Fibers that continue on another worker (hand_over.c); pools with hands_over ---- */

/* Does it wait, parked or ready, so that its worker may give it to another one? Not while it
 * sleeps, before it has run, and when it is the one that calls. From its worker. */
bool xy_fiber_may_leave(const xy_fiber_t *fiber);
bool xy_fiber_is_ready(const xy_fiber_t *fiber); /* likewise */
/* It leaves, and nothing may make it ready until it is taken. From its worker's poll function. */
void xy_fiber_give(xy_fiber_t *fiber);
/* It continues on `worker`, the calling one, ready or parked as it was. moved(arg, low, high) as in
 * xy_fiber_carry. The give happens before the take. */
void xy_fiber_take(xy_worker_t *worker, xy_fiber_t *fiber, xy_fiber_moved_fn moved, void *arg);
/* Do posts reach a worker that takes over the place which they were posted to, before it sleeps?
 * Needs membarrier (sleep.c). */
bool xy_pool_can_hand_over(const xy_pool_t *pool);

/* For a thread that watches the job and does nothing for it: while it sleeps here, it does not keep
 * the pool from being stuck. */
void xy_watcher_sleep(double seconds);
/* The same until another thread calls, by the same word, which is 0 at first. False: the time has
 * passed. A call while the watcher does not wait is lost. */
bool xy_watcher_wait(_Atomic uint32_t *word, double seconds);
void xy_watcher_call(_Atomic uint32_t *word);

/* Where debuggers find what, in bytes from the beginning of a fiber or a worker. The state is one
 * byte: 0 parked, 1 ready, 2 running, 3 sleeping, 4 ended. A fiber runs where the stack pointer of
 * a thread lies between low and high; otherwise its registers are at `context` (switch_*.S), which
 * is NULL before its first run. `thread` is a pthread_t. */
typedef struct {
    uint64_t fiber_state, fiber_low, fiber_high, fiber_context, fiber_worker, worker_thread;
} xy_fiber_layout_t;
extern const xy_fiber_layout_t xy_fiber_layout;

/* Seconds of CLOCK_MONOTONIC. */
double xy_now(void);

#endif
