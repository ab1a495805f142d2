/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>

#include "base/heap.h"
#include "base/memory.h"
#include "testing/base.h"

enum { ITEMS = 5000 };

typedef struct {
    double key;
    bool inside;
} item_t;

/* The first of the least keys, by looking at all. */
static item_t *find_first(item_t *items, size_t count)
{
    item_t *best = NULL;

    for (size_t i = 0; i < count; i++)
        if (items[i].inside && (best == NULL || items[i].key < best->key))
            best = &items[i];
    return best;
}

static void test_like_a_search(void **state)
{
    static item_t items[ITEMS];
    xy_heap_t h = XY_HEAP_INIT;
    size_t count = 0, inside = 0;
    uint64_t seed = 5;
    item_t *first;
    double key;

    (void)state;
    while (count < ITEMS || inside > 0) {
        if (count < ITEMS && testing_random(&seed) % 5 < 3) {
            /* Few different keys: ties are the interesting case. */
            items[count] = (item_t){.key = (double)(testing_random(&seed) % 50), .inside = true};
            assert_int_equal(xy_heap_push(&h, items[count].key, &items[count]), XY_OK);
            count++;
            inside++;
        } else {
            first = find_first(items, count);
            assert_ptr_equal(xy_heap_peek(&h) != NULL ? xy_heap_peek(&h)->value : NULL, first);
            assert_ptr_equal(xy_heap_pop(&h, &key), first);
            if (first == NULL)
                continue;
            assert_true(key == first->key);
            first->inside = false;
            inside--;
        }
        assert_int_equal(h.count, inside);
    }
    assert_null(xy_heap_pop(&h, NULL));
    assert_null(xy_heap_peek(&h));
    xy_heap_cleanup(&h);
}

static bool is_kept(const xy_heap_item_t *item)
{
    return ((const item_t *)item->value)->inside;
}

/* A filter leaves the order of the remaining elements unchanged. */
static void test_filter(void **state)
{
    static item_t items[ITEMS];
    xy_heap_t h = XY_HEAP_INIT;
    uint64_t seed = 9;
    item_t *first;
    size_t kept = 0;

    (void)state;
    for (size_t i = 0; i < ITEMS; i++) {
        items[i].key = (double)(testing_random(&seed) % 50);
        items[i].inside = testing_random(&seed) % 3 == 0;
        kept += items[i].inside;
        assert_int_equal(xy_heap_push(&h, items[i].key, &items[i]), XY_OK);
    }
    xy_heap_filter(&h, is_kept);
    assert_int_equal(h.count, kept);
    while ((first = find_first(items, ITEMS)) != NULL) {
        assert_ptr_equal(xy_heap_pop(&h, NULL), first);
        first->inside = false;
    }
    xy_heap_filter(&h, is_kept);
    assert_null(xy_heap_pop(&h, NULL));
    xy_heap_cleanup(&h);
}

static void test_failed_push_changes_nothing(void **state)
{
    xy_heap_t h = XY_HEAP_INIT;
    int values[100];
    int failures = 0;

    (void)state;
    for (int i = 0; i < 100; i++) {
        xy_memory_fail_at(1);
        if (xy_heap_push(&h, i, &values[i]) != XY_OK) {
            failures++;
            assert_int_equal(h.count, i);
            xy_memory_fail_at(0);
            assert_int_equal(xy_heap_push(&h, i, &values[i]), XY_OK);
        }
    }
    xy_memory_fail_at(0);
    assert_true(failures > 0);
    for (int i = 0; i < 100; i++)
        assert_ptr_equal(xy_heap_pop(&h, NULL), &values[i]);
    xy_heap_cleanup(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_a_search),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_failed_push_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
