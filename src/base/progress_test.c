/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/progress.h"

/* Standard error goes to `fd` while `work` runs. */
static void with_stderr(int fd, void (*work)(void))
{
    int saved = dup(STDERR_FILENO);

    assert_true(saved >= 0 && dup2(fd, STDERR_FILENO) >= 0);
    work();
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
}

static void work_short(void)
{
    xy_progress_t bar;

    xy_progress_start(&bar, "working", 10);
    for (int i = 0; i < 10; i++)
        xy_progress_step(&bar, 1);
    xy_progress_stop(&bar);
}

/* Longer than a second, without waiting for it: the start is moved into the past. */
static void work_long(void)
{
    xy_progress_t bar;

    xy_progress_start(&bar, "working", 10);
    bar.started -= 5;
    xy_progress_step(&bar, 5);
    xy_progress_step(&bar, 1);
    xy_progress_step(&bar, 100);
    xy_progress_stop(&bar);
    xy_progress_step(&bar, 1);
}

/* The output that a terminal would show. */
static char *on_terminal(void (*work)(void))
{
    static char text[4096];
    int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
    size_t used = 0;
    ssize_t n;

    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    with_stderr(slave, work);
    /* Output may arrive late and in parts: read up to a mark. */
    assert_int_equal(write(slave, "\001", 1), 1);
    while (used == 0 || text[used - 1] != '\001') {
        n = read(master, text + used, sizeof(text) - 1 - used);
        assert_true(n > 0);
        used += (size_t)n;
    }
    text[used - 1] = '\0';
    close(slave);
    close(master);
    return text;
}

static void test_silent_without_terminal(void **state)
{
    int fds[2];
    char c;

    (void)state;
    assert_int_equal(pipe(fds), 0);
    with_stderr(fds[1], work_long);
    close(fds[1]);
    assert_int_equal(read(fds[0], &c, 1), 0);
    close(fds[0]);
}

static void test_terminal(void **state)
{
    const char *text;

    (void)state;
    setenv("TERM", "xterm", 1);
    assert_string_equal(on_terminal(work_short), "");
    text = on_terminal(work_long);
    assert_non_null(strstr(text, "\rworking [###############...............]  50% "));
    assert_non_null(strstr(text, " s left "));
    /* All steps are done, but the work continues. */
    assert_null(strstr(text, "100%"));
    /* It is gone at the end. */
    assert_string_equal(text + strlen(text) - 4, "\r\033[K");
    setenv("TERM", "dumb", 1);
    assert_string_equal(on_terminal(work_long), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silent_without_terminal),
        cmocka_unit_test(test_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
