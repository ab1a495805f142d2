/* SPDX-License-Identifier: BSD-3-Clause */
/* Measuring fibers: every value is there, is a time, and nothing is left behind. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "fiber/fiber.h"
#include "fiber/sanitize.h"

enum { COUNT = FIBER_TSAN || FIBER_ASAN ? 3 : 20 };

static void measure(xy_fiber_cost_t what, const int *cpus)
{
    double seconds[COUNT + 1], begin = xy_now(), sum = 0;

    for (int i = 0; i <= COUNT; i++)
        seconds[i] = -1;
    assert_int_equal(xy_fiber_measure(what, cpus, seconds, COUNT), XY_OK);
    for (int i = 0; i < COUNT; i++) {
        assert_true(seconds[i] > 0);
        sum += seconds[i];
    }
    /* No more than was asked for, and not more time than has passed. */
    assert_true(seconds[COUNT] == -1);
    assert_true(sum <= xy_now() - begin);
}

static void test_all(void **state)
{
    (void)state;
    for (int what = XY_FIBER_SWITCH; what <= XY_FIBER_WAKE_ASLEEP; what++)
        measure((xy_fiber_cost_t)what, NULL);
}

/* Pinned to one PU, which both workers then share; the caller gets its own mask back. */
static void test_pinned(void **state)
{
    cpu_set_t before, after;
    int cpus[2] = {-1, -1};

    (void)state;
    sched_getaffinity(0, sizeof(before), &before);
    for (int i = 0; i < CPU_SETSIZE && cpus[0] < 0; i++)
        if (CPU_ISSET(i, &before))
            cpus[0] = cpus[1] = i;
    measure(XY_FIBER_SWITCH, cpus);
    measure(XY_FIBER_WAKE_ASLEEP, cpus);
    sched_getaffinity(0, sizeof(after), &after);
    assert_true(CPU_EQUAL(&before, &after));
}

static void test_memory(void **state)
{
    double seconds[1];
    xy_status_t st = XY_ENOMEM;

    (void)state;
    xy_error_handler_set(NULL, NULL);
    for (long k = 1; st != XY_OK; k++) {
        xy_memory_fail_at(k);
        st = xy_fiber_measure(XY_FIBER_SWITCH, NULL, seconds, 1);
        xy_memory_fail_at(0);
        assert_true(st == XY_OK || st == XY_ENOMEM);
        assert_true(k < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_pinned),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
