/* SPDX-License-Identifier: BSD-3-Clause */
/* Spans of memory against a look at all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include <string.h>

#include "base/base.h"
#include "mpi/check/span.h"
#include "testing/base.h"

enum { SPANS = 400, ROOM = 3000 };

static check_span_t spans[SPANS];
static bool is_in[SPANS], is_met[SPANS];
static const char memory[ROOM + 100];

static bool note(check_span_t *span, void *argument)
{
    const char **last = argument;

    assert_true(span->low >= *last);
    *last = span->low;
    assert_false(is_met[span - spans]);
    is_met[span - spans] = true;
    return true;
}

static void compare(check_spans_t tree, const char *low, const char *high)
{
    const char *last = memory;

    memset(is_met, 0, sizeof(is_met));
    assert_true(check_spans_each(tree, low, high, note, &last));
    for (int i = 0; i < SPANS; i++)
        assert_int_equal(is_met[i], is_in[i] && spans[i].low < high && spans[i].high > low);
}

static int depth(const check_span_t *s)
{
    int left, right;

    if (s == NULL)
        return 0;
    left = depth(s->left);
    right = depth(s->right);
    return 1 + (left > right ? left : right);
}

/* Random spans, added and removed: each search finds what a look at all of them finds. */
static void test_random(void **unused)
{
    uint64_t state = testing_seed();
    check_spans_t tree = NULL;

    (void)unused;
    for (int turn = 0; turn < 6000; turn++) {
        int i = (int)(xy_random(&state) % SPANS);
        uint64_t length = 1 + xy_random(&state) % (turn % 7 == 0 ? 90 : 9);

        if (is_in[i]) {
            check_spans_remove(&tree, &spans[i]);
        } else {
            spans[i].low = memory + xy_random(&state) % ROOM;
            spans[i].high = spans[i].low + length;
            check_spans_add(&tree, &spans[i]);
        }
        is_in[i] = !is_in[i];
        compare(tree, spans[i].low, spans[i].high);
    }
    for (int i = 0; i < SPANS; i++)
        if (is_in[i])
            check_spans_remove(&tree, &spans[i]);
    assert_null(tree);
}

static bool stop(check_span_t *span, void *argument)
{
    (void)span;
    ++*(int *)argument;
    return false;
}

/* Neighbours in rising order, as puts of a loop are. */
static void test_sorted(void **unused)
{
    check_spans_t tree = NULL;
    int calls = 0;

    (void)unused;
    for (int i = 0; i < SPANS; i++) {
        spans[i] =
            (check_span_t){.low = memory + (ptrdiff_t)4 * i, .high = memory + (ptrdiff_t)4 * i + 4};
        check_spans_add(&tree, &spans[i]);
    }
    assert_true(depth(tree) <= 8 * 9); /* the logarithm of SPANS is less than 9 */
    assert_false(check_spans_each(tree, memory, memory + ROOM, stop, &calls));
    assert_int_equal(calls, 1);
    assert_true(check_spans_each(tree, memory + (ptrdiff_t)4 * SPANS, memory + ROOM, stop, &calls));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_sorted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
