/* SPDX-License-Identifier: BSD-3-Clause */
/* A fiber that runs over its stack is named; other faults stay what they were. Each in a child. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "fiber/fiber.h"
#include "fiber/sanitize.h"

static xy_fiber_t *culprit;

static void name_culprit(xy_fiber_t *fiber)
{
    _exit(fiber == culprit ? 42 : 43);
}

static __attribute__((noinline)) int dig(volatile int *bottom, int depth)
{
    volatile int frame[256];

    frame[0] = depth + *bottom;
    if (depth % 16 == 0)
        xy_fiber_yield();
    return frame[0] < 0 ? 0 : dig(frame, depth + 1) + frame[depth % 2];
}

static void overflow(void *arg)
{
    volatile int bottom = 0;

    culprit = arg == NULL ? xy_fiber_self() : culprit;
    dig(&bottom, 1);
}

enum { JUMP = 200 << 10, FAR = 20 << 20 }; /* over the guard into a stack; out of all stacks */

/* One frame over the guard: only its last bytes are touched, then a switch. */
static __attribute__((noinline)) void jump(volatile char *above)
{
    volatile char frame[JUMP];

    frame[0] = above[0];
    xy_fiber_yield();
    above[0] = frame[0];
}

static void overflow_by_jump(void *arg)
{
    volatile char here = 0;

    (void)arg;
    culprit = xy_fiber_self();
    jump(&here);
}

/* The same, and a fault that is far from the guard before any switch. */
static __attribute__((noinline)) void jump_and_fault(volatile char *above)
{
    volatile char frame[JUMP];

    frame[0] = above[0];
    *(volatile char *)(uintptr_t)(8 + (frame[0] & 1)) = 0;
    above[0] = frame[0];
}

static void fault_after_jump(void *arg)
{
    volatile char here = 0;

    (void)arg;
    culprit = xy_fiber_self();
    jump_and_fault(&here);
}

/* So far that there is no stack. */
static __attribute__((noinline)) void jump_far(volatile char *above)
{
    volatile char frame[FAR];

    frame[0] = above[0];
    xy_fiber_yield();
    above[0] = frame[0];
}

static void overflow_far(void *arg)
{
    volatile char here = 0;

    (void)arg;
    culprit = xy_fiber_self();
    jump_far(&here);
}

/* A coroutine of the program's own, on memory below every stack, is no overflow. */
static ucontext_t of_fiber, of_coroutine;
static char coroutine_stack[256 << 10];

static void coroutine(void)
{
    for (int i = 0; i < 100; i++)
        xy_fiber_yield();
}

static void run_coroutine(void *arg)
{
    (void)arg;
    getcontext(&of_coroutine);
    of_coroutine.uc_stack.ss_sp = coroutine_stack;
    of_coroutine.uc_stack.ss_size = sizeof(coroutine_stack);
    of_coroutine.uc_link = &of_fiber;
    makecontext(&of_coroutine, coroutine, 0);
    swapcontext(&of_fiber, &of_coroutine);
    _exit(46);
}

static void yield_often(void *arg)
{
    for (int i = 0; i < 100000; i++)
        xy_fiber_yield();
    (void)arg;
}

static void fault_elsewhere(void *arg)
{
    (void)arg;
    raise(SIGSEGV); /* a real fault is caught by the sanitizers */
    _exit(1);
}

static void own_handler(int number)
{
    _exit(number == SIGSEGV ? 44 : 45);
}

static void run_pool(int workers, xy_fiber_fn bad)
{
    xy_pool_config_t config = {
        .workers = workers, .stack_size = 128 << 10, .overflow = name_culprit};
    xy_pool_t *pool;

    if (xy_pool_create(&config, &pool) != XY_OK)
        _exit(1);
    for (int i = 0; i < 9; i++)
        xy_fiber_create(xy_pool_worker(pool, i % workers), i == 5 ? bad : yield_often, NULL, NULL);
    xy_pool_run(pool);
    _exit(2); /* nothing was noticed */
}

static int in_child(int workers, xy_fiber_fn bad, void (*handler)(int))
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit none = {0, 0};

        setrlimit(RLIMIT_CORE, &none);
        signal(SIGSEGV, handler);
        run_pool(workers, bad);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_overflow_is_named(void **state)
{
    (void)state;
    for (int workers = 1; workers <= 3; workers++) {
        int status = in_child(workers, overflow, SIG_DFL);

        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 42);
    }
}

static void test_jumps_are_named(void **state)
{
    (void)state;
    if (FIBER_ASAN || FIBER_TSAN)
        skip(); /* they have shadows of stacks, and no room for such frames */
    for (int workers = 1; workers <= 2; workers++)
        for (int i = 0; i < 3; i++) {
            static const xy_fiber_fn ways[] = {overflow_by_jump, fault_after_jump, overflow_far};
            int status = in_child(workers, ways[i], SIG_DFL);

            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 42);
        }
}

static void test_own_stacks(void **state)
{
    int status;

    (void)state;
    if (FIBER_ASAN || FIBER_TSAN)
        skip();
    status = in_child(2, run_coroutine, SIG_DFL);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 46);
}

static void test_other_faults(void **state)
{
    int status;

    (void)state;
    status = in_child(2, fault_elsewhere, own_handler);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 44);
    status = in_child(2, fault_elsewhere, SIG_DFL);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overflow_is_named),
        cmocka_unit_test(test_jumps_are_named),
        cmocka_unit_test(test_own_stacks),
        cmocka_unit_test(test_other_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
