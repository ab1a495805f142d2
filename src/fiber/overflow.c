/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running over a stack. The fault lies in the guard below the stack, or the stack pointer is below
 * the fiber's stack already; the signal handler runs on a stack of its own, one per worker, and
 * calls the pool's `overflow` function. Faults elsewhere are none of ours: they go to the handler
 * that was there before, or end the process as they would have; but for those in a mapping of a
 * file that was cut (xy_shield_set).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "fiber/fiber_private.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users; /* workers that are running; under lock */
static const int signals[2] = {SIGSEGV, SIGBUS};
static struct sigaction before[2]; /* written while no worker runs */

/* Pass a signal on to the earlier handler, or restore the default action if there was none. */
static void chain(int number, siginfo_t *info, void *context)
{
    const struct sigaction *old = &before[number == signals[1]];

    if ((old->sa_flags & SA_SIGINFO) != 0) {
        old->sa_sigaction(number, info, context);
    } else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
        old->sa_handler(number);
    } else {
        /* Back to the default; the instruction faults again, and the core shows the place. A signal
         * that was sent does not come again by itself. */
        signal(number, SIG_DFL);
        if (info->si_code <= 0)
            raise(number);
    }
}

static const char *stack_pointer(const void *context)
{
#if defined(__x86_64__)
    return (const char *)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return (const char *)((const ucontext_t *)context)->uc_mcontext.sp;
#else
    (void)context;
    return NULL;
#endif
}

/* A frame jumped over the guard: the fiber is on the stack of another, and what faults may lie
 * anywhere. A program's own stacks are not in the slabs. */
static bool has_jumped(const xy_worker_t *w, const xy_fiber_t *fiber, const char *sp)
{
    return sp != NULL && fiber->stack != NULL && sp < fiber->stack->low &&
           fiber_stacks_contain(&w->stacks, sp);
}

/* A frame that begins on the stack and does not end there: what faults lies in it. */
static bool is_in_frame(const xy_fiber_t *fiber, const char *sp, const char *p)
{
    const size_t red_zone = 128, furthest = (size_t)1 << 30;

    return sp != NULL && sp < fiber->stack->low && (size_t)(fiber->stack->low - sp) < furthest &&
           p >= sp - red_zone && p < fiber->stack->low;
}

/* ---- Files that are cut ---- */

static _Thread_local xy_shield_t *shield;

void xy_shield_set(xy_shield_t *s)
{
    /* Signals of this thread alone look at it. */
    atomic_signal_fence(memory_order_seq_cst);
    shield = s;
    atomic_signal_fence(memory_order_seq_cst);
}

/* An empty page in place of the one that the file has no more. */
static bool is_shielded(int number, const siginfo_t *info)
{
    const char *p = info->si_addr;
    int code = errno;
    void *page;

    if (number != SIGBUS || info->si_code != BUS_ADRERR || shield == NULL || p < shield->low ||
        p >= shield->high)
        return false;
    page = (void *)((uintptr_t)p & -(uintptr_t)shield->page);
    if (mmap(page, shield->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0) == MAP_FAILED)
        return false;
    shield->is_cut = 1;
    errno = code;
    return true;
}

/* Signal handler: call the pool's `overflow` function after a stack overflow, and pass other faults
 * on. */
static void handle(int number, siginfo_t *info, void *context)
{
    xy_worker_t *w = xy_worker_current;
    xy_fiber_t *fiber = w == NULL ? fiber_detached : w->head.current;

    if (is_shielded(number, info))
        return;
    if (w == NULL && fiber != NULL)
        w = fiber->head.worker;

    if (fiber != NULL && fiber->stack != NULL && w->pool->config.overflow != NULL &&
        info->si_code > 0) {
        const char *p = info->si_addr, *sp = stack_pointer(context);

        if ((p >= fiber->stack->guard && p < fiber->stack->low) || has_jumped(w, fiber, sp) ||
            is_in_frame(fiber, sp, p))
            w->pool->config.overflow(fiber);
    }
    chain(number, info, context);
}

void fiber_overflow_check(xy_worker_t *w, xy_fiber_t *fiber, const char *sp)
{
    if (!has_jumped(w, fiber, sp))
        return;
    if (w->pool->config.overflow != NULL)
        w->pool->config.overflow(fiber);
    abort();
}

/* In whole pages. */
static size_t signal_stack_size(void)
{
    long least = sysconf(_SC_MINSIGSTKSZ); /* grows with the vector registers */
    size_t page = (size_t)sysconf(_SC_PAGESIZE),
           size = (size_t)(least > 0 ? least : 0) + (64 << 10);

    return (size + page - 1) / page * page;
}

xy_status_t fiber_overflow_init(xy_worker_t *w)
{
    /* Not in the heap: a program that writes past a block of its own overwrites what is there. */
    void *stack = mmap(NULL, signal_stack_size(), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

    if (stack == MAP_FAILED)
        return xy_fail_memory("making a signal stack");
    w->signal_stack = stack;
    return XY_OK;
}

void fiber_overflow_cleanup(xy_worker_t *w)
{
    if (w->signal_stack != NULL)
        munmap(w->signal_stack, signal_stack_size());
    w->signal_stack = NULL;
}

void fiber_overflow_enter(xy_worker_t *w)
{
    stack_t stack = {.ss_sp = w->signal_stack, .ss_size = signal_stack_size()};
    struct sigaction action;

    sigaltstack(&stack, &w->signal_stack_before);
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER; /* a fault while one is handled, too */
    sigemptyset(&action.sa_mask);
    pthread_mutex_lock(&lock);
    if (users++ == 0)
        for (int i = 0; i < 2; i++)
            sigaction(signals[i], &action, &before[i]);
    pthread_mutex_unlock(&lock);
}

void fiber_overflow_leave(xy_worker_t *w)
{
    struct sigaction now;

    pthread_mutex_lock(&lock);
    if (--users == 0)
        for (int i = 0; i < 2; i++)
            /* A handler that was set since stays. */
            if (sigaction(signals[i], NULL, &now) == 0 && now.sa_sigaction == handle)
                sigaction(signals[i], &before[i], NULL);
    pthread_mutex_unlock(&lock);
    sigaltstack(&w->signal_stack_before, NULL);
}
