/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/bitset.h"
#include "base/memory.h"
#include "testing/base.h"

enum { MOST = 300 };

static void check_against(const xy_bitset_t *set, const bool *model)
{
    size_t count = 0, next = set->bits;

    for (size_t i = set->bits; i-- > 0;) {
        assert_int_equal(xy_bitset_has(set, i), model[i]);
        count += model[i];
        next = model[i] ? i : next;
        assert_int_equal(xy_bitset_next(set, i), next);
    }
    assert_int_equal(xy_bitset_count(set), count);
    assert_int_equal(xy_bitset_next(set, set->bits), set->bits);
    assert_false(xy_bitset_has(set, set->bits));
    assert_false(xy_bitset_has(set, SIZE_MAX / 16));
}

/* Random bits of every size around the word boundaries; text and back gives the same set. */
static void test_like_an_array(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, MOST};
    uint64_t seed = 9;

    (void)state;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        bool model[MOST] = {false};
        xy_bitset_t set, copy;
        char *text;

        assert_int_equal(xy_bitset_init(&set, sizes[s]), XY_OK);
        assert_int_equal(xy_bitset_init(&copy, sizes[s]), XY_OK);
        for (int round = 0; round < 200; round++) {
            size_t first = sizes[s] > 0 ? testing_random(&seed) % sizes[s] : 0;
            bool on = testing_random(&seed) % 2 == 0;

            for (size_t i = first; i < sizes[s] && testing_random(&seed) % 4 != 0; i++) {
                model[i] = on;
                on ? xy_bitset_set(&set, i) : xy_bitset_clear(&set, i);
            }
            check_against(&set, model);
            text = xy_bitset_format(&set);
            assert_non_null(text);
            assert_int_equal(xy_bitset_parse(&copy, text, "test"), XY_OK);
            xy_free(text);
            check_against(&copy, model);
        }
        xy_bitset_cleanup(&set);
        xy_bitset_cleanup(&copy);
    }
}

static void test_text(void **state)
{
    static const char *const good[][2] = {{"", ""},
                                          {"0", "0"},
                                          {"0-3,8,10-12", "0-3,8,10-12"},
                                          {"3,1,2", "1-3"},
                                          {"5-5", "5"},
                                          {"1-4,2-6\n", "1-6"},
                                          {"99", "99"},
                                          {"0-99", "0-99"},
                                          {"007", "7"},
                                          {"0-98:2", "0-98:2"},
                                          {"0-99:2", "0-98:2"},
                                          {"1,3,5", "1,3,5"},
                                          {"1-7:2,8", "1-7:2,8"},
                                          {"4,7,10,13,14", "4-13:3,14"},
                                          {"0,1,3,5,7,9", "0-1,3-9:2"},
                                          {"5-9:100", "5"}};
    xy_bitset_t set;
    char *text;

    (void)state;
    assert_int_equal(xy_bitset_init(&set, 100), XY_OK);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(xy_bitset_parse(&set, good[i][0], "cores"), XY_OK);
        text = xy_bitset_format(&set);
        assert_string_equal(text, good[i][1]);
        xy_free(text);
    }
    xy_bitset_cleanup(&set);
}

static void test_bad_text(void **state)
{
    static const char *const bad[] = {
        ",",   "1,",  "1,,2", "-1",    "1-",    "3-1",     "a",
        "1 2", "0x3", "+1",   "1-2-3", "100",   "0-100",   "99999999999999999999999",
        "1;2", " 1",  "1:2",  "1-9:",  "1-9:0", "1-9:2:2", "1-9:x"};
    xy_bitset_t set;

    (void)state;
    assert_int_equal(xy_bitset_init(&set, 100), XY_OK);
    xy_bitset_set(&set, 42);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        testing_listen();
        assert_int_equal(xy_bitset_parse(&set, bad[i], "--cores"), XY_EPARSE);
        assert_int_equal(testing_said_count, 1);
        assert_int_equal(strncmp(testing_said, "--cores: ", 9), 0);
        assert_int_equal(xy_bitset_count(&set), 1);
        assert_true(xy_bitset_has(&set, 42));
    }
    xy_bitset_cleanup(&set);
}

static void test_memory(void **state)
{
    xy_bitset_t set = {0};
    long k;

    (void)state;
    testing_listen();
    xy_memory_fail_at(1);
    assert_int_equal(xy_bitset_init(&set, 10), XY_ENOMEM);
    assert_null(set.words);
    xy_memory_fail_at(0);
    assert_int_equal(xy_bitset_init(&set, 10), XY_OK);
    for (k = 1;; k++) {
        char *text;

        xy_memory_fail_at(k);
        if (xy_bitset_parse(&set, "1-3", "x") != XY_OK)
            continue;
        text = xy_bitset_format(&set);
        xy_free(text);
        if (!xy_memory_fail_hit())
            break;
        assert_null(text);
    }
    xy_memory_fail_at(0);
    assert_true(k >= 3);
    xy_bitset_cleanup(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_an_array),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
