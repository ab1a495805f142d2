/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitions for random speeds: every element of C belongs to one rank, and by columns each rank
 * has its share of them, as far as whole rows and columns allow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "dense/dense.h"
#include "testing/base.h"

enum { RANKS = 40, SIDE = 97 };

/* Whether each element is in one rectangle. */
static bool covers(const dense_t *p, const dense_rect_t *rects)
{
    static unsigned char seen[SIDE * SIDE];
    int count = 0;

    memset(seen, 0, sizeof(seen));
    for (int r = 0; r < p->ranks; r++)
        for (int i = 0; i < rects[r].rows; i++)
            for (int j = 0; j < rects[r].columns; j++) {
                int at = (rects[r].row + i) * p->size.n + rects[r].column + j;

                if (rects[r].row + i >= p->size.m || rects[r].column + j >= p->size.n ||
                    seen[at]++ != 0)
                    return false;
                count++;
            }
    return count == p->size.m * p->size.n;
}

static bool is_fair(const dense_t *p, const dense_rect_t *rects)
{
    double all = 0;

    for (int r = 0; r < p->ranks; r++)
        all += p->speeds[r];
    for (int r = 0; r < p->ranks; r++) {
        double share = p->speeds[r] / all * p->size.m * p->size.n;
        double area = (double)rects[r].rows * rects[r].columns;

        if (fabs(area - share) > rects[r].rows + rects[r].columns + 1)
            return false;
    }
    return true;
}

static dense_t random_product(double *speeds)
{
    dense_t p = {.size = {1 + testing_below(SIDE), 1 + testing_below(SIDE), 10},
                 .ranks = 1 + testing_below(RANKS),
                 .speeds = speeds,
                 .per_byte = 1e-10};

    for (int r = 0; r < p.ranks; r++)
        speeds[r] = 1 + testing_below(10);
    return p;
}

static void test_columns_are_fair(void **state)
{
    double speeds[RANKS];
    dense_rect_t rects[RANKS];

    (void)state;
    for (int i = 0; i < 2000; i++) {
        dense_t p = random_product(speeds);

        assert_true(dense_plan_columns(&p, rects));
        assert_true(covers(&p, rects));
        assert_true(is_fair(&p, rects));
    }
}

/* The rectangles of a row of the grid are equally high and those of a column equally wide. */
static void test_grids_are_grids(void **state)
{
    double speeds[RANKS];
    dense_rect_t rects[RANKS];
    int rows, columns;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        dense_t p = random_product(speeds);

        assert_true(dense_plan_grid(&p, &rows, &columns, rects));
        assert_int_equal(rows * columns, p.ranks);
        assert_true(covers(&p, rects));
        for (int r = 0; r < p.ranks; r++) {
            const dense_rect_t *left = &rects[r / columns * columns], *top = &rects[r % columns];

            assert_int_equal(rects[r].row, left->row);
            assert_int_equal(rects[r].rows, left->rows);
            assert_int_equal(rects[r].column, top->column);
            assert_int_equal(rects[r].columns, top->columns);
        }
    }
}

/* Where messages are for free, no grid has a slowest rank that needs less time. */
static void test_grids_are_the_best(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= RANKS; ranks++) {
        double speeds[RANKS], least = INFINITY;
        dense_rect_t rects[RANKS];
        dense_t p = {.size = {960, 960, 10}, .ranks = ranks, .speeds = speeds};
        int rows, columns;

        for (int r = 0; r < ranks; r++)
            speeds[r] = 1;
        assert_true(dense_plan_grid(&p, &rows, &columns, rects));
        for (int r = 1; r <= ranks; r++) {
            int others = ranks / r;

            if (ranks % r == 0)
                least = fmin(least, ceil(960.0 / r) * ceil(960.0 / others));
        }
        for (int r = 0; r < ranks; r++)
            assert_true((double)rects[r].rows * rects[r].columns <= least);
    }
}

static void test_square_grids(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 1000; ranks++) {
        int rows, columns;

        dense_square_grid(ranks, &rows, &columns);
        assert_int_equal(rows * columns, ranks);
        assert_true(rows <= columns);
        for (int r = rows + 1; r * r <= ranks; r++)
            assert_true(ranks % r != 0);
    }
}

static void test_cuts(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        int n = testing_below(INT32_MAX), parts = 1 + testing_below(1000);
        int part = testing_below(parts);
        int length = dense_cut(n, parts, part + 1) - dense_cut(n, parts, part);

        assert_int_equal(dense_cut(n, parts, 0), 0);
        assert_int_equal(dense_cut(n, parts, parts), n);
        assert_true(length >= n / parts && length <= n / parts + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_are_fair),
        cmocka_unit_test(test_grids_are_grids),
        cmocka_unit_test(test_grids_are_the_best),
        cmocka_unit_test(test_square_grids),
        cmocka_unit_test(test_cuts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
