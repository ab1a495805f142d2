/* SPDX-License-Identifier: BSD-3-Clause */
/* The model of split-tree against the published numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sched/sched.h"

/* Strong scaling: at `cores` ranks the computation lasts as long as the blocking collective. */
static xy_split_t model_of(int cores, int ranks, bool is_growing)
{
    xy_split_t m = {.ranks = cores, .comm_cores = 1, .base = 2, .is_growing = is_growing};
    double whole = xy_split_blocking(&m);

    m.ranks = ranks;
    m.comm_cores = cores - ranks;
    m.compute = whole * cores / ranks;
    return m;
}

/* The number of ranks from which on the best S is at least `split`. */
static int switch_point(int cores, bool is_growing, int split)
{
    for (int n = 2; n < cores; n++) {
        xy_split_t m = model_of(cores, n, is_growing);

        if (xy_split_best(&m) >= split)
            return n;
    }
    return -1;
}

static void test_counts(void **state)
{
    long sum56 = 0, sum57 = 0;

    (void)state;
    for (int n = 2; n < 200; n++) {
        long sum = 0;

        assert_int_equal(xy_split_levels(n, 2), (int)ceil(log2(n)));
        for (int i = 1; i <= xy_split_levels(n, 2); i++) {
            long count = (n - 1 + (1L << (i - 1))) >> i;

            assert_int_equal(xy_split_messages(n, 2, i), count);
            sum += count;
        }
        assert_int_equal(sum, n - 1);
    }
    for (int i = 1; i <= 6; i++) {
        sum56 += xy_split_messages(56, 2, i);
        sum57 += xy_split_messages(57, 2, i);
    }
    assert_int_equal(sum56, 55);
    assert_int_equal(sum57, 56);
    for (int base = 2; base < 9; base++)
        for (int n = 1; n < 100; n++) {
            long sum = 0;

            for (int i = 1; i <= xy_split_levels(n, base); i++)
                sum += xy_split_messages(n, base, i);
            assert_int_equal(sum, n - 1);
        }
}

static void test_switch_points(void **state)
{
    static const int constant64[] = {52, 58, 62}, constant48[] = {39, 44, 47};
    static const int growing64[] = {58, 60, 61, 63}, growing48[] = {44, 45, 46};

    (void)state;
    for (int s = 1; s <= 3; s++) {
        assert_int_equal(switch_point(64, false, s), constant64[s - 1]);
        assert_int_equal(switch_point(48, false, s), constant48[s - 1]);
        assert_int_equal(switch_point(48, true, s), growing48[s - 1]);
    }
    for (int s = 1; s <= 4; s++)
        assert_int_equal(switch_point(64, true, s), growing64[s - 1]);
}

static void test_best_ranks(void **state)
{
    int best = 2;
    double least = INFINITY;

    (void)state;
    for (int n = 2; n < 64; n++) {
        xy_split_t m = model_of(64, n, false);

        if (xy_split_time(&m, 0) < least)
            least = xy_split_time(&m, 0), best = n;
    }
    assert_int_equal(best, 51);
    assert_true(fabs(least - 7.529) < 0.001);
}

static void test_limits(void **state)
{
    xy_split_t one = {.ranks = 1, .comm_cores = 3, .base = 2, .compute = 5};
    xy_split_t m = {.ranks = 64, .comm_cores = 64, .base = 2};

    (void)state;
    assert_int_equal(xy_split_best(&one), 0);
    assert_true(xy_split_time(&one, 0) == 5);
    assert_true(xy_split_blocking(&m) == 6);
    assert_true(xy_split_engine(&m, 0) == 6);
    assert_true(xy_split_engine(&m, 6) == 0);
    assert_true(xy_split_time(&m, 99) == 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_switch_points),
        cmocka_unit_test(test_best_ranks),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
