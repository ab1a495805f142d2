/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines for the user: the name of the runtime in front, whole, with one write. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "process/ops/ops.h"

enum { ROOM = 4096 };

/* Print a line of `length` letters with process_say, and read it back; its length. */
static size_t say(const char *name, size_t length, char line[ROOM])
{
    char text[ROOM] = "";
    int ends[2], error = dup(STDERR_FILENO);
    ssize_t n;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    memset(text, 'x', length);
    process_runtime.name = name;
    dup2(ends[1], STDERR_FILENO);
    process_say("%s", text);
    dup2(error, STDERR_FILENO);
    n = read(ends[0], line, ROOM - 1);
    assert_true(n > 0);
    line[n] = '\0';
    close(ends[0]);
    close(ends[1]);
    close(error);
    return (size_t)n;
}

/* A line that fits is printed as it is, and a longer one is cut; both end with a newline. */
static void test_lines(void **state)
{
    char line[ROOM];

    (void)state;
    for (size_t length = 0; length < 2000; length += 7) {
        size_t whole = strlen("many: ") + length + 1, n = say("many", length, line);

        assert_int_equal(n, whole < 1024 ? whole : 1024 - 1);
        assert_memory_equal(line, "many: ", strlen("many: "));
        assert_int_equal(strchr(line, '\n') - line, (long)n - 1);
    }
}

/* A table that was never set stands for the C library's own behaviour. */
static void test_unset(void **state)
{
    (void)state;
    assert_non_null(process_runtime.name);
    assert_string_equal(process_runtime.noun, "process");
    assert_false(atomic_load(process_runtime.watches));
    assert_null(process_runtime.clock);
    XY_RUNTIME_CALL(forget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unset), cmocka_unit_test(test_lines)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
