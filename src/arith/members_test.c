/* SPDX-License-Identifier: BSD-3-Clause */
/* Random groups and splits against the definitions of the standard, rank by rank. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "arith/arith.h"
#include "testing/base.h"

enum { KNOWN = 12, GROUPS = 400 };

/* A group of some of the processes in random order; now and then the first ones in their order. */
static xy_members_t random_group(int *list)
{
    int size = testing_below(KNOWN + 1);

    for (int i = 0; i < KNOWN; i++)
        list[i] = i;
    for (int i = KNOWN - 1; i > 0; i--) {
        int k = testing_below(i + 1), swap = list[i];

        list[i] = list[k];
        list[k] = swap;
    }
    return (xy_members_t){testing_below(4) == 0 ? NULL : list, size};
}

static bool is_in(xy_members_t m, int process)
{
    return xy_member_rank(m, process) != MPI_UNDEFINED;
}

static void test_rank(void **state)
{
    int list[KNOWN];

    (void)state;
    for (int n = 0; n < GROUPS; n++) {
        xy_members_t m = random_group(list);
        int *index = xy_members_index(m, KNOWN);

        for (int r = 0; r < m.size; r++)
            assert_int_equal(xy_member_rank(m, xy_member_at(m, r)), r);
        for (int p = 0; p < KNOWN; p++)
            assert_int_equal(index[p], xy_member_rank(m, p));
        assert_int_equal(xy_member_rank(m, KNOWN), MPI_UNDEFINED);
        assert_int_equal(xy_member_rank(m, -1), MPI_UNDEFINED);
        xy_free(index);
    }
}

/* The definitions, member by member. */
static int combine(xy_members_op_t op, xy_members_t a, xy_members_t b, int *out)
{
    int count = 0;

    for (int i = 0; i < a.size; i++)
        if (op == XY_MEMBERS_UNION || is_in(b, xy_member_at(a, i)) == (op != XY_MEMBERS_DIFFERENCE))
            out[count++] = xy_member_at(a, i);
    for (int i = 0; op == XY_MEMBERS_UNION && i < b.size; i++)
        if (!is_in(a, xy_member_at(b, i)))
            out[count++] = xy_member_at(b, i);
    return count;
}

static void test_combine(void **state)
{
    int list_a[KNOWN], list_b[KNOWN];

    (void)state;
    for (int n = 0; n < GROUPS; n++) {
        xy_members_t a = random_group(list_a), b = random_group(list_b);

        for (int op = 0; op < 3; op++) {
            int out[2 * KNOWN], wanted[2 * KNOWN];
            int count = combine((xy_members_op_t)op, a, b, wanted);

            assert_int_equal(xy_members_combine((xy_members_op_t)op, a, b, KNOWN, out), count);
            assert_memory_equal(out, wanted, (size_t)count * sizeof(int));
        }
    }
}

/* Identical: the same order; similar: each is in the other; comparisons have no direction. */
static void test_compare(void **state)
{
    int list_a[KNOWN], list_b[KNOWN];

    (void)state;
    for (int n = 0; n < GROUPS; n++) {
        xy_members_t a = random_group(list_a), b = random_group(list_b);
        bool is_same = true, is_similar;
        int answer;

        b.size = testing_below(3) > 0 ? a.size : b.size;
        answer = xy_members_compare(a, b, KNOWN);
        is_similar = a.size == b.size;
        for (int i = 0; i < a.size && is_similar; i++) {
            is_same = is_same && xy_member_at(a, i) == xy_member_at(b, i);
            is_similar = is_in(b, xy_member_at(a, i));
        }
        assert_int_equal(answer, !is_similar ? MPI_UNEQUAL : is_same ? MPI_IDENT : MPI_SIMILAR);
        assert_int_equal(xy_members_compare(b, a, KNOWN), answer);
        assert_int_equal(xy_members_compare(a, a, KNOWN), MPI_IDENT);
    }
    assert_int_equal(xy_members_weaker(MPI_IDENT, MPI_SIMILAR), MPI_SIMILAR);
    assert_int_equal(xy_members_weaker(MPI_UNEQUAL, MPI_IDENT), MPI_UNEQUAL);
    assert_int_equal(xy_members_weaker(MPI_IDENT, MPI_IDENT), MPI_IDENT);
    assert_int_equal(xy_members_weaker(-1, MPI_UNEQUAL), -1);
}

