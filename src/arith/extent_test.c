/* SPDX-License-Identifier: BSD-3-Clause */
/* Random type maps: sizes and bounds against lists of all their elements, as the standard defines
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "arith/arith.h"
#include "testing/base.h"

enum { ELEMENTS = 4000, MARKS = 8000, TYPES_TRIED = 3000 };

/* A type map in full: elements, and explicit bounds. */
typedef struct {
    int elements, lbs, ubs, align;
    int64_t at[ELEMENTS], bytes[ELEMENTS], lb[MARKS], ub[MARKS];
    int64_t low, high; /* settled */
} map_t;

static void map_append(map_t *to, const map_t *from, int64_t at)
{
    for (int i = 0; i < from->elements; i++) {
        to->at[to->elements] = from->at[i] + at;
        to->bytes[to->elements++] = from->bytes[i];
    }
    for (int i = 0; i < from->lbs; i++)
        to->lb[to->lbs++] = from->lb[i] + at;
    for (int i = 0; i < from->ubs; i++)
        to->ub[to->ubs++] = from->ub[i] + at;
    if (from->elements > 0 && from->align > to->align)
        to->align = from->align;
}

static int64_t least(const int64_t *values, const int64_t *more, int count)
{
    int64_t result = 0;

    for (int i = 0; i < count; i++) {
        int64_t value = values[i] + (more != NULL ? more[i] : 0);

        result = i == 0 || value < result ? value : result;
    }
    return result;
}

static int64_t most(const int64_t *values, const int64_t *more, int count)
{
    int64_t result = 0;

    for (int i = 0; i < count; i++) {
        int64_t value = values[i] + (more != NULL ? more[i] : 0);

        result = i == 0 || value > result ? value : result;
    }
    return result;
}

static void map_settle(map_t *m)
{
    m->low = m->lbs > 0 ? least(m->lb, NULL, m->lbs) : least(m->at, NULL, m->elements);
    m->high = m->ubs > 0 ? most(m->ub, NULL, m->ubs) : most(m->at, m->bytes, m->elements);
    while (m->ubs == 0 && m->elements > 0 && (m->high - m->low) % m->align != 0 && m->high > m->low)
        m->high++;
}

static void check(const xy_extent_t *e, const map_t *m)
{
    int64_t size = 0;

    for (int i = 0; i < m->elements; i++)
        size += m->bytes[i];
    assert_false(e->is_too_large);
    assert_int_equal(e->size, size);
    assert_int_equal(e->elements, m->elements);
    assert_int_equal(e->lb, m->low);
    assert_int_equal(e->ub, m->high);
    assert_int_equal(e->true_lb, least(m->at, NULL, m->elements));
    assert_int_equal(e->true_ub, most(m->at, m->bytes, m->elements));
    assert_int_equal(e->align, m->elements > 0 ? m->align : e->align);
}

static const MPI_Datatype basics[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_INTEGER16};
enum { BASICS = sizeof(basics) / sizeof(basics[0]) };

static void basic(xy_extent_t *e, map_t *m)
{
    *e = xy_type_extents[(uintptr_t)basics[testing_below(BASICS)] - XY_TYPE_FIRST];
    memset(m, 0, sizeof(*m));
    m->elements = 1;
    m->bytes[0] = m->high = (int64_t)e->size;
    m->align = e->align;
}

/* Blocks of old types, one after the other. */
static void add_blocks(xy_extent_t *e, map_t *m, const xy_extent_t *old, const map_t *from)
{
    int count = testing_below(4), length = testing_below(4);
    int64_t at = testing_below(81) - 40, stride = testing_below(121) - 60;

    xy_extent_add(e, old, at, count, length, stride);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < length; k++)
            map_append(m, from, at + i * stride + k * (from->high - from->low));
}

static void set_bounds(xy_extent_t *e, map_t *m)
{
    int64_t lb = testing_below(61) - 30, extent = testing_below(90) - 9;

    xy_extent_set(e, lb, extent);
    m->lbs = m->ubs = 1;
    m->lb[0] = lb;
    m->ub[0] = lb + extent;
}

