/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of tasks: the order, the checks, the memory that runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tasks/tasks.h"
#include "testing/base.h"

static void put(void *const *buffers, const void *arg)
{
    *(int *)buffers[0] = *(const int *)arg;
}

/* a = 1; b = a; c = a; a = 2 and d = 0 at the same time as nothing of them. */
static xylem_tasks *small(void)
{
    static int memory[4];
    xylem_tasks *t;
    int d[4];

    if (xylem_tasks_create(&t) != 0)
        return NULL;
    for (int i = 0; i < 4; i++)
        d[i] = xylem_tasks_data(
            t, &(xylem_data){.address = &memory[i], .bytes = 1 << 20, .dims = 1, .position = {i}});
    for (int i = 0; i < 5; i++) {
        xylem_access a[2] = {{d[i == 3 ? 0 : i == 4 ? 3 : i], XYLEM_WRITE}, {d[0], XYLEM_READ}};

        xylem_tasks_add(
            t, &(xylem_task){.run = put, .arg = &i, .arg_size = sizeof(i), .seconds = 1e-3}, a,
            i == 1 || i == 2 ? 2 : 1);
    }
    return t;
}

static void test_order(void **state)
{
    xylem_tasks *t = small();
    xylem_run_result one, two, four;

    (void)state;
    assert_non_null(t);
    assert_int_equal(xylem_tasks_run(t, NULL, NULL), 0);
    assert_int_equal(
        xylem_tasks_run(t, &(xylem_run_options){.gpus = -1, .cpus = 1, .cpu_speed = 1}, &one), 0);
    assert_int_equal(
        xylem_tasks_run(
            t, &(xylem_run_options){.gpus = -1, .cpus = 2, .cpu_speed = 1, .policy = "eager"},
            &two),
        0);
    assert_int_equal(
        xylem_tasks_run(
            t, &(xylem_run_options){.gpus = -1, .cpus = 4, .cpu_speed = 1, .policy = "eager"},
            &four),
        0);
    assert_true(one.makespan > 4.999e-3 && one.makespan < 5.001e-3);
    assert_true(two.makespan > 2.999e-3 && two.makespan < 3.001e-3);
    assert_true(four.makespan > 2.999e-3 && four.makespan < 3.001e-3); /* the longest path */
    assert_int_equal(two.tasks, 5);
    assert_int_equal(two.loads, 0);
    assert_string_equal(two.policy, "eager");
    xylem_tasks_free(t);
}

static xylem_tasks *empty(void)
{
    xylem_tasks *t;

    assert_int_equal(xylem_tasks_create(&t), 0);
    return t;
}

/* It was reported once, with this word, and the run fails in silence. */
static void expect_failure(xylem_tasks *t, const char *word)
{
    xylem_run_result r = {.tasks = 77};

    assert_int_not_equal(xylem_tasks_run(t, NULL, &r), 0);
    assert_int_equal(testing_said_count, 1);
    if (strstr(testing_said, word) == NULL)
        fail_msg("'%s' lacks '%s'", testing_said, word);
    assert_int_equal(r.tasks, 77);
    xylem_tasks_free(t);
    testing_listen();
}

static void test_wrong(void **state)
{
    xylem_tasks *t;
    int d;

    (void)state;
    testing_listen();
    t = empty();
    assert_int_equal(xylem_tasks_data(t, &(xylem_data){.bytes = 0}), 0);
    expect_failure(t, "no bytes");
    t = empty();
    xylem_tasks_add(t, &(xylem_task){.seconds = 1}, (xylem_access[]){{3, XYLEM_READ}}, 1);
    expect_failure(t, "names datum 3");
    t = empty();
    d = xylem_tasks_data(t, &(xylem_data){.bytes = 8});
    xylem_tasks_add(t, &(xylem_task){.seconds = 1},
                    (xylem_access[]){{d, XYLEM_READ}, {d, XYLEM_WRITE}}, 2);
    expect_failure(t, "twice");
    t = empty();
    d = xylem_tasks_data(t, &(xylem_data){.bytes = 8});
    xylem_tasks_add(t, &(xylem_task){.seconds = 1}, (xylem_access[]){{d, 4}}, 1);
    expect_failure(t, "mode");
    t = empty();
    xylem_tasks_add(t, &(xylem_task){.seconds = -1}, NULL, 0);
    expect_failure(t, "takes");
    t = empty();
    xylem_tasks_data(t, &(xylem_data){.bytes = 8, .dims = 2, .position = {1, -1}});
    expect_failure(t, "is at position -1");
    t = small();
    assert_int_equal(xylem_tasks_run(t, NULL, NULL), 0);
    xylem_tasks_data(t, &(xylem_data){.bytes = 8});
    expect_failure(t, "after the first run");
    t = empty();
    d = xylem_tasks_data(t, &(xylem_data){.bytes = 8});
    xylem_tasks_add(t, &(xylem_task){.seconds = 1}, (xylem_access[]){{d, XYLEM_READ}}, 1);
    assert_int_not_equal(xylem_tasks_run(t, &(xylem_run_options){.clock = XYLEM_REAL}, NULL), 0);
    assert_int_not_equal(xylem_tasks_run(t, &(xylem_run_options){.policy = "best"}, NULL), 0);
    assert_int_equal(xylem_tasks_run(t, NULL, NULL), 0); /* the errors were of the call alone */
    xylem_tasks_free(t);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    for (long k = 1;; k++) {
        xylem_tasks *t;
        int rc;

        testing_listen();
        xy_memory_fail_at(k);
        t = small();
        rc = t != NULL ? xylem_tasks_run(t, &(xylem_run_options){.policy = "eager"}, NULL) : 1;
        xylem_tasks_free(t);
        if (!xy_memory_fail_hit()) {
            assert_int_equal(rc, 0);
            break;
        }
        assert_int_not_equal(rc, 0);
        assert_int_equal(testing_said_count, 1);
    }
    xy_memory_fail_at(0);
    xy_error_handler_set(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_out_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
