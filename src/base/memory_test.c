/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "testing/base.h"

static void test_allocations(void **state)
{
    char *p;

    (void)state;
    p = xy_strndup("abcdef", 3);
    assert_string_equal(p, "abc");
    xy_free(p);
    p = xy_strdup("");
    assert_string_equal(p, "");
    xy_free(p);
    p = xy_sprintf("%d-%s", 7, "x");
    assert_string_equal(p, "7-x");
    xy_free(p);
    p = xy_malloc(0);
    assert_non_null(p);
    p = xy_realloc(p, 0);
    assert_non_null(p);
    xy_free(p);
    xy_free(NULL);
    assert_null(xy_realloc_array(NULL, SIZE_MAX / 2, 4));
    assert_null(xy_calloc(SIZE_MAX / 2, 4));
}

/* The k-th allocation fails, and only that one. */
static void test_failing_allocation(void **state)
{
    (void)state;
    for (int k = 1; k <= 6; k++) {
        xy_memory_fail_at(k);
        for (int i = 1; i <= 6; i++) {
            void *p = i == 1   ? xy_malloc(8)
                      : i == 2 ? xy_calloc(1, 8)
                      : i == 3 ? xy_realloc(NULL, 8)
                      : i == 4 ? (void *)xy_strdup("x")
                      : i == 5 ? (void *)xy_sprintf("x")
                               : xy_realloc_array(NULL, 2, 4);

            assert_int_equal(p == NULL, i == k);
            assert_int_equal(xy_memory_fail_hit(), i >= k);
            xy_free(p);
        }
    }
    xy_memory_fail_at(0);
    assert_false(xy_memory_fail_hit());
}

static void *allocate_elsewhere(void *arg)
{
    (void)arg;
    return xy_malloc(8);
}

static void test_hook_is_of_one_thread(void **state)
{
    pthread_t thread;
    void *p;

    (void)state;
    xy_memory_fail_at(1);
    assert_int_equal(pthread_create(&thread, NULL, allocate_elsewhere, NULL), 0);
    assert_int_equal(pthread_join(thread, &p), 0);
    assert_non_null(p);
    xy_free(p);
    assert_null(xy_malloc(8));
    xy_memory_fail_at(0);
}

/* Objects of many sizes are zeroed, aligned, and do not overlap. */
static void fill_arena(uint64_t seed)
{
    enum { OBJECTS = 3000 };
    static unsigned char *objects[OBJECTS];
    static size_t sizes[OBJECTS];
    xy_arena_t *arena;
    char *copy;

    assert_int_equal(xy_arena_create(&arena), XY_OK);
    for (size_t i = 0; i < OBJECTS; i++) {
        sizes[i] = testing_random(&seed) % (i % 500 == 0 ? 2000000 : 200);
        objects[i] = xy_arena_alloc(arena, sizes[i]);
        assert_non_null(objects[i]);
        assert_int_equal((uintptr_t)objects[i] % 16, 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(objects[i][k], 0);
        memset(objects[i], (int)(i % 255) + 1, sizes[i]);
    }
    for (size_t i = 0; i < OBJECTS; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(objects[i][k], i % 255 + 1);
    copy = xy_arena_strndup(arena, "machine", 4);
    assert_string_equal(copy, "mach");
    assert_null(xy_arena_alloc(arena, SIZE_MAX));
    xy_arena_destroy(arena);
    xy_arena_destroy(NULL);
}

/* Twice: the second finds memory that the first has written to. */
static void test_arena(void **state)
{
    (void)state;
    fill_arena(4);
    fill_arena(5);
}

static void test_arena_without_memory(void **state)
{
    xy_arena_t *arena = NULL;

    (void)state;
    xy_memory_fail_at(1);
    assert_int_equal(xy_arena_create(&arena), XY_ENOMEM);
    assert_null(arena);
    assert_int_equal(xy_arena_create(&arena), XY_OK);
    xy_memory_fail_at(1);
    assert_null(xy_arena_alloc(arena, 8));
    assert_non_null(xy_arena_alloc(arena, 8));
    xy_memory_fail_at(0);
    xy_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocations),           cmocka_unit_test(test_failing_allocation),
        cmocka_unit_test(test_hook_is_of_one_thread), cmocka_unit_test(test_arena),
        cmocka_unit_test(test_arena_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
