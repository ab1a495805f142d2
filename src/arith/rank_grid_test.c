/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arith/arith.h"

/* Coordinates and numbers are inverse; a shift is a change of one coordinate. */
static void test_points(void **state)
{
    static const int dims[3] = {3, 4, 2}, periods[3] = {1, 0, 1};

    (void)state;
    for (int r = 0; r < 24; r++) {
        int coords[3], bad = -1;

        xy_grid_coords(r, 3, dims, coords);
        assert_int_equal(coords[0] * 8 + coords[1] * 2 + coords[2], r);
        assert_int_equal(xy_grid_number(3, dims, periods, coords, &bad), r);
        for (int d = 0; d < 3; d++)
            for (int steps = -5; steps <= 5; steps++) {
                int moved[3] = {coords[0], coords[1], coords[2]};

                moved[d] += steps;
                int to = xy_grid_number(3, dims, periods, moved, &bad);

                assert_int_equal(xy_grid_shift(r, 3, dims, periods, d, steps),
                                 to >= 0 ? to : MPI_PROC_NULL);
            }
        assert_true(bad == 1);
    }
}

/* The points of a subgrid agree in the coordinates that are dropped, and are numbered in order. */
static void test_sub(void **state)
{
    static const int dims[3] = {3, 4, 2}, periods[3] = {1, 0, 1};

    (void)state;
    for (int kept = 0; kept < 8; kept++) {
        int remain[3] = {kept & 1, kept & 2, kept & 4}, count[24] = {0};

        for (int r = 0; r < 24; r++) {
            int coords[3], color, key, sides[3], open[3], place[3] = {0}, bad, n = 0, points;

            xy_grid_coords(r, 3, dims, coords);
            n = xy_grid_sub(3, dims, periods, coords, remain, sides, open, &color, &key);
            assert_int_equal(n, !!remain[0] + !!remain[1] + !!remain[2]);
            points = xy_grid_points(n, sides, 24, &bad);
            assert_int_equal(key, count[color]++);
            xy_grid_coords(key, n, sides, place);
            for (int d = 0, k = 0; d < 3; d++)
                if (remain[d]) {
                    assert_int_equal(sides[k], dims[d]);
                    assert_int_equal(open[k], periods[d]);
                    assert_int_equal(place[k++], coords[d]);
                }
            assert_in_range(key, 0, points - 1);
            assert_in_range(color, 0, 24 / points - 1);
        }
    }
}

static void test_count(void **state)
{
    int bad = 7;

    (void)state;
    assert_int_equal(xy_grid_points(0, NULL, 1, &bad), 1);
    assert_int_equal(xy_grid_points(2, (int[]){6, 4}, 24, &bad), 24);
    assert_int_equal(xy_grid_points(2, (int[]){6, 4}, 23, &bad), -1);
    assert_int_equal(bad, -1);
    assert_int_equal(xy_grid_points(3, (int[]){1, 0, 9}, 23, &bad), -1);
    assert_int_equal(bad, 1);
    assert_int_equal(xy_grid_points(4, (int[]){65536, 65536, 65536, 65536}, INT_MAX, &bad), -1);
}

/* The sides make n and do not grow; in two dimensions no other choice has a smaller largest one. */
static void test_factor(void **state)
{
    int dims[3] = {0, 0, 0}, set[2] = {0, 5}, wrong[2] = {7, 0}, full[2] = {3, 3};

    (void)state;
    assert_true(xy_grid_factor(16, 3, dims));
    assert_int_equal(dims[0] * 100 + dims[1] * 10 + dims[2], 422);
    for (int n = 1; n <= 400; n++) {
        int two[2] = {0, 0}, least = n;

        assert_true(xy_grid_factor(n, 2, two));
        assert_int_equal(two[0] * two[1], n);
        assert_true(two[0] >= two[1]);
        for (int d = 1; d <= n; d++)
            if (n % d == 0 && d >= n / d && d < least)
                least = d;
        assert_int_equal(two[0], least);
    }
    assert_true(xy_grid_factor(20, 2, set));
    assert_int_equal(set[0], 4);
    assert_false(xy_grid_factor(20, 2, wrong));
    assert_false(xy_grid_factor(10, 2, full));
    assert_true(xy_grid_factor(9, 2, full));
}

/* Is the grid a x b x c better than the one in dims? */
static bool is_better(int a, int b, int c, const int *dims)
{
    int surface = a * b + a * c + b * c;
    int spread = dims[0] - dims[2];

    return a - c < spread ||
           (a - c == spread && surface < dims[0] * dims[1] + dims[0] * dims[2] + dims[1] * dims[2]);
}

/* No grid of as many points has sides that are closer to each other; numbers with many divisors
 * take no time. */
static void test_spread(void **state)
{
    int known[3] = {0, 0, 0};

    (void)state;
    for (int n = 1; n <= 6000; n = n < 600 ? n + 1 : n + 60) {
        int dims[3] = {0, 0, 0};

        assert_true(xy_grid_factor(n, 3, dims));
        assert_int_equal(dims[0] * dims[1] * dims[2], n);
        assert_true(dims[0] >= dims[1] && dims[1] >= dims[2]);
        for (int a = 1; a <= n; a++)
            for (int b = 1; n % a == 0 && b <= a && b <= n / a; b++)
                if (n / a % b == 0 && n / a / b <= b)
                    assert_false(is_better(a, b, n / a / b, dims));
    }
    assert_true(xy_grid_factor(5040, 3, known));
    assert_int_equal(known[0] * 10000 + known[1] * 100 + known[2], 211615);
    for (int ndims = 1; ndims <= 40; ndims++) {
        int dims[40] = {0};
        long long product = 1;

        assert_true(xy_grid_factor(2095133040, ndims, dims));
        for (int d = 0; d < ndims; d++)
            product *= dims[d];
        assert_int_equal(product, 2095133040);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_points), cmocka_unit_test(test_sub),
                                       cmocka_unit_test(test_count), cmocka_unit_test(test_factor),
                                       cmocka_unit_test(test_spread)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
