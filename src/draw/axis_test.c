/* SPDX-License-Identifier: BSD-3-Clause */
/* Axes of random ranges: ticks are round, grow, lie within, and cover what was widened. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "draw/draw.h"
#include "testing/base.h"

enum { RANGES = 4000 };

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b)) + 1e-300;
}

/* 1, 2 or 5 times a power of ten. */
static bool is_round(double value)
{
    double digits = value / pow(10, floor(log10(value) + 1e-9));

    return is_near(digits, 1) || is_near(digits, 2) || is_near(digits, 5) || is_near(digits, 10);
}

static bool is_power(double value, double base)
{
    double k = log(value) / log(base);

    return fabs(k - round(k)) < 1e-6;
}

static double by_chance(double least, double most)
{
    return least * pow(most / least, testing_below(1 << 30) / (double)(1 << 30));
}

static xy_axis_t random_axis(void)
{
    xy_axis_t a = {.scale = (xy_scale_t)testing_below(3), .from = 300, .to = 20};

    a.low = by_chance(1e-9, 1e6);
    a.high = a.low * by_chance(1.01, 1e7);
    if (a.scale == XY_SCALE_LINEAR && testing_below(2))
        a.low = testing_below(2) ? 0 : -a.low;
    return a;
}

static bool are_all_round(const double *ticks, int n)
{
    for (int i = 0; i < n; i++)
        if (!is_round(ticks[i]))
            return false;
    return true;
}

static void check_ticks(const xy_axis_t *a, const double *ticks, int n)
{
    for (int i = 0; i < n; i++) {
        assert_true(ticks[i] >= a->low - 1e-6 * fabs(a->low) - 1e-6 * (a->high - a->low));
        assert_true(ticks[i] <= a->high + 1e-6 * (a->high - a->low) + 1e-6 * fabs(a->high));
        assert_true(i == 0 || ticks[i] > ticks[i - 1]);
        if (a->scale == XY_SCALE_DOUBLING)
            assert_true(is_power(ticks[i], 2));
        else if (i > 0 && (a->scale == XY_SCALE_LINEAR || !are_all_round(ticks, n)))
            assert_true(is_round(ticks[i] - ticks[i - 1]));
    }
}

static void test_ticks(void **state)
{
    double ticks[XY_TICKS_MAX];

    (void)state;
    for (int i = 0; i < RANGES; i++) {
        xy_axis_t a = random_axis();
        int about = 2 + testing_below(9), n = xy_axis_ticks(&a, about, ticks);

        assert_in_range(n, 0, 3 * about + 3);
        check_ticks(&a, ticks, n);
    }
}

static void test_widened(void **state)
{
    double ticks[XY_TICKS_MAX];

    (void)state;
    for (int i = 0; i < RANGES; i++) {
        xy_axis_t a = random_axis(), b = a;
        int about = 2 + testing_below(9), n;

        xy_axis_widen(&b, about);
        assert_true(b.low <= a.low + 1e-6 * fabs(a.low) + 1e-6 * (a.high - a.low));
        assert_true(b.high >= a.high * (1 - 1e-6));
        n = xy_axis_ticks(&b, about, ticks);
        assert_true(n >= 2);
        assert_true(is_near(ticks[0], b.low) || fabs(ticks[0] - b.low) < 1e-6 * (b.high - b.low));
        check_ticks(&b, ticks, n);
        for (int k = 1; k < n; k++)
            assert_true(xy_axis_at(&b, ticks[k]) < xy_axis_at(&b, ticks[k - 1]));
        assert_true(is_near(xy_axis_at(&b, b.low), 300) && is_near(xy_axis_at(&b, b.high), 20));
    }
}

/* Nothing is drawn outside, whatever the value; an axis without extent is no division by zero. */
static void test_ends(void **state)
{
    static const double strange[] = {0, -1, 1e300, -1e300, INFINITY, -INFINITY, 5};
    xy_axis_t a = {.scale = XY_SCALE_TENS, .low = 1, .high = 10, .from = 0, .to = 100};
    xy_axis_t point = {.low = 3, .high = 3, .from = 0, .to = 100};
    double ticks[XY_TICKS_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
        assert_true(xy_axis_at(&a, strange[i]) >= 0 && xy_axis_at(&a, strange[i]) <= 100);
        assert_true(xy_axis_at(&point, strange[i]) == 50);
    }
    assert_int_equal(xy_axis_ticks(&(xy_axis_t){.scale = XY_SCALE_TENS, .high = 1}, 5, ticks), 0);
    assert_int_equal(xy_axis_ticks(&(xy_axis_t){.low = 0, .high = INFINITY}, 5, ticks), 0);
    assert_int_equal(xy_axis_ticks(&(xy_axis_t){.low = NAN, .high = 1}, 5, ticks), 0);
}

/* Bars stand within the plot, in order, and do not touch. */
static void test_bars(void **state)
{
    (void)state;
    for (int k = 0; k < 500; k++) {
        xy_bars_t bars = {.left = testing_below(100),
                          .groups = 1 + testing_below(3),
                          .bars = 1 + testing_below(12)};
        double end;

        bars.right = bars.left + 200 + testing_below(800);
        end = bars.left;
        for (int g = 0; g < bars.groups; g++)
            for (int b = 0; b < bars.bars; b++) {
                double width, x = xy_bars_at(&bars, g, b, &width);

                assert_true(x > end && width > 0 && width <= 90);
                end = x + width;
            }
        assert_true(end < bars.right);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_widened),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_bars),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