/* Listed members and all others are the group; translation finds them again. */
static void test_select(void **state)
{
    int list[KNOWN], picks[KNOWN];

    (void)state;
    for (int n = 0; n < GROUPS; n++) {
        xy_members_t m = random_group(list), some = random_group(picks), in, out;
        int incl[KNOWN], excl[KNOWN], both[2 * KNOWN], found[KNOWN], count = 0, bad;

        for (int i = 0; i < some.size; i++)
            if (xy_member_at(some, i) < m.size)
                both[count++] = xy_member_at(some, i);
        in = (xy_members_t){incl, xy_members_select(m, count, both, true, incl, &bad)};
        out = (xy_members_t){excl, xy_members_select(m, count, both, false, excl, &bad)};
        assert_int_equal(in.size, count);
        assert_int_equal(in.size + out.size, m.size);
        assert_true(xy_members_translate(in, 0, NULL, m, KNOWN, NULL, &bad));
        for (int i = 0; i < count; i++)
            found[i] = i;
        assert_true(xy_members_translate(in, count, found, m, KNOWN, found, &bad));
        assert_memory_equal(found, both, (size_t)count * sizeof(int));
        for (int i = 0; i < out.size; i++)
            assert_false(is_in(in, excl[i]));
        for (int i = 1; i < out.size; i++)
            assert_true(xy_member_rank(m, excl[i - 1]) < xy_member_rank(m, excl[i]));
        both[count] = testing_below(2) ? m.size : -1;
        assert_int_equal(xy_members_select(m, count + 1, both, true, incl, &bad), -1);
        assert_int_equal(bad, count);
        both[count] = both[0];
        if (count > 0)
            assert_int_equal(xy_members_select(m, count + 1, both, false, incl, &bad), -1);
        if (count > 0)
            assert_int_equal(bad, count);
    }
}

static void test_translate(void **state)
{
    xy_members_t a = {(int[]){4, 2, 0}, 3}, b = {(int[]){0, 1, 2}, 3};
    int ranks[] = {2, MPI_PROC_NULL, 0, 1, 1, 2},
        wanted[] = {0, MPI_PROC_NULL, MPI_UNDEFINED, 2, 2, 0};
    int out[6], bad;

    (void)state;
    for (int n = 1; n <= 6; n++) {
        assert_true(xy_members_translate(a, n, ranks, b, 5, out, &bad));
        assert_memory_equal(out, wanted, (size_t)n * sizeof(int));
    }
    ranks[4] = 3;
    assert_false(xy_members_translate(a, 6, ranks, b, 5, out, &bad));
    assert_int_equal(bad, 4);
}

/* All ranges in and around small groups, against a loop over their ranks. */
static void test_expand(void **state)
{
    enum { SIZE = 6 };

    (void)state;
    for (int first = -2; first < SIZE + 2; first++)
        for (int last = -2; last < SIZE + 2; last++)
            for (int stride = -4; stride <= 4; stride++) {
                int ranges[2][3] = {{first, last, stride}, {0, 0, 1}}, list[SIZE], count = 0, bad;
                bool is_inside = stride != 0;

                for (int r = first; stride != 0 && (stride > 0 ? r <= last : r >= last);
                     r += stride) {
                    is_inside = is_inside && r >= 0 && r < SIZE;
                    count++;
                }
                if (count == 0 || !is_inside) {
                    assert_int_equal(xy_members_expand(SIZE, 1, ranges, list, &bad), -1);
                    assert_int_equal(bad, 0);
                    continue;
                }
                assert_int_equal(xy_members_expand(SIZE, 1, ranges, list, &bad), count);
                for (int i = 0; i < count; i++)
                    assert_int_equal(list[i], first + i * stride);
                if (count == SIZE) {
                    assert_int_equal(xy_members_expand(SIZE, 2, ranges, list, &bad), -1);
                    assert_int_equal(bad, -1);
                }
            }
    assert_int_equal(
        xy_members_expand(4, 1, (int[][3]){{0, INT_MAX, INT_MAX}}, (int[4]){0}, &(int){0}), -1);
    assert_int_equal(
        xy_members_expand(4, 1, (int[][3]){{3, INT_MIN + 4, INT_MIN}}, (int[4]){0}, &(int){0}), 1);
}

