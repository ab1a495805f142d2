/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include "base/table.h"

#include <string.h>

#include "testing/base.h"

typedef struct {
    const char *name, *describe;
    int value;
} entry_t;

static const entry_t heap = {"heap", "in place", 1}, quick = {"quick", "often fastest", 2};
static const entry_t *const entries[] = {&heap, &quick, NULL};
static const entry_t *const empty[] = {NULL};

static void test_entries(void **state)
{
    (void)state;
    assert_string_equal(xy_table_name(XY_TABLE(entries), 0), "heap");
    assert_string_equal(xy_table_describe(XY_TABLE(entries), 1), "often fastest");
    assert_null(xy_table_name(XY_TABLE(entries), 2));
    assert_null(xy_table_describe(XY_TABLE(entries), 2));
    assert_ptr_equal(xy_table_find(XY_TABLE(entries), "quick"), &quick);
    assert_null(xy_table_find(XY_TABLE(entries), "quic"));
    assert_null(xy_table_find(XY_TABLE(empty), "quick"));
}

static void test_messages(void **state)
{
    (void)state;
    testing_listen();
    assert_int_equal(xy_table_fail(XY_TABLE(entries), "sorter", "quikc"), XY_EUSAGE);
    assert_string_equal(testing_said, "unknown sorter 'quikc'; did you mean 'quick'?");
    assert_int_equal(xy_table_fail(XY_TABLE(entries), "sorter", "zebra"), XY_EUSAGE);
    assert_string_equal(testing_said, "unknown sorter 'zebra'; there are heap, quick");
    xy_error_handler_set(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_entries),
                                       cmocka_unit_test(test_messages)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