/* A dimension of an array, index by index. */
static void wrap(xy_extent_t *e, map_t *m, const map_t *from)
{
    int size = 1 + testing_below(6), length = 1 + testing_below(3),
        step = length + testing_below(3);
    int start = testing_below(size), n = 0, taken = testing_below(size - start + 1);
    int64_t stride = from->high - from->low;

    for (int i = start; i < size && n < taken; i++)
        if ((i - start) % step < length) {
            map_append(m, from, i * stride);
            n++;
        }
    xy_extent_wrap(e, size, start, n, length, step);
    m->lbs = m->ubs = 1;
    m->lb[0] = 0;
    m->ub[0] = size * stride;
}

static void test_maps(void **state)
{
    static map_t maps[2], other;

    (void)state;
    for (int n = 0; n < TYPES_TRIED; n++) {
        xy_extent_t e, old, more;
        int now = 0;

        basic(&e, &maps[0]);
        for (int level = testing_below(4); level > 0; level--) {
            map_t *from = &maps[now], *to = &maps[now = 1 - now];

            memset(to, 0, sizeof(*to));
            old = e;
            if (testing_below(3) == 0) {
                wrap(&e, to, from);
            } else {
                e = (xy_extent_t){0};
                add_blocks(&e, to, &old, from);
                basic(&more, &other);
                if (testing_below(2))
                    add_blocks(&e, to, &more, &other);
            }
            if (testing_below(4) == 0)
                set_bounds(&e, to);
            xy_extent_settle(&e);
            map_settle(to);
            check(&e, to);
            if (to->elements > 150)
                break;
        }
    }
}

/* The predefined types are C types: pairs have the layout of structs. */
static void test_predefined(void **state)
{
    const xy_extent_t *pair = &xy_type_extents[(uintptr_t)MPI_DOUBLE_INT - XY_TYPE_FIRST];
    int types = 0;

    (void)state;
    assert_int_equal(pair->size, sizeof(double) + sizeof(int));
    assert_int_equal(pair->ub, sizeof(xy_double_int_t));
    assert_int_equal(pair->true_ub, sizeof(double) + sizeof(int));
    for (int i = 0; i < XY_TYPES; i++) {
        xy_extent_t e = xy_type_extents[i], made = {0};

        if (e.elements == 0)
            continue;
        types++;
        xy_extent_add(&made, &e, 0, 1, 1, 0);
        xy_extent_settle(&made);
        assert_memory_equal(&made, &e, sizeof(e));
    }
    assert_int_equal(types, 70);
}

/* Exactly the values that do not fit are reported. */
static void test_large(void **state)
{
    const xy_extent_t *type = &xy_type_extents[(uintptr_t)MPI_DOUBLE - XY_TYPE_FIRST];
    static const struct {
        int64_t at, count, length, stride;
        bool fits;
    } cases[] = {
        {0, 1, INT64_MAX / 8, 0, true},      {0, 1, INT64_MAX / 8 + 1, 0, false},
        {0, INT64_MAX, INT64_MAX, 0, false}, {0, 2, 1, INT64_MAX - 8, true},
        {0, 3, 1, INT64_MAX / 2 + 1, false}, {0, 3, 1, INT64_MIN / 2 - 1, false},
        {INT64_MAX - 8, 2, 1, 1, false},     {INT64_MAX, 0, INT64_MAX, INT64_MAX, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        xy_extent_t e = {0};

        xy_extent_add(&e, type, cases[i].at, cases[i].count, cases[i].length, cases[i].stride);
        assert_int_equal(e.is_too_large, !cases[i].fits);
    }
    for (int64_t size = INT64_MAX / 8 - 1; size <= INT64_MAX / 8 + 2; size++) {
        xy_extent_t e = *type;

        xy_extent_wrap(&e, size, 0, 1, 1, 0);
        assert_int_equal(e.is_too_large, size > INT64_MAX / 8);
    }
}

static void test_subarray(void **state)
{
    (void)state;
    for (int64_t size = -1; size < 5; size++)
        for (int64_t part = -1; part < 6; part++)
            for (int64_t start = -1; start < 6; start++) {
                bool is_inside = size > 0 && part > 0 && start >= 0 && start + part <= size;

                assert_int_equal(xy_subarray_bad(2, (int64_t[]){3, size}, (int64_t[]){2, part},
                                                 (int64_t[]){1, start}),
                                 is_inside ? -1 : 1);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_predefined),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_subarray),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
