/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment of a process against the C library's, on random sequences of changes; and two
 * processes, which share no change. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/libc/process_state.h"
#include "testing/base.h"

enum { NAMES = 6, STEPS = 2000 };

static const char *const names[NAMES] = {"A", "AB", "ABC", "B", "BA", "LONG_NAME"};

/* A process with nothing but an environment. */
typedef struct {
    process_t process;
    char **list;
} one_t;

static void begin(one_t *one, char *const *environment)
{
    memset(one, 0, sizeof(*one));
    one->process.variables[PROCESS_VARIABLE_ENVIRON] = &one->list;
    assert_int_equal(process_environment_init(&one->process, environment), XY_OK);
}

static const char *get(one_t *one, const char *name)
{
    return process_environment_get(&one->process, name, strlen(name));
}

/* Both have the same variables. */
static void compare(one_t *one)
{
    for (int i = 0; i < NAMES; i++) {
        const char *expected = getenv(names[i]), *found = get(one, names[i]);

        assert_true((expected == NULL) == (found == NULL));
        if (expected != NULL)
            assert_string_equal(found, expected);
    }
}

static void test_as_the_c_library(void **state)
{
    static char entries[STEPS][64];
    char *empty[] = {NULL};
    one_t one;

    (void)state;
    begin(&one, empty);
    for (int i = 0; i < NAMES; i++)
        unsetenv(names[i]);
    for (int step = 0; step < STEPS; step++) {
        const char *name = names[testing_below(NAMES)];

        if (testing_below(3) == 0) {
            unsetenv(name);
            process_environment_remove(&one.process, name, strlen(name));
        } else {
            snprintf(entries[step], sizeof(entries[step]), "%s=value %d", name, step);
            setenv(name, entries[step] + strlen(name) + 1, 1);
            assert_int_equal(process_environment_put(&one.process, entries[step], strlen(name)), 0);
        }
        compare(&one);
    }
    xy_free(one.process.environment);
}

static void test_two_processes(void **state)
{
    char common[] = "A=common", own[] = "A=own";
    char *environment[] = {common, NULL};
    one_t first, second;

    (void)state;
    begin(&first, environment);
    begin(&second, environment);
    assert_int_equal(process_environment_put(&first.process, own, 1), 0);
    assert_string_equal(get(&first, "A"), "own");
    assert_string_equal(get(&second, "A"), "common");
    process_environment_remove(&second.process, "A", 1);
    assert_string_equal(get(&first, "A"), "own");
    assert_null(get(&second, "A"));
    xy_free(first.process.environment);
    xy_free(second.process.environment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_the_c_library),
                                       cmocka_unit_test(test_two_processes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
