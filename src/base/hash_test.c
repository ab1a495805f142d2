/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "testing/base.h"

enum { KEYS = 512 };

/* The plain reference: one place per key. */
typedef struct {
    xy_hash_t hash;
    uint64_t keys[KEYS];
    void *values[KEYS];
    size_t count;
} model_t;

static void run_random_operations(model_t *m, uint64_t seed)
{
    static char objects[64];

    for (int round = 0; round < 5000; round++) {
        size_t i = testing_random(&seed) % KEYS;
        void *object = &objects[testing_random(&seed) % sizeof(objects)];

        assert_ptr_equal(xy_hash_get(&m->hash, m->keys[i]), m->values[i]);
        assert_int_equal(xy_hash_set(&m->hash, m->keys[i], object), XY_OK);
        m->count += m->values[i] == NULL;
        m->values[i] = object;
        assert_int_equal(m->hash.count, m->count);
    }
    for (size_t i = 0; i < KEYS; i++)
        assert_ptr_equal(xy_hash_get(&m->hash, m->keys[i]), m->values[i]);
    xy_hash_cleanup(&m->hash);
}

static void test_numbers(void **state)
{
    model_t m = {.count = 0};
    uint64_t seed = 3;

    (void)state;
    xy_hash_init(&m.hash, XY_HASH_U64);
    /* Neighbours, zero and far numbers. */
    for (size_t i = 0; i < KEYS; i++)
        m.keys[i] = i < KEYS / 2 ? i : testing_random(&seed);
    run_random_operations(&m, 11);
}

static void test_strings(void **state)
{
    static char names[KEYS][24];
    model_t m = {.count = 0};

    (void)state;
    xy_hash_init(&m.hash, XY_HASH_STRING);
    for (size_t i = 0; i < KEYS; i++) {
        snprintf(names[i], sizeof(names[i]), "%.*s%zu", (int)(i % 13), "abcdefghijklm", i);
        m.keys[i] = XY_HASH_KEY(names[i]);
    }
    run_random_operations(&m, 12);
}

static void test_equal_strings_are_one_key(void **state)
{
    char first[] = "core", second[] = "core";
    int a, b;
    xy_hash_t h;

    (void)state;
    xy_hash_init(&h, XY_HASH_STRING);
    assert_null(xy_hash_get(&h, XY_HASH_KEY(first)));
    assert_int_equal(xy_hash_set(&h, XY_HASH_KEY(first), &a), XY_OK);
    assert_int_equal(xy_hash_set(&h, XY_HASH_KEY(second), &b), XY_OK);
    assert_int_equal(h.count, 1);
    assert_ptr_equal(xy_hash_get(&h, XY_HASH_KEY("core")), &b);
    xy_hash_cleanup(&h);
}

static void test_failed_growth_keeps_the_members(void **state)
{
    static char objects[100];
    xy_hash_t h;
    size_t set = 0;

    (void)state;
    xy_hash_init(&h, XY_HASH_U64);
    for (uint64_t i = 0; i < 100; i++) {
        xy_memory_fail_at(1);
        if (xy_hash_set(&h, i, &objects[i]) != XY_OK) {
            assert_true(xy_memory_fail_hit());
            assert_null(xy_hash_get(&h, i));
            assert_int_equal(h.count, set);
            xy_memory_fail_at(0);
            assert_int_equal(xy_hash_set(&h, i, &objects[i]), XY_OK);
        }
        set++;
    }
    xy_memory_fail_at(0);
    for (uint64_t i = 0; i < 100; i++)
        assert_ptr_equal(xy_hash_get(&h, i), &objects[i]);
    xy_hash_cleanup(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_equal_strings_are_one_key),
        cmocka_unit_test(test_failed_growth_keeps_the_members),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
