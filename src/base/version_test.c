/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <xylem.h>

/* The text in the header is written by hand; the one in the library is made from the numbers. */
static void test_header_and_library_agree(void **state)
{
    (void)state;
    assert_string_equal(xylem_version(), XYLEM_VERSION);
}

static void test_compatibility(void **state)
{
    (void)state;
    assert_true(xylem_is_compatible(XYLEM_VERSION_MAJOR, XYLEM_VERSION_MINOR));
    assert_false(xylem_is_compatible(XYLEM_VERSION_MAJOR + 1, XYLEM_VERSION_MINOR));
    assert_false(xylem_is_compatible(XYLEM_VERSION_MAJOR, XYLEM_VERSION_MINOR + 1));
    assert_false(xylem_is_compatible(-1, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header_and_library_agree),
        cmocka_unit_test(test_compatibility),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
