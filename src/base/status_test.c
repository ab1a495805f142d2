/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "testing/base.h"

static void test_texts(void **state)
{
    (void)state;
    for (int i = 0; i < XY_STATUS_LAST; i++) {
        assert_string_not_equal(xy_status_text((xy_status_t)i), "unknown status");
        for (int k = 0; k < i; k++)
            assert_string_not_equal(xy_status_text((xy_status_t)i), xy_status_text((xy_status_t)k));
    }
    assert_string_equal(xy_status_text(XY_STATUS_LAST), "unknown status");
    assert_string_equal(xy_status_text((xy_status_t)-1), "unknown status");
}

static void test_exit_codes(void **state)
{
    (void)state;
    for (int i = 0; i < XY_STATUS_LAST; i++)
        assert_int_equal(xy_status_exit_code((xy_status_t)i), i == XY_OK             ? 0
                                                              : i == XY_EUSAGE       ? 2
                                                              : i == XY_EINTERRUPTED ? 130
                                                                                     : 1);
}

static void test_places(void **state)
{
    (void)state;
    testing_listen();
    assert_int_equal(xy_fail(XY_EIO, "a %d", 1), XY_EIO);
    assert_string_equal(testing_said, "a 1");
    assert_int_equal(xy_fail_at(XY_EPARSE, "f", 12, "b"), XY_EPARSE);
    assert_string_equal(testing_said, "f:12: b");
    assert_int_equal(xy_fail_at(XY_EPARSE, "f", 0, "b"), XY_EPARSE);
    assert_string_equal(testing_said, "f: b");
    xy_warn("odd");
    assert_string_equal(testing_said, "warning: odd");
    assert_int_equal(testing_said_count, 4);
}

static void test_errno(void **state)
{
    (void)state;
    testing_listen();
    assert_int_equal(xy_fail_errno(ENOENT, "f", "open"), XY_ENOENT);
    assert_int_equal(xy_fail_errno(EACCES, "f", "open"), XY_EACCES);
    assert_int_equal(xy_fail_errno(EPERM, "f", "open"), XY_EACCES);
    assert_int_equal(xy_fail_errno(ENOMEM, "f", "open"), XY_ENOMEM);
    assert_int_equal(xy_fail_errno(ENOSPC, "f", "write"), XY_EIO);
    assert_string_equal(testing_said, "f: cannot write: No space left on device; free some space");
}

/* File names and input may hold anything; a message stays one line that harms no terminal. */
static void test_one_line(void **state)
{
    char longest[10000];

    (void)state;
    testing_listen();
    xy_fail(XY_EIO, "%s", "a\nb\x1b[31m\x7f");
    assert_string_equal(testing_said, "a?b?[31m?");
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    xy_fail_at(XY_EIO, longest, 1, "%s", longest);
    assert_int_equal(testing_said_count, 2);
    assert_true(strlen(testing_said) < 2048);
}

static void test_default_goes_to_standard_error(void **state)
{
    int fds[2], saved = dup(STDERR_FILENO);
    char text[128];
    ssize_t n;

    (void)state;
    assert_int_equal(pipe(fds), 0);
    xy_error_handler_set(NULL, NULL);
    assert_true(dup2(fds[1], STDERR_FILENO) >= 0);
    xy_fail(XY_EIO, "first");
    xy_error_program_set("mpiexec");
    xy_fail(XY_EIO, "second");
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    xy_error_program_set("xylem");
    n = read(fds[0], text, sizeof(text) - 1);
    assert_true(n > 0);
    text[n] = '\0';
    assert_string_equal(text, "xylem: first\nmpiexec: second\n");
    close(fds[0]);
    close(fds[1]);
    close(saved);
}

/* Print a warning and an error to a terminal, and return its text. */
static void print_to_terminal(char *text, size_t size)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY), other, saved = dup(STDERR_FILENO);
    ssize_t n;

    assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    assert_true(other >= 0);
    dup2(other, STDERR_FILENO);
    xy_warn("one");
    xy_fail(XY_EINVAL, "two");
    dup2(saved, STDERR_FILENO);
    n = read(terminal, text, size - 1);
    assert_true(n > 0);
    text[n] = '\0';
    close(other);
    close(terminal);
    close(saved);
}

static void test_colours(void **state)
{
    char text[256];

    (void)state;
    xy_error_handler_set(NULL, NULL);
    xy_error_program_set("test");
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    print_to_terminal(text, sizeof(text));
    assert_non_null(strstr(text, "\033[1mtest:\033[0m \033[1;35mwarning:\033[0m one"));
    setenv("NO_COLOR", "1", 1);
    print_to_terminal(text, sizeof(text));
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "test: warning: one"));
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    print_to_terminal(text, sizeof(text));
    assert_null(strchr(text, '\033'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),    cmocka_unit_test(test_exit_codes),
        cmocka_unit_test(test_places),   cmocka_unit_test(test_errno),
        cmocka_unit_test(test_one_line), cmocka_unit_test(test_default_goes_to_standard_error),
        cmocka_unit_test(test_colours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
