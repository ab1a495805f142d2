/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No wake is lost, shown by the system calls of a sleeper and of its poster: a lost wake is noticed
 * at once instead of by a test that hangs. Linked with --wrap=syscall.
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "fiber/fiber_private.h"
#include "testing/fiber.h"

static _Atomic(const void *) woken; /* the word of the last FUTEX_WAKE */
static _Atomic bool is_armed;       /* the next barrier brings a post */
static _Atomic bool is_posted;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    long a[6];
    va_list arguments;

    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE)
        atomic_store(&woken, (const void *)a[0]);
    if (number == SYS_membarrier && a[0] == MEMBARRIER_CMD_PRIVATE_EXPEDITED &&
        atomic_exchange(&is_armed, false))
        atomic_store(&is_posted, true);
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void count_stuck(xy_pool_t *pool)
{
    xy_pool_stop(pool);
}

static xy_pool_t *pool_of(int workers, bool (*poll)(xy_worker_t *))
{
    xy_pool_config_t config = {
        .workers = workers, .poll = poll, .stuck = count_stuck, .stack_size = 256 << 10};
    xy_pool_t *pool;

    assert_int_equal(xy_pool_create(&config, &pool), XY_OK);
    return pool;
}

static xy_fiber_t *sleeper;
static _Atomic bool has_run;

static void park(void *arg)
{
    (void)arg;
    xy_fiber_park();
    atomic_store(&has_run, true);
}

/* ---- P3: who takes the word down wakes ---- */

static void ring(void *arg)
{
    xy_worker_t *other = arg;

    while (!testing_worker_sleeps(other))
        sched_yield();
    xy_fiber_wake(sleeper);
    if (atomic_load(&woken) != &other->head.asleep) {
        fprintf(stderr, "the ring of a worker that sleeps wakes no thread\n");
        _exit(1); /* that worker would sleep for ever */
    }
}

static void test_a_ring_wakes_a_sleeper(void **state)
{
    xy_pool_t *pool = pool_of(2, NULL);

    (void)state;
    atomic_store(&has_run, false);
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), park, NULL, &sleeper), XY_OK);
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 1), ring, xy_pool_worker(pool, 0), NULL),
                     XY_OK);
    assert_int_equal(xy_pool_run(pool), XY_OK);
    assert_true(has_run);
    xy_fiber_release(sleeper);
    xy_pool_destroy(pool);
}

/* ---- S2 and S3: a post of one that saw the worker awake ---- */

static bool take_post(xy_worker_t *w)
{
    (void)w;
    if (!atomic_exchange(&is_posted, false))
        return false;
    xy_fiber_ready(sleeper);
    return true;
}

static void test_a_post_before_the_fence_is_seen(void **state)
{
    xy_pool_t *pool = pool_of(1, take_post);

    (void)state;
    if (atomic_load(&xy_pool_worker(pool, 0)->head.fenced) != 0) { /* no membarrier here */
        xy_pool_destroy(pool);
        skip();
    }
    atomic_store(&has_run, false);
    atomic_store(&is_armed, true);
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), park, NULL, &sleeper), XY_OK);
    assert_int_equal(xy_pool_run(pool), XY_OK);
    assert_false(is_armed); /* there was a barrier */
    assert_true(has_run);
    xy_fiber_release(sleeper);
    xy_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_ring_wakes_a_sleeper),
        cmocka_unit_test(test_a_post_before_the_fence_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