/* Each part has the members of one color, those of the low group first, by key and old rank; each
 * member with a color is in one part, unless its color has no member in one of two groups. */
static void test_split(void **state)
{
    (void)state;
    for (int n = 0; n < GROUPS; n++) {
        int size = testing_below(30), lows = testing_below(30), colors = 1 + testing_below(5);
        bool is_inter = testing_below(2) == 0, has[2][5] = {{false}};
        xy_split_entry_t given[30], sorted[30];
        xy_split_part_t part = {0};
        int left, seen = 0, wanted = 0;

        for (int i = 0; i < size; i++) {
            given[i] =
                (xy_split_entry_t){testing_below(6) == 0 ? MPI_UNDEFINED : testing_below(colors),
                                   testing_below(7) - 3, 100 + i, i, is_inter && i >= lows};
            sorted[i] = given[i];
            if (given[i].color != MPI_UNDEFINED)
                has[given[i].is_high][given[i].color] = true;
        }
        left = xy_split_sort(sorted, size);
        for (int i = 0; i < size; i++)
            if (given[i].color != MPI_UNDEFINED &&
                (!is_inter || (has[0][given[i].color] && has[1][given[i].color])))
                wanted++;
        while (xy_split_next(sorted, left, is_inter, &part)) {
            assert_true(part.first < part.end && part.first <= part.high && part.high <= part.end);
            assert_true(part.first == 0 || sorted[part.first - 1].color < sorted[part.first].color);
            for (int i = part.first; i < part.end; i++, seen++) {
                const xy_split_entry_t *e = &sorted[i], *before = e - 1;

                assert_int_equal(e->color, sorted[part.first].color);
                assert_int_equal(e->is_high, i >= part.high);
                assert_memory_equal(e, &given[e->member], sizeof(*e));
                if (i > part.first && i != part.high)
                    assert_true(before->key < e->key ||
                                (before->key == e->key && before->member < e->member));
            }
        }
        assert_int_equal(seen, wanted);
        assert_false(xy_split_next(sorted, left, is_inter, &part));
    }
}

/* Each function that takes memory reports that there is none. */
static void test_memory(void **state)
{
    xy_members_t a = {(int[]){1, 0, 2}, 3}, b = {(int[]){0, 1, 2}, 3};
    int out[6], ranks[6] = {0}, bad = 7;

    (void)state;
    xy_memory_fail_at(1);
    assert_null(xy_members_index(a, 3));
    xy_memory_fail_at(1);
    assert_int_equal(xy_members_compare(a, b, 3), -1);
    xy_memory_fail_at(1);
    assert_int_equal(xy_members_combine(XY_MEMBERS_UNION, a, b, 3, out), -1);
    xy_memory_fail_at(1);
    assert_int_equal(xy_members_select(a, 1, ranks, true, out, &bad), -1);
    assert_int_equal(bad, -1);
    bad = 7;
    xy_memory_fail_at(1);
    assert_false(xy_members_translate(a, 6, ranks, b, 3, out, &bad));
    assert_int_equal(bad, -1);
    xy_memory_fail_at(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rank),      cmocka_unit_test(test_combine),
        cmocka_unit_test(test_compare),   cmocka_unit_test(test_select),
        cmocka_unit_test(test_translate), cmocka_unit_test(test_expand),
        cmocka_unit_test(test_split),     cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
