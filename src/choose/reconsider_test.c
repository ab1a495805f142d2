/* SPDX-License-Identifier: BSD-3-Clause */
/* Reconsidering inside a run: nothing is tried while nothing changes, a change is followed, and
 * trials lose no more than is allowed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "choose/choose.h"
#include "testing/base.h"

static const double predicted[] = {1, 1.2, 2};
enum { COUNT = 3 };

/* A factor from 1 / `most` to `most`. */
static double factor(uint64_t *state, double most)
{
    return pow(most, 2.0 * testing_random_below(state, 10001) / 10000 - 1);
}

/* Windows with these true times until `calls` have passed; the number of trials. */
static int run(xy_reconsider_t *r, const double *seconds, double noise, int calls, uint64_t *state)
{
    int trials = 0;

    while (calls > 0) {
        calls -= r->length;
        trials += r->current != r->chosen;
        xy_reconsider_add(r, seconds[r->current] * factor(state, noise));
    }
    return trials;
}

static void test_nothing_changes(void **state)
{
    static const double seconds[] = {1, 0.5, 2};
    uint64_t random = testing_seed();
    xy_reconsider_t r;

    (void)state;
    xy_reconsider_init(&r, predicted, COUNT, 0.02);
    assert_int_equal(run(&r, seconds, 1.2, 100000, &random), 0);
    assert_true(r.lost == 0 && r.chosen == 0);
}

/* The chosen one becomes slow: each other one is tried once, the best stays, and it is left again
 * when the first is as before. */
static void test_change_is_followed(void **state)
{
    static const double before[] = {1, 1.2, 2}, slow[] = {3, 1.3, 2.5}, more[] = {3, 4, 2.5};
    uint64_t random = testing_seed();
    xy_reconsider_t r;

    (void)state;
    xy_reconsider_init(&r, predicted, COUNT, 0.02);
    run(&r, before, 1.1, 10000, &random);
    assert_int_equal(run(&r, slow, 1.02, 10000, &random), 2);
    assert_int_equal(r.chosen, 1);
    assert_int_equal(run(&r, slow, 1.02, 100000, &random), 0);
    assert_int_equal(run(&r, more, 1.02, 100000, &random), 2);
    assert_int_equal(r.chosen, 2);
    assert_true(r.lost <= 0.02 * r.spent);
}

/* One window is an outlier, two in a row are a change; a faster platform is another one, too. */
static void test_outliers(void **state)
{
    xy_reconsider_t r;

    (void)state;
    xy_reconsider_init(&r, predicted, COUNT, 1);
    for (int i = 0; i < 1000; i++) {
        xy_reconsider_add(&r, i % 2 == 0 ? 1 : 10);
        assert_int_equal(r.current, 0);
    }
    xy_reconsider_init(&r, predicted, COUNT, 1);
    xy_reconsider_add(&r, 1);
    xy_reconsider_add(&r, 0.5);
    assert_int_equal(r.current, 0);
    xy_reconsider_add(&r, 0.5);
    assert_int_equal(r.current, 1);
    assert_int_equal(r.length, XY_RECONSIDER_TRIAL);
}

/* A trial that may lose too much waits for more calls. */
static void test_trial_waits(void **state)
{
    static const double dear[] = {1, 3}, before[] = {1, 3}, after[] = {2, 6};
    double most = XY_RECONSIDER_TRIAL * (2 * 3 - 1) / 0.02;
    uint64_t random = testing_seed();
    xy_reconsider_t r;

    (void)state;
    xy_reconsider_init(&r, dear, 2, 0.02);
    run(&r, before, 1, 2 * XY_RECONSIDER_WINDOW, &random);
    assert_int_equal(run(&r, after, 1, (int)most - 3 * XY_RECONSIDER_WINDOW, &random), 0);
    assert_int_equal(run(&r, after, 1, 10 * XY_RECONSIDER_WINDOW, &random), 1);
    assert_int_equal(r.chosen, 0);
    assert_true(r.lost <= 0.02 * r.spent);
}

/* Platforms that change at random, as far as predictions are right within a factor of 2. */
static void test_loss(void **state)
{
    uint64_t random = testing_seed();

    (void)state;
    for (int i = 0; i < 200; i++) {
        double guess[5], seconds[5];
        xy_reconsider_t r;

        for (int k = 0; k < 5; k++)
            guess[k] = factor(&random, 8);
        xy_reconsider_init(&r, guess, 5, 0.02);
        for (int change = 0; change < 20; change++) {
            double pace = factor(&random, 10);

            for (int k = 0; k < 5; k++)
                seconds[k] = pace * guess[k] * (k > 0 ? factor(&random, sqrt(2)) : 1);
            for (int w = 0; w < 50 || r.untried != 0; w++) {
                xy_reconsider_add(&r, seconds[r.current]);
                assert_true(r.lost <= 0.02 * r.spent * (1 + 1e-9));
            }
        }
    }
}

static void test_median(void **state)
{
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};

    (void)state;
    assert_true(xy_reconsider_median(odd, 3) == 2);
    assert_true(xy_reconsider_median(even, 4) == 2.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_changes),
        cmocka_unit_test(test_change_is_followed),
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_trial_waits),
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_median),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
