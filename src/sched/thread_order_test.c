/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders on a shared core: who stands in the list, and who is picked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sched/sched.h"
#include "testing/base.h"

static void open_queue(const char *name, xy_order_thread_t *threads, int n, xy_order_queue_t *q)
{
    const xy_order_t *order;

    assert_int_equal(xy_order_find(name, &order), XY_OK);
    xy_order_queue_init(q, order, threads);
    for (int t = 0; t < n; t++)
        xy_order_update(q, t);
}

static void expect_picks(xy_order_queue_t *q, const char *expected)
{
    for (; *expected != '\0'; expected++)
        assert_int_equal(xy_order_pick(q), *expected == '-' ? -1 : *expected - '0');
}

static void test_round_robin(void **state)
{
    xy_order_thread_t threads[3] = {0};
    xy_order_queue_t q;

    (void)state;
    open_queue("round-robin", threads, 3, &q);
    expect_picks(&q, "210210");
}

/* Priorities are those of one order: with the others no thread is urgent. */
static void test_no_priority(void **state)
{
    (void)state;
    for (int i = 0; xy_order_all[i] != NULL; i++) {
        xy_order_thread_t thread = {.base = 7, .has_collective = true, .is_ready = true};
        xy_order_queue_t q;

        xy_order_queue_init(&q, xy_order_all[i], &thread);
        xy_order_update(&q, 0);
        assert_int_equal(thread.current, q.order->has_priorities ? 7 : 0);
        assert_int_equal(q.order->has_priorities, strcmp(q.order->name, "priority") == 0);
    }
}

static void test_suspend(void **state)
{
    xy_order_thread_t threads[4] = {{.has_collective = true}, {0}, {.has_collective = true}};
    xy_order_queue_t q;

    (void)state;
    threads[3].is_supervisor = true;
    open_queue("suspend", threads, 4, &q);
    expect_picks(&q, "320320");
    threads[1].has_collective = true;
    xy_order_update(&q, 1);
    expect_picks(&q, "1320");
    threads[2].has_collective = false;
    xy_order_update(&q, 2);
    expect_picks(&q, "130130");
}

static void test_semaphore(void **state)
{
    xy_order_thread_t threads[3] = {{.has_collective = true}};
    xy_order_thread_t woken[3] = {{.is_ready = true}, {.is_ready = true}, {.is_ready = true}};
    xy_order_queue_t q;

    (void)state;
    open_queue("semaphore", woken, 3, &q);
    expect_picks(&q, "012012");
    open_queue("semaphore", threads, 3, &q);
    expect_picks(&q, "-");
    threads[1].is_ready = true;
    xy_order_update(&q, 1);
    expect_picks(&q, "11");
    threads[1].is_ready = false;
    xy_order_update(&q, 1);
    expect_picks(&q, "-");
}

static void test_priority(void **state)
{
    xy_order_thread_t threads[2] = {{.base = 2, .has_collective = true}, {0}};
    xy_order_thread_t equal[3] = {0};
    xy_order_queue_t q;

    (void)state;
    open_queue("priority", threads, 2, &q);
    expect_picks(&q, "001000100");
    threads[0].has_collective = false;
    xy_order_update(&q, 0);
    expect_picks(&q, "1010");
    open_queue("priority", equal, 3, &q);
    expect_picks(&q, "210210");
}

/* After any change, the list holds exactly the threads that the order admits, once each. */
static void test_lists_are_whole(void **state)
{
    (void)state;
    for (int i = 0; xy_order_all[i] != NULL; i++) {
        xy_order_thread_t threads[9] = {0};
        xy_order_queue_t q;
        uint64_t seed = 7;

        threads[8].is_supervisor = true;
        xy_order_queue_init(&q, xy_order_all[i], threads);
        for (int step = 0; step < 2000; step++) {
            int t = (int)(testing_random(&seed) % 9), listed = 0, seen = 0;

            threads[t].has_collective = testing_random(&seed) >> 63;
            threads[t].is_ready = testing_random(&seed) >> 63;
            xy_order_update(&q, t);
            xy_order_pick(&q);
            for (int j = 0; j < 9; j++) {
                listed += threads[j].is_listed;
                assert_true(!threads[j].is_listed || q.order->admits(&threads[j]));
            }
            for (int32_t j = q.head, before = -1; j >= 0; before = j, j = threads[j].next, seen++) {
                assert_int_equal(threads[j].previous, before);
                assert_true(threads[j].is_listed);
            }
            assert_int_equal(seen, listed);
            assert_int_equal(q.listed, listed);
        }
    }
}

static void test_names(void **state)
{
    const xy_order_t *order;

    (void)state;
    testing_listen();
    assert_int_equal(xy_order_find("semafore", &order), XY_EUSAGE);
    assert_non_null(strstr(testing_said, "did you mean 'semaphore'?"));
    assert_int_equal(xy_order_find("xyz", &order), XY_EUSAGE);
    assert_non_null(strstr(testing_said, "there are round-robin"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_robin),     cmocka_unit_test(test_suspend),
        cmocka_unit_test(test_semaphore),       cmocka_unit_test(test_priority),
        cmocka_unit_test(test_lists_are_whole), cmocka_unit_test(test_names),
        cmocka_unit_test(test_no_priority),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
