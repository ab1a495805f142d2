/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of the clock against a heap, which has the same order for any keys. */
#include "sim/queue.h"
#include "testing/sim.h"

enum { ENTRIES = 20000 };

typedef struct {
    sim_queue_t queue;
    xy_heap_t heap;
    char values[ENTRIES]; /* their addresses are the values */
    int count;
    double last;
    uint64_t state;
} both_t;

static void push(both_t *b, double key)
{
    char *value = &b->values[b->count++];

    assert_true(b->count <= ENTRIES);
    assert_int_equal(xy_heap_push(&b->heap, key, value), XY_OK);
    assert_int_equal(sim_queue_push(&b->queue, key, value), XY_OK);
}

static bool pop(both_t *b)
{
    double key = 0, expected = 0;
    const void *value = xy_heap_pop(&b->heap, &expected);

    assert_ptr_equal(sim_queue_pop(&b->queue, &key), value);
    assert_int_equal(b->queue.count, b->heap.count);
    if (value == NULL)
        return false;
    assert_true(key == expected);
    b->last = key;
    return true;
}

/* From equal keys to those that differ in their last bit or in their exponent; some are before the
 * last one. */
static double draw_key(both_t *b)
{
    double now = b->last;

    switch (testing_random_below(&b->state, 8)) {
    case 0:
        return now;
    case 1:
        return now + (double)testing_random_below(&b->state, 4);
    case 2:
        return now + 1e-6 * (double)testing_random_below(&b->state, 1000);
    case 3:
        return nextafter(now, INFINITY);
    case 4:
        return now + ldexp(1, testing_random_below(&b->state, 80) - 60);
    case 5:
        return testing_random_below(&b->state, 20) > 0 ? now : now - 1e-3;
    default:
        return now + 1e-9 * (double)(testing_random(&b->state) % 100000);
    }
}

static void peek(const both_t *b)
{
    const xy_heap_item_t *first = xy_heap_peek(&b->heap);
    bool is_due = first != NULL && first->key <= b->last;
    double key = -1;

    assert_ptr_equal(sim_queue_peek(&b->queue, b->last, &key), is_due ? first->value : NULL);
    assert_true(!is_due || key == first->key);
}

static void cleanup(both_t *b)
{
    xy_heap_cleanup(&b->heap);
    sim_queue_cleanup(&b->queue);
}

static void test_like_a_heap(void **state)
{
    static both_t b;

    (void)state;
    for (int round = 0; round < 20; round++) {
        int more = 1 + round % 4;

        b = (both_t){.state = testing_seed() + (uint64_t)round + 1};
        while (b.count < ENTRIES / 2) {
            if (testing_random_below(&b.state, 5) < more)
                push(&b, draw_key(&b));
            else
                pop(&b);
            peek(&b);
        }
        while (pop(&b))
            peek(&b);
        cleanup(&b);
    }
}

/* -0 is 0, whichever came first. */
static void test_zeros(void **state)
{
    static both_t b;

    (void)state;
    b = (both_t){0};
    for (int i = 0; i < 100; i++)
        push(&b, i % 3 == 0 ? -0.0 : i % 3 == 1 ? 0.0 : -1.0);
    while (pop(&b))
        ;
    cleanup(&b);
}

static bool is_kept(const xy_heap_item_t *item)
{
    return item->key > 0 && *(const char *)item->value == 1;
}

static void test_filter(void **state)
{
    static both_t b;
    double key;
    char *value;

    (void)state;
    b = (both_t){.state = 7};
    for (int i = 0; i < ENTRIES / 4; i++) {
        push(&b, 1 + draw_key(&b));
        b.values[i] = (char)(i % 3);
    }
    for (int i = 0; i < 100; i++)
        pop(&b);
    sim_queue_filter(&b.queue, is_kept);
    while ((value = xy_heap_pop(&b.heap, NULL)) != NULL)
        if (*value == 1)
            assert_ptr_equal(sim_queue_pop(&b.queue, &key), value);
    assert_null(sim_queue_pop(&b.queue, &key));
    push(&b, b.last); /* it is as good as new */
    push(&b, 0.25);
    assert_true(pop(&b) && pop(&b) && !pop(&b));
    sim_queue_clear(&b.queue);
    push(&b, 0.125);
    assert_true(pop(&b) && !pop(&b) && b.queue.early.count == 0);
    cleanup(&b);
}

/* An entry of a list that is never popped is not given out again. */
static void test_memory(void **state)
{
    static both_t b;

    (void)state;
    b = (both_t){.state = 3};
    push(&b, 1e9);
    for (int i = 0; i < 1000; i++) {
        push(&b, 1 + i);
        pop(&b);
    }
    assert_true(b.queue.capacity <= 64);
    while (pop(&b))
        ;
    cleanup(&b);
}

static void test_failed_push_changes_nothing(void **state)
{
    static both_t b;
    int failures = 0;

    (void)state;
    b = (both_t){0};
    for (int i = 0; i < 200; i++) {
        xy_memory_fail_at(1);
        if (sim_queue_push(&b.queue, i % 2 == 0 ? 50 : -1, &b.values[i]) != XY_OK) {
            failures++;
            assert_int_equal(b.queue.count, i);
            xy_memory_fail_at(0);
            assert_int_equal(sim_queue_push(&b.queue, i % 2 == 0 ? 50 : -1, &b.values[i]), XY_OK);
        }
        xy_memory_fail_at(0);
        assert_int_equal(xy_heap_push(&b.heap, i % 2 == 0 ? 50 : -1, &b.values[i]), XY_OK);
    }
    assert_true(failures > 2);
    while (pop(&b))
        ;
    cleanup(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_a_heap),
        cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_failed_push_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
