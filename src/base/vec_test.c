/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "testing/base.h"

/* Random pushes and pops, compared with a plain array. */
static void test_like_an_array(void **state)
{
    xy_vec_t v = XY_VEC_INIT(uint64_t);
    static uint64_t model[20000];
    uint64_t seed = 1, *p;
    size_t count = 0, many;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        switch (testing_random(&seed) % 5) {
        case 0:
            if (count > 0) {
                xy_vec_pop(&v);
                count--;
            }
            break;
        case 1:
            assert_int_equal(xy_vec_append(&v, &seed), XY_OK);
            model[count++] = seed;
            break;
        case 2:
            many = testing_random(&seed) % 4;
            if (count + many > 19000)
                break;
            p = xy_vec_push_many(&v, many);
            assert_non_null(p);
            for (size_t k = 0; k < many; k++) {
                assert_int_equal(p[k], 0);
                p[k] = model[count++] = testing_random(&seed);
            }
            break;
        default:
            if (count > 19000)
                break;
            p = xy_vec_push(&v);
            assert_non_null(p);
            assert_int_equal(*p, 0);
            *p = model[count++] = testing_random(&seed);
        }
        assert_int_equal(v.count, count);
    }
    assert_memory_equal(v.data, model, count * sizeof(model[0]));
    xy_vec_cleanup(&v);
}

static void test_take(void **state)
{
    xy_vec_t v = XY_VEC_INIT(int);
    int *data;

    (void)state;
    *(int *)xy_vec_push(&v) = 42;
    data = xy_vec_take(&v);
    assert_int_equal(data[0], 42);
    assert_int_equal(v.count, 0);
    assert_null(v.data);
    xy_free(data);
    assert_non_null(xy_vec_push(&v));
    xy_vec_cleanup(&v);
}

static void test_failures_leave_it_as_it_was(void **state)
{
    xy_vec_t v = XY_VEC_INIT(int);
    int element = 7;

    (void)state;
    xy_memory_fail_at(1);
    assert_null(xy_vec_push(&v));
    xy_memory_fail_at(1);
    assert_int_equal(xy_vec_append(&v, &element), XY_ENOMEM);
    assert_int_equal(xy_vec_reserve(&v, 8), XY_OK);
    for (int i = 0; i < 8; i++)
        assert_int_equal(xy_vec_append(&v, &i), XY_OK);
    xy_memory_fail_at(1);
    assert_null(xy_vec_push_many(&v, 1));
    xy_memory_fail_at(0);
    assert_int_equal(v.count, 8);
    for (int i = 0; i < 8; i++)
        assert_int_equal(XY_VEC_AT(&v, int, i), i);
    assert_null(xy_vec_push_many(&v, SIZE_MAX));
    assert_null(xy_vec_push_many(&v, SIZE_MAX / 2));
    assert_int_equal(xy_vec_reserve(&v, SIZE_MAX / 2), XY_ENOMEM);
    assert_int_equal(v.count, 8);
    xy_vec_cleanup(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_an_array),
        cmocka_unit_test(test_take),
        cmocka_unit_test(test_failures_leave_it_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
