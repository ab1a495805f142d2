/* SPDX-License-Identifier: BSD-3-Clause */
/* Seeds: tests/data/seeds.txt has texts and their hashes; tests/seeds.sh checks the same table for
 * the tests in shell and in Python. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "testing/base.h"

static void test_hash(void **state)
{
    FILE *file = fopen(XYLEM_SOURCE_DIR "/tests/data/seeds.txt", "r");
    char line[200];
    int count = 0;

    (void)state;
    assert_non_null(file);
    for (; fgets(line, sizeof(line), file) != NULL; count++) {
        char *text;
        uint64_t expected = strtoull(line, &text, 10);

        text[strcspn(text, "\n")] = '\0';
        if (testing_hash(text + 1) != expected)
            fail_msg("'%s': %" PRIu64 ", expected %" PRIu64, text + 1, testing_hash(text + 1),
                     expected);
    }
    fclose(file);
    assert_true(count > 5);
}

/* Every text is a seed of its own: also one that starts with letters, as half of all commits do. */
static void test_seed(void **state)
{
    uint64_t usual, other;

    (void)state;
    unsetenv("XYLEM_SEED");
    usual = testing_seed();
    setenv("XYLEM_SEED", "a1b2", 1);
    other = testing_seed();
    assert_int_not_equal(usual, other);
    setenv("XYLEM_SEED", "b1b2", 1);
    assert_int_not_equal(testing_seed(), other);
    setenv("XYLEM_SEED", "", 1);
    assert_int_equal(testing_seed(), usual);
}

static void test_sample(void **state)
{
    int chosen = 0;

    (void)state;
    unsetenv("XYLEM_SOAK");
    setenv("XYLEM_SEED", "other", 1);
    for (unsigned n = 0; n < 12; n++)
        chosen += testing_is_chosen(n, 3);
    assert_int_equal(chosen, 4);
    setenv("XYLEM_SOAK", "1", 1);
    for (unsigned n = 0; n < 12; n++)
        assert_true(testing_is_chosen(n, 3));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_seed),
        cmocka_unit_test(test_sample),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
