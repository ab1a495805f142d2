/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of xylem.h: they choose, run and remember. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <xylem.h>

#include "choose/choose.h"
#include "testing/base.h"
#include "testing/choose.h"

static int ran[2];

static double fast_it_seems(void *arg)
{
    return *(double *)arg;
}
static double slow_it_seems(void *arg)
{
    return 2 * *(double *)arg;
}
static double never(void *arg)
{
    (void)arg;
    return 0;
}
static int run_first(void *arg)
{
    (void)arg;
    usleep(20000);
    return ran[0]++ < 0;
}
static int run_second(void *arg)
{
    (void)arg;
    return ran[1]++ < 0;
}
static int run_failing(void *arg)
{
    (void)arg;
    return 42;
}

static char path[64];

static int setup(void **state)
{
    (void)state;
    testing_path(path);
    unlink(path);
    setenv("XYLEM_HISTORY", path, 1);
    testing_listen();
    ran[0] = ran[1] = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    testing_history_remove(path);
    return 0;
}

/* A candidate that the models favour wrongly is chosen until it was measured; then the other. */
static void test_learns(void **state)
{
    double second = 1e-3;
    xylem_parameter n = {"n", 1000};
    xylem_alternative ways[] = {{"first", fast_it_seems, run_first, 0.5},
                                {"second", slow_it_seems, run_second, 0.5},
                                {"third", never, NULL, 0}};
    xylem_problem p = {.name = "sort",
                       .parameters = &n,
                       .alternatives = ways,
                       .arg = &second,
                       .parameter_count = 1,
                       .alternative_count = 3};
    xylem_choice c;
    xy_history_t *h;

    (void)state;
    assert_int_equal(xylem_choose(&p, &c), 0);
    assert_int_equal(c.chosen, 0);
    assert_true(c.predicted == 1e-3 && c.expected == 1e-3);
    assert_int_equal(xylem_choose_run(&p, &c), 0);
    assert_int_equal(ran[0], 1);
    assert_true(c.measured >= 0.02);
    p.loss = 0.9; /* the factor may be common to both: a trial tells */
    for (int i = 0; i < 3; i++)
        assert_int_equal(xylem_choose_run(&p, &c), 0);
    assert_int_equal(c.chosen, 1);
    assert_true(ran[1] > 0);
    p.loss = 0;
    assert_int_equal(xylem_choose(&p, &c), 0);
    assert_int_equal(c.chosen, 1);
    assert_int_equal(xy_history_load(path, "sort", NULL, &h), XY_OK);
    assert_int_equal(h->runs.count, 4);
    xy_history_destroy(h);
    p.ignores_history = 1;
    assert_int_equal(xylem_choose(&p, &c), 0);
    assert_int_equal(c.chosen, 0);
    assert_int_equal(testing_said_count, 0);
}

/* A failed run has no time. */
static void test_failure_is_not_stored(void **state)
{
    double second = 1;
    xylem_alternative way = {"first", fast_it_seems, run_failing, 0};
    xylem_problem p = {
        .name = "sort", .alternatives = &way, .arg = &second, .alternative_count = 1};

    (void)state;
    assert_int_equal(xylem_choose_run(&p, NULL), 42);
    assert_int_equal(access(path, F_OK), -1);
}

static void test_wrong_problems(void **state)
{
    double second = 1;
    xylem_alternative way = {"first", fast_it_seems, NULL, 0};
    xylem_problem good = {
        .name = "sort", .alternatives = &way, .arg = &second, .alternative_count = 1};
    xylem_problem bad[6] = {good, good, good, good, good, good};
    xylem_choice c;

    (void)state;
    assert_int_equal(xylem_choose(&good, &c), 0);
    bad[0].name = "two words";
    bad[1].name = NULL;
    bad[2].alternative_count = 0;
    bad[3].reference = 2;
    bad[4].loss = -1;
    bad[5].alternatives = &(xylem_alternative){.name = "first"};
    for (int i = 0; i < 6; i++) {
        testing_listen();
        assert_int_equal(xylem_choose(&bad[i], &c), XY_EINVAL);
        assert_int_equal(testing_said_count, 1);
    }
    testing_listen();
    assert_int_equal(xylem_choose_run(&good, &c), XY_EINVAL); /* no function */
    c.chosen = 1;
    assert_int_equal(xylem_chosen(&good, &c, 1), XY_EINVAL);
    assert_int_equal(testing_said_count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_learns, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failure_is_not_stored, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_problems, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
